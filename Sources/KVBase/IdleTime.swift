internal import Synchronization

/// Calls a function, on a thread of its own, once something has not been used for a time. The thread is started with the first
/// use, and sleeps without end while nothing is used.
package final class IdleTime: Sendable {
  private struct State {
    var worker: Worker?
    var isStopped = false
  }

  private let name: String
  private let seconds: Double
  private let action: @Sendable () -> Void
  private let state = Monitor(State())
  private let wasUsed = Atomic(false)
  private let running = Atomic(false)

  /// `name`: the thread's. `action` may be called any number of times, between one and two times `milliseconds` after a use.
  package init(_ name: String, milliseconds: Int, _ action: @escaping @Sendable () -> Void) {
    self.name = name
    seconds = Double(milliseconds) / 1000
    self.action = action
  }

  /// Whether there was a use after which the function has not been called.
  package var isRunning: Bool { running.load(ordering: .sequentiallyConsistent) }

  /// Says that it is used. Costs a few nanoseconds, except the first time after an idle time.
  package func noteUse() {
    // Whoever finds it true is not the first since the watch looked.
    if !wasUsed.load(ordering: .relaxed) { wasUsed.store(true, ordering: .sequentiallyConsistent) }
    if !isRunning { start() }
  }

  /// Ends the thread and waits for it, unless it is the calling one. Uses are not followed any more.
  package func stop() {
    let worker = state.withLockNotifyingAll { state in
      state.isStopped = true
      return state.worker
    }
    worker?.join()
  }

  private func start() {
    let isWatched = state.withLockNotifyingAll { state in
      guard !state.isStopped else { return true }
      if state.worker == nil { state.worker = Worker(name) { [self] in watch() } }
      running.store(state.worker != nil, ordering: .sequentiallyConsistent)
      return state.worker != nil
    }
    // Without a thread to wait on nothing is ever in use.
    if !isWatched { action() }
  }

  private func watch() {
    while state.wait(for: { $0.isStopped ? false : isRunning ? true : nil }) == true {
      let isStopped = state.wait(until: .after(seconds: seconds)) { $0.isStopped ? true : nil }
      guard isStopped == nil else { return }
      if wasUsed.exchange(false, ordering: .sequentiallyConsistent) { continue }
      action()
      running.store(false, ordering: .sequentiallyConsistent)
      // A use since the look above has seen that the watch runs, and did not start it.
      if wasUsed.load(ordering: .sequentiallyConsistent) {
        running.store(true, ordering: .sequentiallyConsistent)
      }
    }
  }
}
