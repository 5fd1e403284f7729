internal import KVBase

/// Threads that take jobs, so that none of those who ask can keep the others waiting. Safe from any thread.
///
/// The jobs of one asker run in the order they come; askers take turns. An asker with running jobs may start another
/// one only as long as enough threads stay free: with sixteen threads one asker gets twelve at the most, a second
/// one three of the rest, and the last free thread goes to an asker that has none.
package final class WorkerPool: Sendable {
  package typealias Job = @Sendable () -> Void

  private let state: Monitor<WorkQueue>
  private let workers: [Worker]

  /// `limit`: how many jobs may wait.
  package init(_ name: String, threads: Int, limit: Int) {
    let state = Monitor(WorkQueue(threads: max(1, threads), limit: limit))
    self.state = state
    workers = (0..<max(1, threads)).compactMap { _ in
      Worker(name) {
        var finished: Asker?
        while let (job, asker) = Self.nextJob(state, after: finished) {
          job()
          finished = asker
        }
      }
    }
  }

  /// Runs `job` later on one of the threads. False: too many wait already, the pool is closed, or the
  /// system gave it no thread.
  package func submit(for asker: Asker, _ job: @escaping Job) -> Bool {
    guard !workers.isEmpty else { return false }
    return state.withLockNotifyingOne { $0.add(job, for: asker) }
  }

  /// How many threads there are, how many of them work, and how many jobs wait.
  package var status: (threads: Int, running: Int, waiting: Int) {
    state.withLock { ($0.threads, $0.running, $0.waiting) }
  }

  /// Lets the waiting jobs finish, then ends the threads.
  package func close() {
    state.withLockNotifyingAll { $0.isClosed = true }
    for worker in workers { worker.join() }
  }

  /// Waits for a job; nil once the pool is closed and empty. `finished`: whose job has just ended.
  private static func nextJob(
    _ state: Monitor<WorkQueue>, after finished: Asker?
  ) -> (Job, Asker)? {
    var finished = finished
    var isMoreToDo = false
    let next = state.wait { queue -> (Job, Asker)?? in
      if let asker = finished { queue.finish(asker) }
      finished = nil
      let next = queue.next()
      isMoreToDo = queue.canStart
      if let next { return .some(next) }
      return queue.isClosed && queue.isEmpty ? .some(nil) : nil
    }
    // The job that has ended may have made room for more than one, and no other thread would notice.
    if isMoreToDo { state.withLockNotifyingOne { _ in } }
    guard let job = next ?? nil else {
      // At the end: those who still wait see it too.
      state.withLockNotifyingAll { _ in }
      return nil
    }
    return job
  }
}
