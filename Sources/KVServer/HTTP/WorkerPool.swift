internal import KVBase

/// Threads that take jobs in the order they come. Safe from any thread.
final class WorkerPool: Sendable {
  typealias Job = @Sendable () -> Void

  private struct State {
    var arriving: [Job] = []
    /// The oldest last.
    var leaving: [Job] = []
    var isClosed = false

    mutating func next() -> Job? {
      if leaving.isEmpty {
        leaving = arriving.reversed()
        arriving.removeAll(keepingCapacity: true)
      }
      return leaving.popLast()
    }
  }

  private let state: Monitor<State>
  private let limit: Int
  private let workers: [Worker]

  /// `limit`: how many jobs may wait.
  init(_ name: String, threads: Int, limit: Int) {
    let state = Monitor(State())
    self.state = state
    self.limit = limit
    workers = (0..<max(1, threads)).compactMap { _ in
      Worker(name) { while let job = Self.nextJob(state) { job() } }
    }
  }

  /// Runs `job` later on one of the threads. False: too many wait already, the pool is closed, or the
  /// system gave it no thread.
  func submit(_ job: @escaping Job) -> Bool {
    guard !workers.isEmpty else { return false }
    return state.wakingOne { state in
      guard !state.isClosed, state.arriving.count + state.leaving.count < limit else {
        return false
      }
      state.arriving.append(job)
      return true
    }
  }

  /// Lets the waiting jobs finish, then ends the threads.
  func close() {
    state.withLock { $0.isClosed = true }
    for worker in workers { worker.join() }
  }

  /// Waits for a job; nil once the pool is closed and empty.
  private static func nextJob(_ state: Monitor<State>) -> Job? {
    state.wait { state -> Job?? in
      if let job = state.next() { return .some(job) }
      return state.isClosed ? .some(nil) : nil
    } ?? nil
  }
}
