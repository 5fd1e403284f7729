internal import KVJSON

/// Whom an entity is shared with: see `DataStore.share`. Writers may read as well.
///
///     var friends = Sharing(readers: ["bob"], writers: ["cy"])
///     friends.readerGroups = ["team"]
///     try await people.share(id: "ann", with: friends)
///     try await people.unshare(id: "ann", from: .everybodyReads)
public struct Sharing: Sendable, Equatable {
  /// Ids of users.
  public var readers: [String]
  public var writers: [String]
  /// Ids of groups of users.
  public var readerGroups: [String] = []
  public var writerGroups: [String] = []
  /// All users.
  public var includesEverybodyAsReader = false
  public var includesEverybodyAsWriter = false

  public init(readers: [String] = [], writers: [String] = []) {
    self.readers = readers
    self.writers = writers
  }

  /// Everybody may read.
  public static var everybodyReads: Sharing {
    var sharing = Sharing()
    sharing.includesEverybodyAsReader = true
    return sharing
  }

  /// As an access list says it.
  var acl: JSONObject {
    func ids(_ ids: [String]) -> JSONValue { .array(ids.map { .string($0) }) }
    var acl: JSONObject = [
      "r": ids(readers), "w": ids(writers),
      "groups": ["r": ids(readerGroups), "w": ids(writerGroups)],
    ]
    if includesEverybodyAsReader { acl["gr"] = true }
    if includesEverybodyAsWriter { acl["gw"] = true }
    return acl
  }
}
