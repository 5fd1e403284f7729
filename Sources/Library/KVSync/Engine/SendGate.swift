internal import KVBase

/// The entities that are on their way to the backend, and the one push that may run.
///
/// Two requests for one entity never overlap: the backend could carry them out in the wrong order, and
/// what it holds at the end would be older than what the queue says was accepted. A deletion by query may
/// be a request for any entity.
package final class SendGate: Sendable {
  private struct State {
    var ids: Set<RecordID> = []
    /// How many requests for any entity wait or are on their way: what is for one entity goes after them.
    var exclusive = 0
    var isExclusive = false
    var isPushing = false
  }

  private let state = Monitor(State())
  /// What writes have settled while reads are under way.
  let fence = ReadWriteFence()
  /// Which records are kept here.
  let kept = KeptRecords()
  private let turn: (any SendingTurn)?

  /// `turn`: keeps other processes from sending meanwhile; nil: there are none.
  package init(turn: (any SendingTurn)? = nil) { self.turn = turn }

  /// Runs `body` once none of the ids is on its way; until it returns they are.
  ///
  /// Throws `.timeout` or `.cancelled` if that does not come to pass in time.
  package func sending<R>(
    _ ids: [String], _ call: Call, body: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let keys = ids.map(RecordID.init)
    try wait(call) { state in
      guard state.exclusive == 0, state.ids.isDisjoint(with: keys) else { return false }
      state.ids.formUnion(keys)
      return true
    }
    defer { state.withLockNotifyingAll { $0.ids.subtract(keys) } }
    return try takingTurn(call, body)
  }

  /// The same for a request that may change any entity of the collection: nothing else is on its way
  /// meanwhile.
  package func sendingAny<R>(
    _ call: Call, _ body: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    state.withLock { $0.exclusive += 1 }
    defer { state.withLockNotifyingAll { $0.exclusive -= 1 } }
    try wait(call) { state in
      guard state.ids.isEmpty, !state.isExclusive else { return false }
      state.isExclusive = true
      return true
    }
    defer { state.withLockNotifyingAll { $0.isExclusive = false } }
    return try takingTurn(call, body)
  }

  private func takingTurn<R>(
    _ call: Call, _ body: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    guard let turn else { return try body() }
    try turn.begin(call)
    defer { turn.end() }
    return try body()
  }

  /// Runs `body` once no other push runs.
  func pushing<R>(_ call: Call, _ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    try wait(call) { state in
      guard !state.isPushing else { return false }
      state.isPushing = true
      return true
    }
    defer { state.withLockNotifyingAll { $0.isPushing = false } }
    return try body()
  }

  private func wait(_ call: Call, for enter: (inout State) -> Bool) throws(StoreError) {
    try call.wait(on: state, timeout: "Another push of the collection took too long.") { state in
      enter(&state) ? () : nil
    }
  }
}

/// The right of one process among several to send what their common file has queued.
package protocol SendingTurn: AnyObject, Sendable {
  /// Waits for the turn. Threads that have it may be several. Throws `.timeout` or `.cancelled` if it does not come
  /// in time; `end` must follow otherwise.
  func begin(_ call: Call) throws(StoreError)
  func end()
}
