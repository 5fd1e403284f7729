internal import KVBase
internal import KVSync

/// Calls the application's conflict handler for threads of the library that wait for its decision.
final class ConflictAsker<Entity: Codable & Sendable>: EndableStream {
  typealias Decide = @Sendable (Conflict<Entity>) async -> ConflictDecision<Entity>

  private let decide: Monitor<Decide?>

  init(_ decide: @escaping Decide) { self.decide = Monitor(decide) }

  /// Releases the closure, which may hold the client.
  func end() { decide.withLock { $0 = nil } }

  func answer(_ conflict: KVSync.Conflict, _ call: Call) throws(StoreError) -> ConflictAnswer {
    guard let decide = decide.withLock({ $0 }), let question = try? Conflict<Entity>(conflict)
    else { return .leave }
    let decision = try call.result { await decide(question) }
    return try decision.answer(about: conflict.id)
  }
}

extension Call {
  /// Runs an asynchronous closure for a thread that may wait. It is cancelled when the call is cancelled or out of
  /// time.
  fileprivate func result<Value: Sendable>(
    of body: @escaping @Sendable () async -> Value
  ) throws(StoreError) -> Value {
    let result = Monitor<Value?>(nil)
    let task = Task {
      let value = await body()
      result.withLockNotifyingAll { $0 = value }
    }
    defer { task.cancel() }
    return try wait(on: result, timeout: "The conflict handler took too long.") { $0 }
  }
}
