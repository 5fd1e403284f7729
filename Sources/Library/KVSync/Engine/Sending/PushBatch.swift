internal import KVBase

/// The writes that one request carries.
struct PushBatch {
  /// The bytes of one request at the most, unless a single entity has more.
  private static let maxBytes = 4 << 20
  /// A write that failed so often goes alone, lest it be what its batch fails on.
  static let maxAttempts = 3

  let writes: [OutgoingWrite]

  init(_ writes: [OutgoingWrite]) { self.writes = writes }

  /// New entities together, and everything if the backend takes that; the rest, and those that must go `alone`, one by
  /// one. At most one request for an entity.
  static func batches(
    of outgoing: [OutgoingWrite], _ limits: RemoteLimits, alone: Set<RecordID> = []
  ) -> [PushBatch] {
    let isMixed = limits.writesPerBatch > 1
    // A batch of creates alone is one of these.
    let limit =
      isMixed ? min(limits.writesPerBatch, limits.createsPerRequest) : limits.createsPerRequest
    var batches: [PushBatch] = []
    var open: [OutgoingWrite] = []
    var bytes = 0
    for sent in outgoing {
      guard isMixed || sent.write.operation == .create, !isSuspect(sent.write),
        !alone.contains(RecordID(sent.write.id))
      else {
        batches.append(PushBatch([sent]))
        continue
      }
      let size = sent.carriedOut?.updates.utf8.count ?? sent.body?.count ?? 0
      if open.count == limit || (!open.isEmpty && bytes + size > maxBytes) {
        batches.append(PushBatch(open))
        (open, bytes) = ([], 0)
      }
      open.append(sent)
      bytes += size
    }
    return open.isEmpty ? batches : batches + [PushBatch(open)]
  }

  private static func isSuspect(_ write: PendingWrite) -> Bool {
    write.lastError != nil || write.attempts > maxAttempts
  }

  var request: RemoteWrite {
    if writes.count == 1 { return Self.request(writes[0]) }
    return writes.allSatisfy { $0.write.operation == .create }
      ? .createMany(writes.map { $0.body ?? [] }) : .batch(writes.map(Self.request))
  }

  private static func request(_ sent: OutgoingWrite) -> RemoteWrite {
    if let operators = sent.carriedOut {
      return .change(id: sent.write.id, Array(operators.updates.utf8))
    }
    return switch sent.write.operation {
    case .create: .create(sent.body ?? [])
    case .update:
      .update(id: sent.write.id, sent.body ?? [], if: sent.condition, base: sent.base)
    case .delete: .delete(id: sent.write.id, if: sent.condition)
    }
  }

  /// The outcome of each write.
  func results(
    _ outcome: Result<RemoteOutcome, StoreError>
  ) -> [(OutgoingWrite, Result<AcceptedWrite, StoreError>)] {
    switch outcome {
    case .failure(let error): return writes.map { ($0, .failure(error)) }
    case .success(.storedMany(let many)) where many.count == writes.count:
      return zip(writes, many).map { sent, result in
        (sent, result.map { AcceptedWrite(sent.write, stored: $0) })
      }
    case .success(.batch(let many)) where many.count == writes.count:
      return zip(writes, many).map { write, outcome in
        (write, outcome.flatMap { Self.result($0, of: write) })
      }
    case .success(let one) where writes.count == 1:
      return writes.map { ($0, Self.result(one, of: $0)) }
    case .success: return writes.map { ($0, .failure(.unexpected)) }
    }
  }

  /// A deletion that found nothing counts as done, unless it was made on a condition: then others may have
  /// deleted the entity first.
  private static func result(
    _ outcome: RemoteOutcome, of sent: OutgoingWrite
  ) -> Result<AcceptedWrite, StoreError> {
    switch outcome {
    case .stored(let entity):
      var accepted = AcceptedWrite(sent.write, stored: entity)
      accepted.operatorsToken = sent.operators?.token
      return .success(accepted)
    case .merged(let entity, let followsFailure):
      var accepted = AcceptedWrite(sent.write, stored: entity)
      (accepted.isMerged, accepted.followsFailure) = (true, followsFailure)
      return .success(accepted)
    case .deleted(0, _) where sent.write.isConditional && sent.condition != .none:
      return .failure(StoreError(.notFound, "There is no entity with this id on the backend."))
    case .deleted(_, let version):
      return .success(AcceptedWrite(sent.write, stored: nil, deletion: version))
    case .storedMany, .batch: return .failure(.unexpected)
    }
  }
}

extension StoreError {
  fileprivate static var unexpected: StoreError {
    .badAnswer("The backend's answer does not match the request.")
  }
}
