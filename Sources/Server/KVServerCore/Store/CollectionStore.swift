package import KVBase

/// What the administrator has set for collections.
package protocol CollectionStore: Sendable {
  /// The collections of an app that clients can name, in the order of the names' bytes, with what is in them. Reads all
  /// rows.
  func list(app: Int64, within budget: WorkBudget) throws(ServerError) -> [CollectionSummary]

  /// How many of them there are.
  func count(app: Int64) throws(ServerError) -> Int

  func exists(_ collection: CollectionKey) throws(ServerError) -> Bool

  /// Gives a collection another name, with its entities, settings and indexes. A collection of that name that has no entities
  /// takes the old name, with the same settings, or one is made: so rules hold for who goes on to use the old name. Under
  /// both names no change from before is known any more, so that clients read everything. Throws `.collectionNotFound`, and
  /// `.inputValidationFailed` if there are entities under the new name.
  func rename(_ collection: CollectionKey, to name: String) throws(ServerError)

  /// The permissions of the collection; the defaults where nothing is set.
  func permissions(of collection: CollectionKey) throws(ServerError) -> Permissions

  /// Sets who may do what; nil: what is the default. The collection is made if there is none.
  func set(_ permissions: Permissions?, of collection: CollectionKey) throws(ServerError)

  /// Since when deletions are known, and for how many days they are kept; nil: they are not.
  func history(
    of collection: CollectionKey
  ) throws(ServerError) -> (since: Timestamp, days: Int)?

  /// The earliest moment from which on all changes are known; nil without a history. A collection that does not exist
  /// yet has one if it will have one.
  func historyStart(of collection: CollectionKey) throws(ServerError) -> Timestamp?

  /// Sets for how many days deletions are kept: nil as the server's default says, 0 not at all. The collection is made
  /// if there is none.
  func set(historyDays: Int?, of collection: CollectionKey) throws(ServerError)
}

/// What is in a collection.
package struct CollectionSummary: Sendable, Equatable {
  package var name: String
  package var count: Int
  /// How many bytes its entities have, as JSON.
  package var bytes: Int

  package init(name: String, count: Int, bytes: Int) {
    self.name = name
    self.count = count
    self.bytes = bytes
  }
}

/// How long histories are kept: the protocol's bound and its default.
package enum HistoryDays {
  package static let max = 30
  package static let usual = 15
}

extension ServerError {
  /// What `rename` throws where there are entities under the new name.
  package static func isInUse(_ name: String) -> ServerError {
    ServerError(.inputValidationFailed, "the collection \(name) has entities")
  }
}
