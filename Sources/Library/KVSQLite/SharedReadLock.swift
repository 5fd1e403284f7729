internal import CSQLite
internal import KVBase
internal import Synchronization

/// Holds the lock that readers of the newest state need, so that theirs cost no call to the system.
///
/// A read locks a mark of the log when it begins and unlocks it when it ends: two calls to the system, a third of what a find by id
/// takes. SQLite counts the locks of one process and asks the system only for the first and the last. So while one read
/// follows another without a commit in between, an idle connection stays in a read transaction. That changes nothing for the others:
/// each has a snapshot of its own, of the newest state; after a commit they use another mark, and ask the system.
///
/// While the lock is held, the log cannot be begun anew. So it ends before its own process writes, checkpoints or compacts, as soon as
/// a commit of another process is noticed, and when reads come slowly; it is not taken in a log that is too long already.
final class SharedReadLock: Sendable {
  /// After how many reads the log is looked at.
  private static let readsPerLook = 32

  private struct State {
    /// The connection that is in a read transaction, while the lock is held.
    var holder: PooledConnection?
    /// What the log was like at the last look, and when that was, in nanoseconds.
    var log: kv_sqlite_log_state?
    var lastLook: Int64 = 0
    /// Ends the lock when there are no more readers. Started when the lock is taken for the first time.
    var watch: Worker?
    var isStopped = false
  }

  private let idle: IdleConnections
  /// The longest time that `readsPerLook` reads may take, in nanoseconds; 0: the lock is never taken.
  private let longestPause: Int64
  private let reads = Atomic(0)
  private let isHeld = Atomic(false)
  private let state = Monitor(State())

  /// `idle`: where the connection that held the lock waits afterwards. `milliseconds`: how long the lock may be held without
  /// readers; up to twice that in fact.
  init(_ idle: IdleConnections, milliseconds: Int) {
    self.idle = idle
    longestPause = Int64(milliseconds) * 1_000_000
  }

  /// Counts a read that `pooled` has made; true: it holds the lock from now on, and is not idle.
  func takes(_ pooled: PooledConnection) -> Bool {
    let count = reads.wrappingAdd(1, ordering: .relaxed).newValue
    guard count % Self.readsPerLook == 0, longestPause > 0 else { return false }
    let log = pooled.connection.logState
    let now = monotonicNanoseconds()
    let (isWanted, outdated) = state.withLock { state -> (Bool, PooledConnection?) in
      let isSame = log.map { log in state.log.map { log.isSame($0) } ?? false } ?? false
      let isSoon = now &- state.lastLook < longestPause
      state.log = log
      state.lastLook = now
      guard !isSame, state.holder != nil else {
        return (isSame && isSoon && state.holder == nil && log?.canBeBegunAnew == true, nil)
      }
      return (false, removeHolder(&state))
    }
    if let outdated { release(outdated) }
    return isWanted && hold(pooled)
  }

  /// Ends the lock, if it is held.
  func end() {
    guard isHeld.load(ordering: .acquiring) else { return }
    if let holder = state.withLock(removeHolder) { release(holder) }
  }

  /// Ends the lock and the thread that watches it; it is not taken any more.
  func stop() {
    let (watch, holder) = state.withLockNotifyingAll { state -> (Worker?, PooledConnection?) in
      state.isStopped = true
      return (state.watch, removeHolder(&state))
    }
    watch?.join()
    withExtendedLifetime(holder) {}
  }

  private func hold(_ pooled: PooledConnection) -> Bool {
    guard (try? pooled.connection.beginSnapshot()) != nil else {
      // A transaction that cannot be ended closes with its connection.
      return pooled.connection.isInTransaction
        && (try? pooled.connection.run(Connection.Control.rollback)) == nil
    }
    let isHeld = state.withLockNotifyingAll { state in
      guard !state.isStopped, state.holder == nil else { return false }
      if state.watch == nil { state.watch = Worker("kv-readers") { [self] in watch() } }
      // Without a thread that ends it, it would last for ever.
      guard state.watch != nil else { return false }
      state.holder = pooled
      self.isHeld.store(true, ordering: .releasing)
      return true
    }
    if isHeld { return true }
    // A transaction that cannot be ended closes with its connection.
    return (try? pooled.connection.run(Connection.Control.commit)) == nil
  }

  private func removeHolder(_ state: inout State) -> PooledConnection? {
    isHeld.store(false, ordering: .releasing)
    return state.holder.take()
  }

  /// Ends the transaction of a connection that held the lock.
  private func release(_ holder: PooledConnection) {
    // One that cannot be ended, or comes when all others have been closed, closes with its connection.
    guard (try? holder.connection.run(Connection.Control.commit)) != nil else { return }
    idle.put(holder)
    if state.withLock({ $0.isStopped }) { idle.removeAll() }
  }

  /// Ends the lock when it was not looked at for a while.
  private func watch() {
    let pause = Double(longestPause) / 1e9
    while state.wait(for: { $0.isStopped ? false : $0.holder != nil ? true : nil }) == true {
      let isStopped = state.wait(until: .after(seconds: pause)) { $0.isStopped ? true : nil }
      guard isStopped == nil else { return }
      let unused = state.withLock { state -> PooledConnection? in
        monotonicNanoseconds() &- state.lastLook < longestPause ? nil : removeHolder(&state)
      }
      if let unused { release(unused) }
    }
  }
}

extension kv_sqlite_log_state {
  /// Whether there was no commit, and no copying of the log into the file, between the two.
  fileprivate func isSame(_ other: Self) -> Bool {
    commits == other.commits && salt == other.salt && pages == other.pages && copied == other.copied
  }

  /// Whether the lock does not keep other processes from beginning the log anew when that is due.
  fileprivate var canBeBegunAnew: Bool { pages <= LogKeeper.limit || copied == pages }
}
