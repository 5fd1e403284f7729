internal import KVBase
internal import KVTransport
internal import Synchronization

/// What the backend has shown that it can do beyond the protocol. Safe from any thread.
///
/// Only what an answer has shown counts: another backend would ignore a condition, and may take a batch for anything.
final class BackendExtensions: Sendable {
  private let conditions = Atomic(false)
  /// 0: none was announced; -1: it was, and then refused.
  private let batch = Atomic(0)

  /// Whether it keeps the conditions of writes. Whoever takes batches does: each of their writes may have one.
  var keepsConditions: Bool { conditions.load(ordering: .relaxed) || maxBatchWrites > 1 }

  /// How many writes a batch may have; 1: none is taken.
  var maxBatchWrites: Int { max(1, batch.load(ordering: .relaxed)) }

  /// Takes note of any answer.
  func note(_ head: HTTPHead) {
    guard let text = head["X-Kvstored-Batch"], let count = Int(text), count > 1 else { return }
    _ = batch.compareExchange(expected: 0, desired: count, ordering: .relaxed)
  }

  /// Takes note of the answer to a write: one that names the entity's revision is of a backend that compares it.
  func note(write head: HTTPHead) {
    note(head)
    if head.hasRevision { conditions.store(true, ordering: .relaxed) }
  }

  /// Batches were announced, and are refused all the same: perhaps by a proxy.
  func refusedBatch() { batch.store(-1, ordering: .relaxed) }
}

extension HTTPHead {
  /// Whether the answer names the entity's revision: its `_kmd.lmt`, as `If-Match` takes it. A tag of
  /// another kind is made by a server that knows nothing of conditional writes.
  fileprivate var hasRevision: Bool {
    guard let tag = self["ETag"], tag.utf8.first == UInt8(ascii: "\""), tag.utf8.count > 2 else {
      return false
    }
    return Timestamp(tag.dropFirst().dropLast()) != nil
  }
}
