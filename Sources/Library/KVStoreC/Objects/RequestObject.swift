internal import KVBase
internal import KVJSON
internal import KVSync

/// A running or finished operation. Safe from any thread.
final class RequestObject: HandleObject {
  static let kind = HandleKind.request

  private struct State {
    /// The final answer, once it is there.
    var answer: OperationResult?
  }

  let client: ClientObject
  let cancellation = Cancellation()
  let progress = Progress()
  private let state = Monitor(State())

  init(client: ClientObject) { self.client = client }

  /// The final answer is there: wakes who waits.
  func finish(_ answer: OperationResult) {
    state.withLockNotifyingAll { $0.answer = answer }
    client.questions.poke()
  }

  var isDone: Bool { state.withLock { $0.answer != nil } }

  /// Waits for the final answer. As text, a find's entities become an array, once and for all; else
  /// they stay where they are, for `takeEntities`.
  ///
  /// On a thread that callbacks run on, what the operation itself has to ask the host is asked meanwhile.
  func wait(until deadline: Deadline, asText: Bool) throws(StoreError) -> Outcome {
    if deadline.remainingSeconds > 0, client.callbacksRunHere {
      client.questions.help(until: deadline, { isDone }) { question in
        let call = Call(deadline: deadline, cancellation: cancellation)
        _ = client.callbacks.runInPlace(call) { question.run() }
      }
    }
    let outcome = state.wait(until: deadline) { state -> Result<Outcome, StoreError>? in
      guard let answer = state.answer else { return nil }
      guard asText, case .success(.entities(let cursor)) = answer.result else {
        return answer.result
      }
      let array = Result { () throws(StoreError) in Outcome.json(try cursor.array()) }
      state.answer?.result = array
      return array
    }
    guard let outcome else { throw StoreError(.timeout, "The request is still running.") }
    return try outcome.get()
  }

  /// Takes the results of a fetch, once.
  func takeResults() throws(StoreError) -> FetchedResults {
    try take("results") { outcome in
      if case .results(let results) = outcome { results } else { nil }
    }
  }

  /// Takes the entities of a find, once.
  func takeEntities() throws(StoreError) -> any EntityCursor {
    try take("entities") { outcome in
      if case .entities(let cursor) = outcome { cursor } else { nil }
    }
  }

  private func take<R>(
    _ name: StaticString, _ part: (Outcome) -> R?
  ) throws(StoreError) -> R {
    try state.withLock { (state) throws(StoreError) -> R in
      guard let answer = state.answer else {
        throw StoreError(.timeout, "The request is still running.")
      }
      guard let taken = part(try answer.result.get()) else {
        throw StoreError(.misuse, "The request has no \(name) to take.")
      }
      state.answer?.result = .success(.nothing)
      return taken
    }
  }
}

extension EntityCursor {
  /// All that is left as one JSON array. Closes the cursor.
  func array() throws(StoreError) -> [UInt8] {
    defer { close() }
    var array = JSONArrayWriter()
    while try next({ array.add(json: $0) }) != nil {}
    return array.finish()
  }
}
