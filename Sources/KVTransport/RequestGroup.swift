internal import KVBase

/// Exchanges that are under way together for one caller.
final class RequestGroup: Sendable {
  private struct State {
    var running: [Int: Exchange] = [:]
    /// Set once nothing more is to be started.
    var failure: TransportError?
  }

  private let state = Monitor(State())
  private let inbox = Arrivals()
  private let mailbox: CommandQueue
  private let deadline: Deadline

  init(_ mailbox: CommandQueue, _ deadline: Deadline) {
    self.mailbox = mailbox
    self.deadline = deadline
  }

  /// Starts one more, or ends it at once if the flight was stopped.
  func start(_ place: Int, _ request: HTTPRequest) {
    let collector = Collector(mostBytes: request.mostBytes, place: place, arrivals: inbox)
    let exchange = Exchange(request, sink: collector)
    let failure = state.withLock { state in
      if state.failure == nil { state.running[place] = exchange }
      return state.failure
    }
    if let failure { return collector.end(failure) }
    mailbox.begin(exchange)
  }

  /// Waits for what ends next. When the deadline passes, everything ends.
  func arrivals() -> [Arrivals.Arrival] {
    while true {
      if let arrivals = inbox.take(until: deadline) {
        state.withLock { state in
          for arrival in arrivals { state.running[arrival.place] = nil }
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
    for exchange in exchanges { mailbox.drop(exchange, with: failure) }
  }
}
