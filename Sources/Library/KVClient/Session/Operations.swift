internal import KVBase
internal import KVSync

/// What runs on a client and may wait for the network: so that closing and logging out can stop it and
/// wait for its end. Safe from any thread.
final class Operations: Sendable {
  private struct State {
    var running: [ObjectIdentifier: Cancellation] = [:]
    /// An operation runs alone, or waits for that: nothing begins.
    var isExclusive = false
    var isClosed = false
    /// How often an operation ran alone.
    var turns = 0
  }

  private let state = Monitor(State())

  /// Runs an operation under a cancellation of its own, which also follows the caller's.
  ///
  /// Waits while an operation runs alone. Throws `.misuse` once the client is closed.
  func run<R>(
    _ cancellation: Cancellation, _ body: (Cancellation) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let own = Cancellation()
    let isOpen = state.wait { state -> Bool? in
      if state.isClosed { return false }
      if state.isExclusive { return nil }
      state.running[ObjectIdentifier(own)] = own
      return true
    }
    guard isOpen == true else { throw Self.closed }
    defer {
      state.withLockNotifyingAll { _ = $0.running.removeValue(forKey: ObjectIdentifier(own)) }
    }
    return try cancellation.notifying {
      own.cancel()
    } during: { () throws(StoreError) in
      try body(own)
    }
  }

  /// Leaves an operation for as long as `body` runs: no other operation waits for its end meanwhile. If it was to end,
  /// it is cancelled when it goes on.
  func suspended<R>(
    _ own: Cancellation, _ body: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let turns = state.withLockNotifyingAll { state in
      state.running[ObjectIdentifier(own)] = nil
      return state.turns
    }
    defer {
      let isOver = state.withLockNotifyingAll { state in
        state.running[ObjectIdentifier(own)] = own
        return state.isClosed || state.turns != turns
      }
      if isOver { own.cancel() }
    }
    return try body()
  }

  /// Cancels what runs, waits for its end, and runs `body` before anything else may begin.
  func exclusively<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    let isOpen = state.wait { state -> Bool? in
      if state.isClosed { return false }
      if state.isExclusive { return nil }
      state.isExclusive = true
      state.turns += 1
      return true
    }
    guard isOpen == true else { throw Self.closed }
    defer { state.withLockNotifyingAll { $0.isExclusive = false } }
    stop()
    return try body()
  }

  /// Cancels what runs, waits for its end, and lets nothing begin any more.
  func close() {
    state.withLockNotifyingAll { $0.isClosed = true }
    stop()
    _ = state.wait { $0.isExclusive ? nil : true }
  }

  private func stop() {
    for cancellation in state.withLock({ Array($0.running.values) }) { cancellation.cancel() }
    _ = state.wait { $0.running.isEmpty ? true : nil }
  }

  private static let closed = StoreError(.misuse, "The client is closed.")
}
