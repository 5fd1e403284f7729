internal import KVBase
internal import KVJSON

/// What a committed write did to one entity.
struct LiveChange: Sendable {
  enum What: Sendable {
    case create(body: [UInt8])
    case update(body: [UInt8])
    case delete(at: Timestamp)

    var name: String {
      switch self {
      case .create: "create"
      case .update: "update"
      case .delete: "delete"
      }
    }
  }

  let id: String
  let what: What
  /// Who may read it, with the members of groups among the users; of what was deleted, who could.
  let acl: ACL

  init(id: String, _ what: What, acl: ACL) {
    self.id = id
    self.what = what
    self.acl = acl
  }

}

/// The changes that one transaction makes to one collection, collected while it runs.
struct LiveChanges: Sendable {
  /// How many changes of one transaction are kept: no more than any history keeps.
  static let maxCount = LiveHistory.maxMessages

  /// Who may read the collection besides those whom its entities name.
  let rule: Permissions.Rule
  private(set) var list: [LiveChange] = []
  /// Whether there were more than can be published.
  private(set) var isCut = false

  init(rule: Permissions.Rule) { self.rule = rule }

  /// Whether no other change can be kept: then `cut` says that there was one.
  var isFull: Bool { list.count >= Self.maxCount }

  mutating func cut() { isCut = true }

  mutating func add(_ change: LiveChange) {
    if isFull { cut() } else { list.append(change) }
  }
}

/// The users who may read an entity, or hear a message.
struct Audience: Sendable {
  private let rule: Permissions.Rule
  private let acl: ACL

  init(_ rule: Permissions.Rule, _ acl: ACL) {
    self.rule = rule
    self.acl = acl
  }

  /// The form that the journal stores.
  var json: JSONValue {
    let list = (try? JSONValue(parsing: acl.json)) ?? .object(JSONObject())
    return ["rule": .string(rule.rawValue), "acl": list]
  }

  /// Reads what `json` gives; nil for anything else.
  init?(json: JSONValue) {
    guard let rule = json["rule"]?.stringValue.flatMap(Permissions.Rule.init),
      let bytes = json["acl"]?.bytes,
      let acl = try? bytes.withUnsafeBytes({ try ACL(parsing: $0, isStored: true) })
    else { return nil }
    self.init(rule, acl)
  }

  /// Everybody who may read the collection at all.
  var isEverybody: Bool {
    let isOpen = acl.everybodyReads == true || acl.everybodyWrites == true
    return switch rule {
    case .always: true
    case .never, .creator: false
    case .acl: isOpen
    case .shared: isOpen || acl.everybodyReads == nil
    }
  }

  /// Ids are compared byte by byte, as the database does.
  func contains(_ user: String) -> Bool {
    if isEverybody { return true }
    let isCreator = user.utf8.elementsEqual(acl.creator.utf8)
    return switch rule {
    case .always: true
    case .never: false
    case .creator: isCreator
    case .acl, .shared:
      isCreator || (acl.readers + acl.writers).contains { $0.utf8.elementsEqual(user.utf8) }
    }
  }
}
