package import KVJSON

/// The access list of a substream: who may subscribe and publish. The owner may do everything.
package struct LiveStreamACL: Sendable {
  /// Longer lists are refused.
  package static let maxUsers = 1000
  /// With members that are only kept: those who list streams read all of them.
  private static let maxBytes = 64 << 10

  package private(set) var subscribers: [String] = []
  package private(set) var publishers: [String] = []
  /// Kept and not acted on: streams are opened to users alone.
  private var groups: JSONValue?

  package init() {}

  package init(_ object: JSONObject, isStored: Bool = false) throws(ServerError) {
    if !isStored, JSONValue.object(object).bytes.count > Self.maxBytes {
      throw Self.invalid("the ACL must have at most \(Self.maxBytes) bytes")
    }
    for member in object.members {
      switch member.name {
      case "subscribe": subscribers = try Self.ids(member)
      case "publish": publishers = try Self.ids(member)
      case "groups" where member.value.isNull: break
      case "groups":
        guard member.value.objectValue != nil else {
          throw Self.invalid("groups must be an object")
        }
        groups = member.value
      default: break
      }
    }
  }

  /// Reads what a store has kept.
  package init(stored text: String) throws(ServerError) {
    guard let object = try? JSONValue(parsing: text).objectValue else {
      throw ServerError(.internalErrorStop, cause: "the ACL of a stream is not JSON")
    }
    try self.init(object, isStored: true)
  }

  package var json: JSONValue {
    var object: JSONObject = [
      "subscribe": .array(subscribers.map { .string($0) }),
      "publish": .array(publishers.map { .string($0) }),
    ]
    if let groups { object["groups"] = groups }
    return .object(object)
  }

  package func maySubscribe(_ user: String, to stream: LiveStream) -> Bool {
    Self.contains([stream.owner] + subscribers, user)
  }

  package func mayPublish(_ user: String, to stream: LiveStream) -> Bool {
    Self.contains([stream.owner] + publishers, user)
  }

  /// The users who may receive what is sent now.
  package func audience(of stream: LiveStream) -> Audience {
    var acl = ACL()
    acl.creator = stream.owner
    acl.readers = subscribers
    return Audience(.acl, acl)
  }

  /// Ids are compared byte by byte, as the database does.
  private static func contains(_ ids: [String], _ user: String) -> Bool {
    ids.contains { $0.utf8.elementsEqual(user.utf8) }
  }

  private static func ids(_ member: JSONObject.Member) throws(ServerError) -> [String] {
    if member.value.isNull { return [] }
    let ids = member.value.arrayValue?.compactMap(\.stringValue)
    guard let ids, ids.count == member.value.arrayValue?.count, ids.count <= maxUsers else {
      throw invalid("\(member.name) must be an array of at most \(maxUsers) user ids")
    }
    return ids
  }

  private static func invalid(_ text: String) -> ServerError {
    ServerError(.inputValidationFailed, text)
  }
}
