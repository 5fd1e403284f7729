internal import KVBase
internal import KVSync

/// One call of the host's function for conflicts that has a waiter. It runs once, on the thread that takes it
/// first; not at all if its waiter has gone.
final class ConflictQuestion: Sendable {
  private enum State: Sendable {
    case waiting, running, abandoned
    case answered(Result<ConflictAnswer, StoreError>)
  }

  private let state = Monitor(State.waiting)
  private let ask: @Sendable () -> Result<ConflictAnswer, StoreError>

  init(_ ask: @escaping @Sendable () -> Result<ConflictAnswer, StoreError>) { self.ask = ask }

  func run() {
    let isFirst = state.withLock { state -> Bool in
      guard case .waiting = state else { return false }
      state = .running
      return true
    }
    guard isFirst else { return }
    let answer = ask()
    state.withLockNotifyingAll { state in
      if case .running = state { state = .answered(answer) }
    }
  }

  /// The answer; throws `.cancelled` or `.timeout` once the call is: then it is not waited for any longer.
  func answer(_ call: Call) throws(StoreError) -> ConflictAnswer {
    defer { state.withLock { $0 = .abandoned } }
    let answer = try call.wait(on: state, timeout: "The conflict handler took too long.") { state in
      if case .answered(let answer) = state { answer } else { nil }
    }
    return try answer.get()
  }
}

/// The questions of a client that wait in its callback queue. Who waits for a request on the very thread
/// that callbacks run on would wait for ever for what comes after itself in the queue; so it helps.
final class ConflictQuestions: Sendable {
  private let waiting = Monitor<[ConflictQuestion]>([])

  /// Has a question for as long as `body` runs.
  func holding<R>(
    _ question: ConflictQuestion, _ body: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    waiting.withLockNotifyingAll { $0.append(question) }
    defer { waiting.withLockNotifyingAll { $0.removeAll { $0 === question } } }
    return try body()
  }

  /// Something that a helper waits for has changed.
  func poke() { waiting.withLockNotifyingAll { _ in } }

  /// Until `isDone`, or until the time is over, takes the questions that come to `run`.
  func help(until deadline: Deadline, _ isDone: () -> Bool, run: (ConflictQuestion) -> Void) {
    while true {
      let next = waiting.wait(until: deadline) { waiting -> ConflictQuestion?? in
        if isDone() { return .some(nil) }
        guard !waiting.isEmpty else { return nil }
        return waiting.removeFirst()
      }
      guard let question = next ?? nil else { return }
      run(question)
    }
  }
}
