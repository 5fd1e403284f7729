/// A backend: what a client does its work with, as one value.
///
/// The remote is what every backend has. Whatever else it lacks is nil, and an operation that needs it fails with
/// `.unsupported`, naming it.
package struct Backend: Sendable {
  /// The name of the backend in messages.
  package var name: String
  /// Reads and writes of entities.
  package var remote: any Remote
  /// Users and their sessions. Without them, requests have no user, and the local data belongs to none.
  package var accounts: (any Accounts)?
  /// Login pages, and what renews the sessions that come of them.
  package var authorization: (any Authorization)?
  package var groups: (any UserGroups)?
  package var live: (any LiveRemote)?
  package var streams: (any UserStreams)?
  /// Asks what the backend says about itself: JSON.
  package var ping: (@Sendable (Call) throws(StoreError) -> [UInt8])?
  /// Whether it accepts writes while no user is logged in. Only asked of a backend that has users.
  package var acceptsAnonymousWrites = false
  /// Whether there may be a local copy of its data. Without one, every store of the client is a network store.
  package var keepsLocalCopy = true
  /// Loads it for a client that is being opened, which fails if this throws; nil: there is nothing to load.
  package var load: (@Sendable (Call) throws(StoreError) -> Void)?
  /// Sets the provider of tokens of the application's users; nil removes it.
  package var setTokenProvider: (@Sendable (TokenProvider?) -> Void)?
  /// The default strategy for conflicts.
  package var conflicts = ConflictStrategy.clientWins
  /// Gives back what it holds: connections, threads. Called once, when nothing asks it any more.
  package var close: @Sendable () -> Void

  package init(
    name: String, remote: any Remote, close: @escaping @Sendable () -> Void = {}
  ) {
    self.name = name
    self.remote = remote
    self.close = close
  }

  /// The error of an operation that needs what the backend lacks: `what` in the plural, such as "users".
  package func lacks(_ what: String) -> StoreError {
    StoreError(.unsupported, "The backend \"\(name)\" does not support \(what).")
  }
}

/// What a client tells the backend that it opens.
package struct BackendContext: Sendable {
  package var appKey: String
  /// Gives the token of the active user's session; nil while no user is logged in. To be called for each request:
  /// users come and go, and sessions are renewed.
  package var token: @Sendable () throws(StoreError) -> String?
  /// Writes a line to the client's debug log, which is built only if the log has an observer. It must contain nothing that
  /// would let a reader act for the user.
  package var debug: @Sendable (() -> String) -> Void
  /// What was learned of the backend at an address, and is to be known at the next start.
  package var memory: @Sendable (_ address: String) -> BackendMemory
  /// Where a custom store is to look for its data.
  package var location: StoreLocation

  package init(
    appKey: String, location: StoreLocation? = nil,
    token: @escaping @Sendable () throws(StoreError) -> String? = { nil },
    debug: @escaping @Sendable (() -> String) -> Void = { _ in },
    memory: @escaping @Sendable (_ address: String) -> BackendMemory = { _ in .none }
  ) {
    self.appKey = appKey
    self.location = location ?? StoreLocation(appKey: appKey)
    self.token = token
    self.debug = debug
    self.memory = memory
  }
}

/// A text in which a backend's room notes what it has learned of the backend. It is stored with the data. Safe from any thread.
package struct BackendMemory: Sendable {
  /// Nil: nothing was noted, or it cannot be read.
  package let recall: @Sendable () -> String?
  /// A text that cannot be stored is learned again after the next start.
  package let remember: @Sendable (String) -> Void

  package init(
    recall: @escaping @Sendable () -> String?, remember: @escaping @Sendable (String) -> Void
  ) {
    self.recall = recall
    self.remember = remember
  }

  /// Remembers nothing.
  package static let none = BackendMemory(recall: { nil }, remember: { _ in })
}

/// Opens a backend for one client. Makes no request; the client closes what it gives.
package typealias BackendFactory =
  @Sendable (BackendContext) throws(StoreError) -> Backend
