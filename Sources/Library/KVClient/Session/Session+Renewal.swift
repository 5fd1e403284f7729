internal import KVBase
internal import KVSync

/// Renews the session by its refresh token, one at a time: of the threads of this process, and of the processes
/// that share the data directory. Who waited finds the new token there.
final class Renewal: SessionRenewal {
  private let session: Session
  private let users: any Accounts
  private let authorization: any Authorization
  private let turn: Turn
  private let ended: @Sendable (StoreError) -> Void

  /// `lock`: the file that processes lock. `ended` hears when a session could not be renewed and is over. Nil: the
  /// backend renews no sessions.
  init?(
    _ session: Session, _ backend: Backend, lock: String,
    ended: @escaping @Sendable (StoreError) -> Void
  ) {
    guard let users = backend.accounts, let authorization = backend.authorization else {
      return nil
    }
    self.session = session
    self.users = users
    self.authorization = authorization
    turn = Self.turns.of(path: lock) { Turn(path: lock) }
    self.ended = ended
  }

  func proof() throws(StoreError) -> String? { try session.current()?.token }

  func renew(_ refused: String, _ call: Call) throws(StoreError) -> Bool {
    guard let user = try session.current() else { return false }
    guard user.token == refused else { return true }
    guard user.grant?.refreshToken != nil else { return false }
    return try turn.taking(call) { () throws(StoreError) in
      // Another thread may have been faster, or the user may have logged out.
      guard let user = try session.current() else { return false }
      guard user.token == refused, let grant = user.grant else { return user.token != refused }
      return try renew(user, grant, call: call)
    }
  }

  private func renew(
    _ user: Session.User, _ grant: Grant, call: Call
  ) throws(StoreError) -> Bool {
    do throws(StoreError) {
      let new = try authorization.renewed(grant, call)
      // Before anything else can fail: the old refresh token may be good no more.
      try session.keep(new, of: user)
      let logged = try users.login(authorization.credentials(of: new), call)
      guard logged.id.utf8.elementsEqual(user.id.utf8) else {
        throw StoreError(.unauthorized, "The renewed session belongs to another user.")
      }
      try session.adopt(logged, token: nil, grant: new)
      return true
    } catch {
      guard error.kind == .unauthorized || error.kind == .notFound else { throw error }
      // Over: no user is logged in. The data and the waiting writes stay.
      try session.clear()
      ended(error)
      return false
    }
  }

  /// The right to renew, for one thread of one process at a time.
  private final class Turn: Sendable {
    private let isTaken = Monitor(false)
    private let processes: ProcessLock

    init(path: String) { processes = ProcessLock(path: path) }

    func taking<R>(_ call: Call, _ body: () throws(StoreError) -> R) throws(StoreError) -> R {
      try begin(call)
      defer { isTaken.withLockNotifyingAll { $0 = false } }
      try processes.begin(call)
      defer { processes.end() }
      return try body()
    }

    private func begin(_ call: Call) throws(StoreError) {
      try call.wait(on: isTaken, timeout: "Renewing the session took too long.") {
        isTaken -> Void? in
        guard !isTaken else { return nil }
        isTaken = true
        return ()
      }
    }
  }

  private static let turns = Shared<Turn>()
}
