internal import KVBase
internal import KVJSON

/// One user's part of a stream, to which others may send and listen: a substream.
struct LiveStream: Sendable, Equatable {
  let name: String
  let owner: String

  /// The topic that subscriptions know it by. Collections do not start with an underscore.
  var topic: String { "_s-\(name).u-\(owner)" }

  func channel(in app: String) -> String { "\(app).\(topic.dropFirst())" }

  init(_ name: String, of owner: String) {
    self.name = name
    self.owner = owner
  }

  /// nil: it is not the channel of a stream of this app. A name has no dot, so that there is one reading.
  init?(channel: String, in app: String) {
    guard let rest = channel.dropping(prefix: "\(app).s-"),
      let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")),
      let owner = rest[dot...].dropping(prefix: ".u-")
    else { return nil }
    self.init(String(rest[..<dot]), of: String(owner))
    guard Self.isName(name), !owner.isEmpty else { return nil }
  }

  static func isName(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= 128
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }
}

/// The access list of a substream: who may subscribe and publish. The owner may do everything.
struct LiveStreamACL: Sendable {
  /// Longer lists are refused.
  static let maxUsers = 1000

  private(set) var subscribers: [String] = []
  private(set) var publishers: [String] = []
  /// Kept and not acted on: `kvstored` knows no groups of users.
  private var groups: JSONValue?

  init() {}

  init(_ object: JSONObject) throws(ServerError) {
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

  var json: JSONValue {
    var object: JSONObject = [
      "subscribe": .array(subscribers.map { .string($0) }),
      "publish": .array(publishers.map { .string($0) }),
    ]
    if let groups { object["groups"] = groups }
    return .object(object)
  }

  func maySubscribe(_ user: String, to stream: LiveStream) -> Bool {
    Self.contains([stream.owner] + subscribers, user)
  }

  func mayPublish(_ user: String, to stream: LiveStream) -> Bool {
    Self.contains([stream.owner] + publishers, user)
  }

  /// The users who may receive what is sent now.
  func audience(of stream: LiveStream) -> Audience {
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
