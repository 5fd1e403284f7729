internal import KVJSON

/// The users and groups that an entity is shared with: see `DataStore.share`. Writers may read as well.
///
///     var friends = Sharing(readers: ["bob"], writers: ["cy"])
///     friends.readerGroups = ["team"]
///     try await people.share(id: "ann", with: friends)
///     try await people.unshare(id: "ann", from: .everybodyReads)
public struct Sharing: Sendable, Equatable {
  /// The ids of the users who may read.
  public var readers: [String]
  /// The ids of the users who may read and write.
  public var writers: [String]
  /// The ids of the groups whose members may read.
  public var readerGroups: [String] = []
  /// The ids of the groups whose members may read and write.
  public var writerGroups: [String] = []
  /// Whether all users may read.
  public var includesEverybodyAsReader = false
  /// Whether all users may read and write.
  public var includesEverybodyAsWriter = false

  /// Creates the rights of these users.
  public init(readers: [String] = [], writers: [String] = []) {
    self.readers = readers
    self.writers = writers
  }

  /// All users may read.
  public static var everybodyReads: Sharing {
    var sharing = Sharing()
    sharing.includesEverybodyAsReader = true
    return sharing
  }

  /// The rights in the form of an access list.
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
