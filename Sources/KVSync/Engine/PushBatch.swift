/// The writes that one request carries.
struct PushBatch {
  /// The bytes of one request at the most, unless a single entity has more.
  private static let mostBytes = 4 << 20
  /// A create that failed so often goes alone, lest it be what its batch fails on.
  private static let mostAttempts = 3

  let writes: [OutgoingWrite]

  init(_ writes: [OutgoingWrite]) { self.writes = writes }

  /// New entities together, everything else one by one. At most one request for an entity.
  static func batches(of outgoing: [OutgoingWrite]) -> [PushBatch] {
    var batches: [PushBatch] = []
    var open: [OutgoingWrite] = []
    var bytes = 0
    for sent in outgoing {
      guard sent.write.operation == .create, !isSuspect(sent.write) else {
        batches.append(PushBatch([sent]))
        continue
      }
      let size = sent.body?.count ?? 0
      if open.count == CollectionEngine.mostPerInsert || (!open.isEmpty && bytes + size > mostBytes)
      {
        batches.append(PushBatch(open))
        (open, bytes) = ([], 0)
      }
      open.append(sent)
      bytes += size
    }
    return open.isEmpty ? batches : batches + [PushBatch(open)]
  }

  private static func isSuspect(_ write: PendingWrite) -> Bool {
    write.lastError != nil || write.attempts > mostAttempts
  }

  var request: RemoteWrite {
    guard writes.count == 1, let only = writes.first else {
      return .createMany(writes.map { $0.body ?? [] })
    }
    return switch only.write.operation {
    case .create: .create(only.body ?? [])
    case .update: .update(id: only.write.id, only.body ?? [], if: only.condition)
    case .delete: .delete(id: only.write.id, if: only.condition)
    }
  }

  /// What came of each write: the backend's entity, nil after a deletion.
  func results(
    _ outcome: Result<RemoteOutcome, StoreError>
  ) -> [(OutgoingWrite, Result<[UInt8]?, StoreError>)] {
    switch outcome {
    case .failure(let error): return writes.map { ($0, .failure(error)) }
    case .success(.stored(let entity)) where writes.count == 1:
      return writes.map { ($0, .success(entity)) }
    case .success(.deleted) where writes.count == 1: return writes.map { ($0, .success(nil)) }
    case .success(.storedMany(let many)) where many.count == writes.count:
      return zip(writes, many).map { ($0, $1.map { $0 }) }
    case .success:
      let error = StoreError.badAnswer("The backend's answer does not fit what was sent.")
      return writes.map { ($0, .failure(error)) }
    }
  }
}
