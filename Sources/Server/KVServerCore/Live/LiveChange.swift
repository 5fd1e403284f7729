package import KVBase
package import KVJSON

/// What a committed write did to one entity.
package struct LiveChange: Sendable {
  package enum What: Sendable {
    case create(body: [UInt8])
    case update(body: [UInt8])
    case delete(at: Timestamp)
    /// The entity was updated, and its new access list takes it from readers: to them it is gone.
    case revoke(at: Timestamp)

    package var name: String {
      switch self {
      case .create: "create"
      case .update: "update"
      case .delete, .revoke: "delete"
      }
    }
  }

  package let id: String
  package let what: What
  /// The users that may read it, with the members of groups among the users; of what was deleted, who could.
  package let acl: ACL
  /// The users that hear nothing, although `acl` names them; nil: there are none.
  package let others: ACL?

  package init(id: String, _ what: What, acl: ACL, except others: ACL? = nil) {
    self.id = id
    self.what = what
    self.acl = acl
    self.others = others
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

  /// The groups whose members `add` has to be told with a change to what has this access list, and perhaps another one; nil: no
  /// other change can be kept, which is noted.
  package mutating func groups(of acl: ACL, except others: ACL? = nil) -> [String]? {
    guard list.count < Self.maxCount else {
      isCut = true
      return nil
    }
    return acl.groups + (others?.groups ?? [])
  }

  /// Adds a change, with the present members of the groups that `acl` names among those who may read: `members` are pairs of a
  /// group and a user. `others`: the access list of the users that hear nothing of it.
  package mutating func add(
    _ id: String, _ what: LiveChange.What, acl: ACL, except others: ACL? = nil,
    members: [(group: String, user: String)] = []
  ) {
    guard groups(of: acl) != nil else { return }
    var users: [RecordID: [String]] = [:]
    for (group, user) in members { users[RecordID(group), default: []].append(user) }
    func resolved(_ acl: ACL) -> ACL { acl.resolvingGroups { users[RecordID($0)] ?? [] } }
    list.append(
      LiveChange(id: id, what, acl: resolved(acl), except: others.map(resolved)))
  }
}

/// The users who may read an entity, or hear a message.
package struct Audience: Sendable {
  private let rule: Permissions.Rule
  private let acl: ACL
  /// The users who are not meant, although `acl` names them.
  private let others: ACL?

  package init(_ rule: Permissions.Rule, _ acl: ACL, except others: ACL? = nil) {
    self.rule = rule
    self.acl = acl
    self.others = others
  }

  /// The form that the journal stores.
  package var json: JSONValue {
    func list(_ acl: ACL) -> JSONValue {
      (try? JSONValue(parsing: acl.json)) ?? .object(JSONObject())
    }
    var object: JSONObject = ["rule": .string(rule.rawValue), "acl": list(acl)]
    if let others { object["except"] = list(others) }
    return .object(object)
  }

  /// Reads what `json` gives; nil for anything else.
  package init?(json: JSONValue) {
    func list(_ value: JSONValue) -> ACL? {
      try? value.bytes.withUnsafeBytes { try ACL(parsing: $0, isStored: true) }
    }
    guard let rule = json["rule"]?.stringValue.flatMap(Permissions.Rule.init),
      let acl = json["acl"].flatMap(list)
    else { return nil }
    let others = json["except"].map(list)
    if case .some(nil) = others { return nil }
    self.init(rule, acl, except: others ?? nil)
  }

  /// Everybody who may read the collection at all.
  package var isEverybody: Bool { others == nil && Self.isEverybody(rule, acl) }

  private static func isEverybody(_ rule: Permissions.Rule, _ acl: ACL) -> Bool {
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
    Self.contains(user, rule, acl: acl)
      && !(others.map { Self.contains(user, rule, acl: $0) } ?? false)
  }

  private static func contains(_ user: String, _ rule: Permissions.Rule, acl: ACL) -> Bool {
    if isEverybody(rule, acl) { return true }
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
