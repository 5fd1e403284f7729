extension ModelOperation {
  /// What `@model` says that the backend does not offer: `queries: null`, `mutations: {delete: null}`,
  /// `subscriptions: {level: off}`.
  static func missing(of type: SDLType) -> Set<ModelOperation> {
    guard let directive = type.directive("model") else { return [] }
    var missing: Set<ModelOperation> = []
    for (argument, operations) in groups {
      guard let value = directive[argument]?.value else { continue }
      let isOff = value == .null || value["level"]?.text == "off"
      for operation in operations where isOff || value[operation.rawValue] == .null {
        missing.insert(operation)
      }
    }
    return missing
  }

  private static let groups: [(String, [ModelOperation])] = [
    ("queries", [.get, .list, .sync]), ("mutations", [.create, .update, .delete]),
    ("subscriptions", [.onCreate, .onUpdate, .onDelete]),
  ]
}

extension AuthorizationRule {
  private static let subjects: Set<String> = ["owner", "groups", "private", "public", "custom"]

  /// The rules of a model's `@auth`.
  static func all(of type: SDLType) throws(SchemaError) -> [AuthorizationRule] {
    guard let directive = type.directive("auth") else { return [] }
    guard let argument = directive["rules"] else {
      throw SchemaError("@auth needs rules", at: directive.name.location)
    }
    let values: [SDLValue] =
      if case .list(let values) = argument.value { values } else { [argument.value] }
    var rules: [AuthorizationRule] = []
    for value in values { rules.append(try rule(value, at: argument.location)) }
    return rules
  }

  private static func rule(
    _ value: SDLValue, at location: SourceLocation
  ) throws(SchemaError) -> AuthorizationRule {
    guard let allow = value["allow"]?.text, subjects.contains(allow) else {
      throw SchemaError(
        "a rule must allow owner, groups, private, public or custom", at: location)
    }
    return AuthorizationRule(
      allow: allow, provider: value["provider"]?.text,
      ownerField: allow == "owner" ? value["ownerField"]?.text ?? "owner" : nil,
      identityClaim: value["identityClaim"]?.text,
      groups: value["groups"]?.texts ?? [], groupsField: value["groupsField"]?.text,
      operations: value["operations"]?.texts)
  }
}
