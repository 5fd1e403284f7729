internal import KVJSON
internal import KVModels

/// How a request proves its right: the authorization modes of AppSync.
package enum AuthorizationMode: String, Sendable, CaseIterable {
  case apiKey, iam
  /// A token of a Cognito user pool, an OpenID provider, or for a Lambda authorizer.
  case userPools, oidc, function
  /// A token of one of these three; it is not known which.
  case token

  package var isToken: Bool { self != .apiKey && self != .iam }

  /// The mode of a rule's provider.
  fileprivate init?(provider: String) {
    self.init(rawValue: provider == "identityPool" ? "iam" : provider)
  }
}

extension Model {
  /// The modes in which an operation is tried, one after the other, of those that there are: as the rules of `@auth` allow it,
  /// most particular first. Without rules, or if no rule has a mode that there is, that is `usual`.
  func modes(
    for operation: ModelOperation, of available: Set<AuthorizationMode>, usual: AuthorizationMode
  ) -> [AuthorizationMode] {
    var modes: [AuthorizationMode] = []
    for rule in rules.filter({ $0.allows(operation) }).sorted(by: { $0.rank < $1.rank }) {
      guard let wanted = rule.mode,
        let mode = [wanted, wanted.isToken ? .token : wanted].first(where: available.contains),
        !modes.contains(mode)
      else { continue }
      modes.append(mode)
    }
    return modes.isEmpty ? [usual] : modes
  }
}

extension Model {
  /// The field, and the claim of a token, by which a subscription in a mode is narrowed to the caller's own records: where
  /// nothing but one owner rule allows it there.
  func ownership(of operation: ModelOperation, in mode: AuthorizationMode) -> Ownership? {
    let rules = self.rules.filter { $0.allows(operation) && $0.mode.map(mode.serves) ?? false }
    guard rules.count == 1, let rule = rules.first, let field = rule.ownerField,
      self.field(field)?.isList != true
    else { return nil }
    return Ownership(field: field, claim: rule.identityClaim)
  }
}

extension Model {
  /// The members that the backend adds to records for owner rules, which are no fields of the schema. A mutation has to select
  /// them, or subscribers who see their own records only are not told of it; they are no part of records.
  var ownersByRule: [String] {
    var names: [String] = []
    for name in rules.compactMap(\.ownerField) where field(name) == nil && !names.contains(name) {
      names.append(name)
    }
    return names
  }
}

/// Whose records a caller may see.
struct Ownership: Equatable {
  /// The field that names the owner.
  let field: String
  /// The claim of the caller's token that it is compared with; nil: the usual one of the provider.
  let claim: String?

  /// The claims by which providers name a caller, the usual one first.
  private static let usual = ["username", "cognito:username", "sub"]

  /// What a token's claims name the caller; nil: they do not.
  func owner(in claims: JSONValue) -> String? {
    guard let claim else { return Self.usual.lazy.compactMap { claims[$0]?.stringValue }.first }
    let parts = claim.utf8.split(separator: UInt8(ascii: ":")).map { String(Substring($0)) }
    if let whole = claims[claim]?.stringValue { return whole }
    // One of several parts, such as "sub::username".
    let values = parts.compactMap { claims[$0]?.stringValue }
    return values.isEmpty || values.count < parts.count ? nil : values.joined(separator: "::")
  }
}

extension AuthorizationMode {
  /// Whether the credentials of this mode are those of a rule's.
  fileprivate func serves(_ wanted: AuthorizationMode) -> Bool {
    self == wanted || self == .token && wanted.isToken
  }
}

extension AuthorizationRule {
  private static let subjects = ["custom", "owner", "groups", "private", "public"]
  private static let modes: [AuthorizationMode] = [.function, .userPools, .oidc, .iam, .apiKey]

  fileprivate var mode: AuthorizationMode? {
    if let provider { return AuthorizationMode(provider: provider) }
    switch allow {
    case "public": return .apiKey
    case "custom": return .function
    default: return .userPools
    }
  }

  /// The lower, the earlier.
  fileprivate var rank: Int {
    let subject = Self.subjects.firstIndex(of: allow) ?? Self.subjects.count
    let mode = mode.flatMap(Self.modes.firstIndex(of:)) ?? Self.modes.count
    return subject * (Self.modes.count + 1) + mode
  }

  fileprivate func allows(_ operation: ModelOperation) -> Bool {
    guard let operations else { return true }
    switch operation {
    case .create, .update, .delete: return operations.contains(operation.rawValue)
    case .get, .list, .sync:
      return operations.contains("read") || operations.contains(operation.rawValue)
    case .onCreate, .onUpdate, .onDelete:
      return operations.contains("read") || operations.contains("listen")
    }
  }
}
