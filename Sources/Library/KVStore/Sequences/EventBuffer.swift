internal import KVBase

/// A buffer of events between the library's threads and one reader. Safe from any thread.
///
/// At most `limit` events wait. Further ones are dropped, and the reader receives `missed`, if that is given, after
/// those that wait. Cancelling the reader's task ends the buffer.
final class EventBuffer<Event: Sendable>: EndableStream {
  private struct State {
    var waiting = FIFO<Event>()
    var reader: CheckedContinuation<Event?, Never>?
    var isEnded = false
    /// Whether events were dropped and the reader has not received `missed` yet.
    var isBehind = false
    /// Stops the sender.
    var onEnd: (@Sendable () -> Void)?
  }

  private let limit: Int
  private let missed: Event?
  private let state = Monitor(State())

  init(limit: Int = 1024, missed: Event? = nil) {
    self.limit = limit
    self.missed = missed
  }

  deinit { end() }

  /// Sets the closure that stops the sender. It is called once, and immediately if the buffer has ended.
  func onEnd(_ stop: @escaping @Sendable () -> Void) {
    let isTooLate = state.withLock { state in
      if !state.isEnded { state.onEnd = stop }
      return state.isEnded
    }
    if isTooLate { stop() }
  }

  /// Adds an event. `isLast`: no event follows.
  func send(_ event: Event, isLast: Bool = false) {
    defer { if isLast { end() } }
    let reader = state.withLock { state -> CheckedContinuation<Event?, Never>? in
      guard !state.isEnded else { return nil }
      if let reader = state.reader {
        state.reader = nil
        return reader
      }
      add(event, to: &state)
      return nil
    }
    reader?.resume(returning: event)
  }

  private func add(_ event: Event, to state: inout State) {
    guard !state.isBehind else { return }
    state.isBehind = state.waiting.count >= limit
    if !state.isBehind {
      state.waiting.append(event)
    } else if let missed {
      state.waiting.append(missed)
    }
  }

  /// Returns the next event; nil after the last one or if the task is cancelled. One reader at a time.
  func next() async -> Event? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let now = state.withLock { state -> Event?? in
          if let event = state.waiting.popFirst() {
            if state.waiting.count < limit { state.isBehind = false }
            return .some(event)
          }
          if state.isEnded || state.reader != nil { return .some(nil) }
          state.reader = continuation
          return nil
        }
        if let now { continuation.resume(returning: now) }
      }
    } onCancel: {
      state.withLock { $0.waiting = FIFO() }
      end()
    }
  }

  func end() {
    let (reader, stop) = state.withLock { state in
      state.isEnded = true
      defer { (state.reader, state.onEnd) = (nil, nil) }
      return (state.reader, state.onEnd)
    }
    stop?()
    reader?.resume(returning: nil)
  }
}
