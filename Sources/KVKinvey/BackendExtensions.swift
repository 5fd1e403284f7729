internal import KVBase
internal import KVTransport
internal import Synchronization

/// Records what the backend has shown that it can do beyond the protocol. Safe from any thread.
///
/// Only what an answer has shown counts: another backend would ignore a condition, and may take a batch for anything.
final class BackendExtensions: Sendable {
  private let conditions = Atomic(false)
  /// 0: none was announced; -1: it was, and then refused.
  private let batch = Atomic(0)

  /// Whether it keeps the conditions of writes. A backend that accepts batches does: each of their writes may have one.
  var keepsConditions: Bool { conditions.load(ordering: .relaxed) || maxBatchWrites > 1 }

  /// How many writes a batch may have; 1: batches are not supported.
  var maxBatchWrites: Int { max(1, batch.load(ordering: .relaxed)) }

  /// Records what the head of any answer shows.
  func observe(_ head: HTTPHead) {
    guard let text = head["X-Kvstored-Batch"], let count = Int(text), count > 1 else { return }
    _ = batch.compareExchange(expected: 0, desired: count, ordering: .relaxed)
  }

  /// Records what the head of an answer to a write shows: one that names the entity's revision is of a backend that compares it.
  func observe(write head: HTTPHead) {
    observe(head)
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
