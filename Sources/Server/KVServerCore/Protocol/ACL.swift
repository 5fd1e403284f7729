internal import KVJSON

/// The access list of one entity: its `_acl`.
package struct ACL: Sendable, Equatable {
  /// A longer list is refused: everyone whose reads meet the entity pays for it.
  package static let maxNames = 1000
  /// The bytes that a list, with members that are only kept, may have as JSON.
  package static let maxBytes = 64 << 10

  package var creator = ""
  /// Whether everybody may read; nil if the entity does not say.
  package var everybodyReads: Bool?
  package var everybodyWrites: Bool?
  package var readers: [String] = []
  package var writers: [String] = []
  /// The groups whose members may read, and write.
  package private(set) var groupReaders: [String] = []
  package private(set) var groupWriters: [String] = []
  /// Members that are kept as they came: `groups`, and what this server does not act on, such as `roles`.
  private var others: [JSONObject.Member] = []

  package init() {}

  /// Reads what a client sent. The creator in it counts only for those who may name one.
  /// `isStored`: what an older version has let through is no error.
  package init(parsing bytes: UnsafeRawBufferPointer, isStored: Bool = false) throws(ServerError) {
    if !isStored, bytes.count > Self.maxBytes {
      throw Self.invalid("_acl must have at most \(Self.maxBytes) bytes")
    }
    let value: JSONValue
    do { value = try JSONValue(parsing: bytes) } catch {
      throw ServerError(.inputValidationFailed, "_acl: \(error.message)")
    }
    guard let object = value.objectValue else { throw Self.invalid("_acl must be an object") }
    for member in object.members {
      switch member.name {
      case "creator":
        guard let id = member.value.stringValue else { throw Self.invalid("_acl.creator: text") }
        creator = id
      case "gr": everybodyReads = try Self.flag(member)
      case "gw": everybodyWrites = try Self.flag(member)
      case "r": readers = try Self.ids(member)
      case "w": writers = try Self.ids(member)
      case "groups":
        do throws(ServerError) { (groupReaders, groupWriters) = try Self.groups(member) } catch {
          if !isStored { throw error }
        }
        others.append(member)
      default: others.append(member)
      }
    }
    let count = [readers, writers, groupReaders, groupWriters].reduce(0) { $0 + $1.count }
    if !isStored, count > Self.maxNames {
      throw Self.invalid("_acl must name at most \(Self.maxNames) users and groups")
    }
  }

  /// The `_acl` of a stored entity, which was checked when it was stored.
  package init(of entity: [UInt8]) {
    self.init()
    let stored = try? entity.withUnsafeBytes { bytes -> ACL? in
      guard let range = try EntityScanner.outline(of: bytes).permissions else { return nil }
      return try ACL(parsing: UnsafeRawBufferPointer(rebasing: bytes[range]), isStored: true)
    }
    if let stored { self = stored }
  }

  /// The list as JSON, with its members always in one order.
  package var json: [UInt8] {
    var object: JSONObject = ["creator": .string(creator)]
    if let everybodyReads { object["gr"] = .bool(everybodyReads) }
    if let everybodyWrites { object["gw"] = .bool(everybodyWrites) }
    if !readers.isEmpty { object["r"] = .array(readers.map { .string($0) }) }
    if !writers.isEmpty { object["w"] = .array(writers.map { .string($0) }) }
    object.members += others
    return JSONValue.object(object).bytes
  }

  /// Ids as a JSON array, as the database wants lists.
  package static func list(_ ids: [String]) -> String {
    JSONValue.array(ids.map { .string($0) }).text
  }

  private static func flag(_ member: JSONObject.Member) throws(ServerError) -> Bool? {
    if member.value.isNull { return nil }
    guard let flag = member.value.boolValue else {
      throw invalid("_acl.\(member.name) must be a boolean")
    }
    return flag
  }

  private static func groups(
    _ member: JSONObject.Member
  ) throws(ServerError) -> (readers: [String], writers: [String]) {
    if member.value.isNull { return ([], []) }
    guard let groups = member.value.objectValue else {
      throw invalid("_acl.groups must be an object")
    }
    var found: (readers: [String], writers: [String]) = ([], [])
    for list in groups.members {
      switch list.name {
      case "r": found.readers = try ids(list, of: "_acl.groups")
      case "w": found.writers = try ids(list, of: "_acl.groups")
      default: break
      }
    }
    return found
  }

  private static func ids(
    _ member: JSONObject.Member, of object: String = "_acl"
  ) throws(ServerError) -> [String] {
    if member.value.isNull { return [] }
    let ids = member.value.arrayValue?.compactMap(\.stringValue)
    guard let ids, ids.count == member.value.arrayValue?.count else {
      throw invalid("\(object).\(member.name) must be an array of ids")
    }
    return ids
  }

  private static func invalid(_ text: String) -> ServerError {
    ServerError(.inputValidationFailed, text)
  }
}
