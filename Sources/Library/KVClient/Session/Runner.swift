internal import Glibc
internal import KVBase
package import KVSync

/// Runs operations on threads of our own, started when there is work and ended when there is none.
///
/// Up to `maxThreads` at once; what comes then waits its turn, first come, first served. An operation blocks its
/// thread while it waits for the network: what stays local has a runner of its own, so that no silent backend
/// holds it up.
package final class Runner: Sendable {
  private struct State {
    var queue = FIFO<@Sendable () -> Void>()
    var threads = 0
    var idle = 0
    var isClosed = false
    /// The threads themselves, to know our own.
    var members: Set<pthread_t> = []
  }

  private let maxThreads: Int
  /// Seconds that a thread waits for more work before it ends.
  private let patience: Double
  private let state = Monitor(State())

  package init(maxThreads: Int = 32, patience: Double = 5) {
    self.maxThreads = maxThreads
    self.patience = patience
  }

  /// Runs `body` once, on another thread. Throws if no thread can be had; then it does not run.
  package func run(_ body: @escaping @Sendable () -> Void) throws(StoreError) {
    let (isOpen, needsThread) = state.withLockNotifyingAll { state -> (Bool, Bool) in
      guard !state.isClosed else { return (false, false) }
      state.queue.append(body)
      guard state.queue.count > state.idle, state.threads < maxThreads else { return (true, false) }
      state.threads += 1
      return (true, true)
    }
    guard isOpen else { throw StoreError(.misuse, "The client is closed.") }
    guard needsThread, !start() else { return }
    // No thread: if others run they will take it; else it would stay.
    let isTaken = state.withLockNotifyingAll { state -> Bool in
      state.threads -= 1
      // The only one there is: with a thread, or another job before it, it would have been taken.
      return state.threads > 0 || state.queue.popFirst() == nil
    }
    if !isTaken { throw StoreError(.internal, "No thread could be started.") }
  }

  /// Takes nothing any more, and waits until what is queued has run and the threads have ended; not for
  /// the thread that it is called from.
  package func close() {
    let own = state.withLockNotifyingAll { state in
      state.isClosed = true
      return state.members.contains(pthread_self()) ? 1 : 0
    }
    _ = state.wait { $0.threads <= own ? true : nil }
  }

  /// Whether this is called from one of the threads.
  var isOwnThread: Bool { state.withLock { $0.members.contains(pthread_self()) } }

  private func start() -> Bool {
    Worker("kv-work") { [self] in
      state.withLock { _ = $0.members.insert(pthread_self()) }
      while let body = next() { body() }
    } != nil
  }

  /// The next in the queue; nil when the thread should end.
  private func next() -> (@Sendable () -> Void)? {
    state.withLock { $0.idle += 1 }
    let found = state.wait(until: .after(seconds: patience)) { state -> (@Sendable () -> Void)?? in
      if let body = state.queue.popFirst() { return .some(body) }
      return state.isClosed ? .some(nil) : nil
    }
    return state.withLockNotifyingAll { state in
      state.idle -= 1
      if let body = found ?? nil { return body }
      // Something may have come just as the patience ended.
      if let body = state.queue.popFirst() { return body }
      state.members.remove(pthread_self())
      state.threads -= 1
      return nil
    }
  }
}
