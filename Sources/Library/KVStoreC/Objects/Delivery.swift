internal import CKVStore
internal import KVSync

/// Brings answers to the host's callback, in the shape of the header. One for each operation.
struct Delivery: Sendable {
  private let callback: AnswerCallback
  private let queue: CallbackQueue

  init(_ callback: AnswerCallback, on queue: CallbackQueue) {
    self.callback = callback
    self.queue = queue
  }

  /// Whether there is anything to call.
  var isWanted: Bool { callback.isWanted }

  /// Whether the entities of a find go to the callback, and not to who holds the request.
  var takesEntities: Bool { callback.function != nil }

  /// Queues an answer; after the final one, the context is freed.
  func deliver(_ answer: OperationResult) {
    guard isWanted, callback.function != nil || answer.isFinal else { return }
    let isQueued = queue.add { [callback] in
      Delivery.call(callback, with: answer)
      if answer.isFinal { callback.retire() }
    }
    // The queue closes after the last operation has ended; should that ever fail, the context is freed
    // all the same.
    if !isQueued, answer.isFinal { callback.retire() }
  }

  /// Calls the host. What the answer lends lives until it returns.
  private static func call(_ callback: AnswerCallback, with answer: OperationResult) {
    guard let done = callback.function else { return }
    var lent = kv_answer()
    lent.size = UInt32(MemoryLayout<kv_answer>.size)
    lent.status = answer.status
    lent.is_final = answer.isFinal ? 1 : 0
    lent.is_local = answer.isLocal ? 1 : 0
    func fail(_ error: StoreError) {
      lent.status = error.kind.code
      lend(error) {
        lent.error = $0
        done(callback.context, &lent)
      }
    }
    switch answer.result {
    case .failure(let error): fail(error)
    case .success(.entities(let cursor)):
      lend(CursorObject(cursor), as: .cursor) {
        lent.cursor = $0
        done(callback.context, &lent)
      }
    case .success(let outcome):
      do throws(StoreError) {
        try lend(outcome.text) {
          (lent.json, lent.length) = ($0.start, $0.length)
          done(callback.context, &lent)
        }
      } catch {
        fail(error)
      }
    }
  }
}
