internal import KVBase

/// Exchanges that are under way together for one caller.
final class RequestGroup: Sendable {
  private struct State {
    var running: [Int: Exchange] = [:]
    /// Set once nothing more is to be started.
    var failure: TransportError?
  }

  private let state = Monitor(State())
  private let finished = Arrivals()
  private let queue: CommandQueue
  private let deadline: Deadline

  init(_ queue: CommandQueue, _ deadline: Deadline) {
    self.queue = queue
    self.deadline = deadline
  }

  /// Starts one more, or ends it at once if the group was stopped.
  func start(_ index: Int, _ request: HTTPRequest) {
    let collector = Collector(maxBytes: request.maxBytes, index: index, arrivals: finished)
    let exchange = Exchange(request, sink: collector, until: deadline)
    let failure = state.withLock { state in
      if state.failure == nil { state.running[index] = exchange }
      return state.failure
    }
    if let failure { return collector.end(failure) }
    queue.begin(exchange)
  }

  /// Waits for what ends next. When the deadline passes, everything ends.
  func arrivals() -> [Arrivals.Arrival] {
    while true {
      if let arrivals = finished.next(until: deadline) {
        state.withLock { state in
          for arrival in arrivals { state.running[arrival.index] = nil }
        }
        if arrivals.contains(where: { (try? $0.result.get().head.isSuccess) == true }) {
          deadline.noteProgress()
        }
        return arrivals
      }
      stop(with: .timedOut)
    }
  }

  /// Ends what is running, and what will be started. From any thread.
  func stop(with failure: TransportError) {
    let exchanges = state.withLock { state in
      if state.failure == nil { state.failure = failure }
      defer { state.running = [:] }
      return Array(state.running.values)
    }
    for exchange in exchanges { queue.drop(exchange, with: failure) }
  }
}
