/// The kinds of requests that logs and metrics tell apart. Its description is what they show.
package enum RouteName: Int, Sendable {
  /// What leads nowhere.
  case unknown
  case health, metrics, ping
  case collections, collection, entity, count, deltaset, group, batch, history, indexes,
    permissions,
    rename
  case users, user, login, logout, me, lookup, tokens, sessions, session, restore, password,
    identity,
    invitations,
    userGroups,
    userGroup
  case files, file, fileBytes
  case usernameExists, mail, verifyAddress, removeCollection, custom
  case register, unregister, subscribe, unsubscribe
  case stream, streamPublish, streamSubscribe, streamUnsubscribe, substreams
  case loginPage, loginCallback, loginTokens
  case poll, presence, publish, time

  /// The name of what a decoded path leads to.
  package init(path: [String]) { self = Route(path)?.name ?? .unknown }
}

extension Route {
  var name: RouteName {
    switch self {
    case .health: .health
    case .metrics: .metrics
    case .ping: .ping
    case .collections: .collections
    case .collection: .collection
    case .entity: .entity
    case .count: .count
    case .delta: .deltaset
    case .group: .group
    case .batch: .batch
    case .history: .history
    case .indexes: .indexes
    case .permissions: .permissions
    case .rename: .rename
    case .users: .users
    case .user: .user
    case .login: .login
    case .logout: .logout
    case .me: .me
    case .lookup: .lookup
    case .tokens: .tokens
    case .sessions: .sessions
    case .session: .session
    case .restoreUser: .restore
    case .password: .password
    case .identity: .identity
    case .invitations: .invitations
    case .userGroups: .userGroups
    case .userGroup: .userGroup
    case .files: .files
    case .file: .file
    case .fileBytes: .fileBytes
    case .usernameExists: .usernameExists
    case .mail: .mail
    case .verifyAddress: .verifyAddress
    case .removeCollection: .removeCollection
    case .customEndpoint: .custom
    case .register: .register
    case .unregister: .unregister
    case .subscribe: .subscribe
    case .unsubscribe: .unsubscribe
    case .streamACL: .stream
    case .streamPublish: .streamPublish
    case .streamSubscribe: .streamSubscribe
    case .streamUnsubscribe: .streamUnsubscribe
    case .substreams: .substreams
    case .oauth(.page): .loginPage
    case .oauth(.callback): .loginCallback
    case .oauth(.token): .loginTokens
    case .poll: .poll
    case .pubNub(.time): .time
    case .pubNub(.presence): .presence
    case .pubNub(.publish): .publish
    }
  }
}
