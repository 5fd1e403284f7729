package import KVBase

/// A kind of operations that a master secret may be good for.
package enum MasterScope: String, Sendable, CaseIterable {
  /// Reading all that there is, and changing nothing.
  case read
  /// Reading and writing entities.
  case data
  /// Reading and changing users, groups, sessions and invitations.
  case users
  /// Reading and changing rules, indexes and collections as such.
  case admin

  /// The names of some, in the order of the cases.
  package static func names(_ scopes: some Collection<MasterScope>) -> [String] {
    allCases.filter { scopes.contains($0) }.map(\.rawValue)
  }
}

/// One of the secrets of an app's administrators, as far as the server knows it: its hash, and what it is good for.
package struct MasterSecret: Sendable, Equatable {
  /// Nil: the one that stands in plain beside the app's own secret.
  package var name: String?
  /// In 64 lowercase hex digits.
  package var sha256: String
  package var scopes: Set<MasterScope>
  /// When it is good for nothing any more; nil: never.
  package var expires: Timestamp?

  package init(
    name: String?, sha256: String, scopes: Set<MasterScope>, expires: Timestamp? = nil
  ) {
    self.name = name
    self.sha256 = sha256
    self.scopes = scopes
    self.expires = expires
  }

  /// A secret that stands in plain: it may do everything.
  package init(plain secret: String) {
    self.init(name: nil, sha256: Self.hash(secret), scopes: Set(MasterScope.allCases))
  }

  /// What a secret is compared by. It has 128 bits or more, so that the hash need not be slow.
  package static func hash(_ secret: String) -> String { hexText(SHA256.hash(secret.utf8)) }

  func isValid(at milliseconds: Int64) -> Bool {
    expires.map { milliseconds < $0.milliseconds } ?? true
  }
}

extension Route {
  /// The scopes of which a master secret needs one for a request. Business logic may do everything for the administrator, so that an
  /// endpoint of it needs the same as a change of rules.
  func scopes(for method: Request.Method) -> Set<MasterScope> {
    let isReading = method == .get || method == .head
    switch self {
    case .health, .ping, .poll, .pubNub, .fileBytes: return Set(MasterScope.allCases)
    case .collection, .entity, .files, .file: return isReading ? [.read, .data] : [.data]
    case .count, .delta, .group: return [.read, .data]
    case .batch, .register, .unregister, .subscribe, .unsubscribe, .streamPublish,
      .streamSubscribe, .streamUnsubscribe:
      return [.data]
    case .users, .user, .userGroups, .userGroup, .sessions:
      return isReading ? [.read, .users] : [.users]
    case .lookup, .usernameExists: return [.read, .users]
    case .login, .logout, .me, .tokens, .session, .restoreUser, .password, .identity,
      .invitations, .mail, .verifyAddress, .oauth:
      return [.users]
    case .metrics, .collections, .permissions, .history, .indexes, .streamACL, .substreams:
      return isReading ? [.read, .admin] : [.admin]
    case .rename, .removeCollection, .customEndpoint: return [.admin]
    }
  }
}
