package import KVBase

/// How far back the changes of a collection are known to a caller who asks for those since a moment.
package struct KnownHistory: Sendable {
  /// The earliest moment from which on all of them are known; nil: the collection keeps no history.
  private let start: Timestamp?
  /// When the caller's rights changed last by joining or leaving a group: since then the caller may read other entities, although
  /// these have not changed. Nil: the caller is no user.
  private let rightsSince: Timestamp?

  package init(from start: Timestamp?, rightsSince: Timestamp?) {
    self.start = start
    self.rightsSince = rightsSince
  }

  /// Throws unless all changes since a moment are known. `isOfRead`: whether a read of this data can have had that time.
  package func check(_ since: Timestamp, isOfRead: Bool) throws(ServerError) {
    guard let start else {
      throw ServerError(.missingConfiguration, "the collection keeps no history")
    }
    guard since >= start else {
      throw ServerError(.parameterValueOutOfRange, "the history starts at \(start)")
    }
    if let rightsSince, rightsSince > since {
      throw ServerError(.parameterValueOutOfRange, "the user has joined or left a group since")
    }
    guard isOfRead else {
      throw ServerError(
        .parameterValueOutOfRange, "since is not the time of a former read of this data: \(since)")
    }
  }

  /// The moment from which on a history of so many days is known. `began`: since when it is kept; nil: that of a collection which
  /// does not exist yet. `ruleSince`: since when the read rule is what it is, as a change of it concerns every entity.
  package static func start(
    days: Int, began: Timestamp? = nil, ruleSince: Timestamp? = nil
  ) -> Timestamp {
    let oldest = Timestamp(milliseconds: Timestamp.now().milliseconds - Int64(days) * 86_400_000)
    return [began, ruleSince].compactMap { $0 }.reduce(oldest, max)
  }

  /// Throws if there are more changes than an answer may hold. `count`: of all ids that it names; `bytes`: of the entities in it.
  package static func checkSize(count: Int, bytes: Int) throws(ServerError) {
    guard count <= EntityList.maxEntities, bytes <= EntityList.maxBytes else { throw tooMany }
  }

  private static let tooMany = ServerError(
    .resultSetSizeExceeded,
    "more than \(EntityList.maxEntities) changes; read everything instead")
}
