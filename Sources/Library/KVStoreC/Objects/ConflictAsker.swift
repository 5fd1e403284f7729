internal import CKVStore
internal import Glibc
internal import KVBase
internal import KVClient
internal import KVJSON
internal import KVSync

/// The host's function that decides conflicts, as the engine asks it. Safe from any thread.
///
/// Where it runs, by who waits for its answer:
///
/// 1. a callback of this client that pushes: there, inside of it;
/// 2. another thread of the host's in a blocking call on a pumped client: there, in the place of a
///    dispatch, for there may be no other thread that dispatches;
/// 3. any other thread: in the client's callback queue, or in the place of a thread that callbacks run on and that
///    waits for a request: see `ConflictQuestions`. Who waits stops waiting when the call is cancelled or out
///    of time, so that a callback may close the client, or end the session, that the push belongs to.
///
/// In the first two cases the call steps outside of its client while the host's function runs: what waits
/// for the client's calls to end must not wait for the one that it is called from.
final class ConflictAsker: Sendable {
  private let callback: ConflictCallback
  private weak let client: ClientObject?

  init(_ callback: ConflictCallback, client: ClientObject) {
    self.callback = callback
    self.client = client
  }

  /// Frees the host's context, once no store asks any more.
  deinit {
    let callback = self.callback
    if let client, client.callbacks.add({ callback.retire() }) { return }
    callback.retire()
  }

  func answer(
    _ conflict: Conflict, _ call: Call, of store: DataStore
  ) throws(StoreError) -> ConflictAnswer {
    guard let client else { return .leave }
    if client.callbacksRunHere { return try answerHere(conflict, call, of: store, client) }
    return try answerInQueue(conflict, call, client)
  }

  private func answerHere(
    _ conflict: Conflict, _ call: Call, of store: DataStore, _ client: ClientObject
  ) throws(StoreError) -> ConflictAnswer {
    let answer = try store.suspended(call) { () throws(StoreError) in
      try client.suspended { () throws(StoreError) in
        client.callbacks.runInPlace(call) { ask(conflict) }
      }
    }
    // The client was closed, or the session ended, meanwhile: nothing of ours goes on then.
    guard let answer, !call.cancellation.isCancelled else {
      throw StoreError(.cancelled, "The call was cancelled.")
    }
    return try answer.get()
  }

  private func answerInQueue(
    _ conflict: Conflict, _ call: Call, _ client: ClientObject
  ) throws(StoreError) -> ConflictAnswer {
    let question = ConflictQuestion { [self] in ask(conflict) }
    guard client.callbacks.add({ question.run() }) else {
      throw StoreError(.cancelled, "The client is closed.")
    }
    return try client.questions.holding(question) { () throws(StoreError) in
      try question.answer(call)
    }
  }

  // MARK: Calling the host

  /// Calls the host. What the conflict lends lives until it returns.
  private func ask(_ conflict: Conflict) -> Result<ConflictAnswer, StoreError> {
    var merged: UnsafeMutablePointer<CChar>?
    let decision: Int32
    do throws(StoreError) { decision = try decide(conflict, &merged) } catch {
      return .failure(error)
    }
    defer { free(merged) }
    switch decision {
    case numericCast(KV_CONFLICT_LEAVE): return .success(.leave)
    case numericCast(KV_CONFLICT_KEEP): return .success(.keep)
    case numericCast(KV_CONFLICT_TAKE): return .success(.take)
    case numericCast(KV_CONFLICT_DELETE): return .success(.delete)
    case numericCast(KV_CONFLICT_MERGED):
      guard let merged else {
        return .failure(StoreError(.invalid, "The conflict handler returned no merged entity."))
      }
      return Self.merged(UnsafeRawBufferPointer(start: merged, count: strlen(merged)))
    default:
      return .failure(StoreError(.invalid, "The conflict handler returned an unknown decision."))
    }
  }

  private static func merged(_ text: UnsafeRawBufferPointer) -> Result<ConflictAnswer, StoreError> {
    do throws(StoreError) {
      return .success(.merged(try [UInt8](text, or: StoreError.noMemory)))
    } catch {
      return .failure(error)
    }
  }

  private func decide(
    _ conflict: Conflict, _ merged: inout UnsafeMutablePointer<CChar>?
  ) throws(StoreError) -> Int32 {
    try Self.lend(
      Array(conflict.id.utf8), conflict.base, conflict.local, conflict.remote
    ) {
      id, base, local, remote in
      var lent = kv_conflict()
      lent.size = UInt32(MemoryLayout<kv_conflict>.size)
      lent.id = id.start
      (lent.base, lent.base_length) = (base.start, base.length)
      (lent.local, lent.local_length) = (local.start, local.length)
      (lent.remote, lent.remote_length) = (remote.start, remote.length)
      return callback.function(callback.context, &lent, &merged)
    }
  }

  /// Lends texts as C strings; nil as NULL.
  private static func lend<R>(
    _ id: [UInt8], _ base: [UInt8]?, _ local: [UInt8]?, _ remote: [UInt8]?,
    _ body: (LentText, LentText, LentText, LentText) -> R
  ) throws(StoreError) -> R {
    try KVStoreC.lend(id) { (id) throws(StoreError) in
      try KVStoreC.lend(base) { (base) throws(StoreError) in
        try KVStoreC.lend(local) { (local) throws(StoreError) in
          try KVStoreC.lend(remote) { body(id, base, local, $0) }
        }
      }
    }
  }
}
