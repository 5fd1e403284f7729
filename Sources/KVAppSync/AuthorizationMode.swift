internal import KVModels

/// How a request proves its right: the authorization modes of AppSync.
package enum AuthorizationMode: String, Sendable, CaseIterable {
  case apiKey, iam
  /// A token of a Cognito user pool, an OpenID provider, or for a Lambda authorizer.
  case userPools, oidc, function
  /// A token of one of these three; nobody has said which.
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
