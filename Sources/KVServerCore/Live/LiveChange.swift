package import KVBase
package import KVJSON

/// What a committed write did to one entity.
package struct LiveChange: Sendable {
  package enum What: Sendable {
    case create(body: [UInt8])
    case update(body: [UInt8])
    case delete(at: Timestamp)

    package var name: String {
      switch self {
      case .create: "create"
      case .update: "update"
      case .delete: "delete"
      }
    }
  }

  package let id: String
  package let what: What
  /// The users that may read it, with the members of groups among the users; of what was deleted, who could.
  package let acl: ACL

  package init(id: String, _ what: What, acl: ACL) {
    self.id = id
    self.what = what
    self.acl = acl
  }

}

/// The changes that one transaction makes to one collection, collected while it runs.
package struct LiveChanges: Sendable {
  /// How many changes of one transaction are kept: no more than any history keeps.
  package static let maxCount = LiveHistory.maxMessages

  /// The users that may read the collection besides those whom its entities name.
  package let rule: Permissions.Rule
  package private(set) var list: [LiveChange] = []
  /// Whether there were more than can be published.
  package private(set) var isCut = false

  package init(rule: Permissions.Rule) { self.rule = rule }

  /// The groups whose members `add` has to be told with a change to what has this access list; nil: no other change can be kept,
  /// which is noted.
  package mutating func groups(of acl: ACL) -> [String]? {
    guard list.count < Self.maxCount else {
      isCut = true
      return nil
    }
    return acl.groups
  }

  /// Adds a change, with the present members of the groups that `acl` names among those who may read: `members` are pairs of a
  /// group and a user.
  package mutating func add(
    _ id: String, _ what: LiveChange.What, acl: ACL,
    members: [(group: String, user: String)] = []
  ) {
    guard groups(of: acl) != nil else { return }
    var users: [RecordID: [String]] = [:]
    for (group, user) in members { users[RecordID(group), default: []].append(user) }
    list.append(LiveChange(id: id, what, acl: acl.resolvingGroups { users[RecordID($0)] ?? [] }))
  }
}

/// The users who may read an entity, or hear a message.
package struct Audience: Sendable {
  private let rule: Permissions.Rule
  private let acl: ACL

  package init(_ rule: Permissions.Rule, _ acl: ACL) {
    self.rule = rule
    self.acl = acl
  }

  /// The form that the journal stores.
  package var json: JSONValue {
    let list = (try? JSONValue(parsing: acl.json)) ?? .object(JSONObject())
    return ["rule": .string(rule.rawValue), "acl": list]
  }

  /// Reads what `json` gives; nil for anything else.
  package init?(json: JSONValue) {
    guard let rule = json["rule"]?.stringValue.flatMap(Permissions.Rule.init),
      let bytes = json["acl"]?.bytes,
      let acl = try? bytes.withUnsafeBytes({ try ACL(parsing: $0, isStored: true) })
    else { return nil }
    self.init(rule, acl)
  }

  /// Everybody who may read the collection at all.
  package var isEverybody: Bool {
    let isOpen = acl.everybodyReads == true || acl.everybodyWrites == true
    return switch rule {
    case .always: true
    case .never, .creator: false
    case .acl: isOpen
    case .shared: isOpen || acl.everybodyReads == nil
    }
  }

  /// Ids are compared byte by byte, as the database does.
  package func contains(_ user: String) -> Bool {
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
