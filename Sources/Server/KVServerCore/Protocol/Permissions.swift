package import KVJSON

/// What the users of an app may do in a collection. The master secret may do everything.
package struct Permissions: Sendable, Equatable {
  /// A rule for who may do one kind of operation.
  package enum Rule: String, Sendable, CaseIterable {
    /// Every user; the entities' own lists are not looked at.
    case always
    /// No user.
    case never
    /// Only who created the entity.
    case creator
    /// The creator and whom the entity's `_acl` names; for reading, writers too.
    case acl
    /// The same as `acl`, but everybody may read an entity whose `_acl` has no `gr`. For reading only.
    case shared
  }

  package enum Action: String, Sendable, CaseIterable {
    case create, read, update, delete
  }

  package var create = Rule.always
  package var read = Rule.shared
  package var update = Rule.acl
  package var delete = Rule.acl
  /// Whether users may create an entity by a PUT, and so choose its id.
  package private(set) var letsUsersChooseIDs = true

  package init() {}

  /// The permissions of the collections of users and of groups: any user makes one, and its maker shares it by its `_acl`. Their
  /// ids stand in access lists, so a user cannot choose one.
  package static let sharedByACL: Permissions = {
    var permissions = Permissions()
    permissions.read = .acl
    permissions.letsUsersChooseIDs = false
    return permissions
  }()

  /// The permissions of the collection of files: the same, but an upload that is repeated after a lost answer has the id of the first.
  package static let filesByACL: Permissions = {
    var permissions = sharedByACL
    permissions.letsUsersChooseIDs = true
    return permissions
  }()

  package subscript(_ action: Action) -> Rule {
    get {
      switch action {
      case .create: create
      case .read: read
      case .update: update
      case .delete: delete
      }
    }
    set {
      switch action {
      case .create: create = newValue
      case .read: read = newValue
      case .update: update = newValue
      case .delete: delete = newValue
      }
    }
  }

  /// Whether a rule makes sense for an operation.
  package static func allows(_ rule: Rule, for action: Action) -> Bool {
    switch action {
    case .create: rule == .always || rule == .never
    case .read: true
    case .update, .delete: rule != .shared
    }
  }

  /// Reads `{"read":"always",…}`; what is not named stays as it is.
  package mutating func apply(_ object: JSONObject) throws(ServerError) {
    for member in object.members {
      guard let action = Action(rawValue: member.name) else {
        throw ServerError(.inputValidationFailed, "unknown operation \(member.name)")
      }
      guard let rule = member.value.stringValue.flatMap(Rule.init),
        Self.allows(rule, for: action)
      else {
        let known = Rule.allCases.filter { Self.allows($0, for: action) }.map(\.rawValue)
        throw ServerError(
          .inputValidationFailed,
          "\(member.name) must be one of \(known.joined(separator: ", "))")
      }
      self[action] = rule
    }
  }

  package var json: JSONValue {
    .object(
      JSONObject(Action.allCases.map { .init($0.rawValue, .string(self[$0].rawValue)) }))
  }
}

/// The identity that a request acts as.
package enum Principal: Sendable, Equatable {
  /// The app itself: may sign up and log in users, and little else.
  case app
  case user(id: String)
  /// The administrator.
  case master
}
