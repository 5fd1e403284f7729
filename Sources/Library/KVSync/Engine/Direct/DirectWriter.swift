internal import KVBase
internal import KVJSON

/// Writes past the queue, for one call: the backend's entity is what they are about. A local copy is brought up to date,
/// and what was queued for an entity before is done with.
struct DirectWriter {
  let engine: CollectionEngine
  let remote: LocalFilteringRemote
  let call: Call
  private let answeredData = AnsweredData()

  /// Throws if there is no backend, or no user may write to it.
  init(_ engine: CollectionEngine, _ call: Call) throws(StoreError) {
    self.engine = engine
    var call = call
    call.answered = answeredData.hear
    self.call = call
    remote = try engine.backend(for: "write to the network")
    _ = try engine.writer()
  }

  var collection: String { engine.collection }
  var format: RecordFormat { engine.format }
  /// Nil for a network store.
  var local: (any LocalStore)? { engine.local }

  /// Sends an entity without queuing it. A local copy is brought up to date; what was queued for the
  /// entity before is done with.
  func save(
    _ bytes: UnsafeRawBufferPointer, _ outline: EntityOutline, if condition: WriteCondition
  ) throws(StoreError) -> [UInt8] {
    try format.checkIDs(of: [outline])
    let body = try [UInt8](bytes[outline.range], or: StoreError.noMemory)
    guard let id = outline.id else {
      if let failure = condition.failure(of: nil, nil) { throw failure }
      let stored = try outcome(of: .create(body)).storedEntity()
      _ = try engine.arrivals.accepted(stored, as: nil)
      try settle([stored], queued: [:])
      return stored
    }
    return try engine.sendGate.sending([id], call) { () throws(StoreError) in
      let write = try conditioned(id, body, condition: condition)
      return try unqueued([(id, .entity(body))]) { () throws(StoreError) in
        let queued = try queued([id])
        let stored = try conditionalOutcome(of: write, id)
          .storedEntity()
        _ = try engine.arrivals.accepted(stored, as: id)
        try settle([stored], queued: queued)
        return stored
      }
    }
  }

  /// Removes an entity without queuing it; gives 1, or 0 if the backend had none.
  func remove(_ id: String, if condition: WriteCondition) throws(StoreError) -> Int {
    return try engine.sendGate.sending([id], call) { () throws(StoreError) in
      let write = try conditioned(id, nil, condition: condition)
      return try unqueued([(id, .gone)]) { () throws(StoreError) in
        let queued = try queued([id])
        let (count, version) = try conditionalOutcome(of: write, id).deletion()
        if let local {
          try engine.sendGate.fence.settling([id]) { () throws(StoreError) in
            try answeredData.note(in: local, collection)
            if var before = try answered(id, queued, replacesLost: true, local: local) {
              before.write.operation = .delete
              try local.confirm([AcceptedWrite(before.write, stored: nil, deletion: version)])
              tellOverwritten([before])
            }
            _ = try local.forget([id], in: collection, at: version)
            try local.noteDeletions([id], in: collection)
          }
        }
        return count
      }
    }
  }

  /// Sends one request and waits for what came of it.
  func outcome(
    of write: RemoteWrite
  ) throws(StoreError) -> RemoteOutcome {
    var result: Result<RemoteOutcome, StoreError> = .failure(
      StoreError(.internal, "A request ended without an outcome."))
    try sendCompleted([write]) { result = $1 }
    return try result.get()
  }

  // MARK: What was queued before

  /// The queued writes of these entities.
  func queued(_ ids: some Sequence<String>) throws(StoreError) -> [RecordID: PendingDetail] {
    guard let local else { return [:] }
    var queued: [RecordID: PendingDetail] = [:]
    for id in ids { queued[RecordID(id)] = try local.pending(id, in: collection) }
    return queued
  }

  /// The queued write of an entity after a direct request was answered, if it is the one from before the request: a write
  /// that was queued or changed since starts from what the backend has by now. With `replacesLost` a version that the
  /// backend has lost, as was noticed meanwhile, is done with: the program has written over it.
  private func answered(
    _ id: String, _ queued: [RecordID: PendingDetail], replacesLost: Bool, local: any Outbox
  ) throws(StoreError) -> PendingDetail? {
    if let before = queued[RecordID(id)] { return before }
    guard var since = try local.pending(id, in: collection) else { return nil }
    if !replacesLost || since.write.lostVersion == nil { since.write.revision = 0 }
    return since
  }

  /// Tells what earlier requests of the queue, which had no answer, may have replaced unseen: there is no push any more that would.
  private func tellOverwritten(_ done: [PendingDetail]) {
    for write in done {
      if let replaced = write.replaced { call.overwritten(write.write.id, replaced.bytes) }
    }
  }

  /// Brings the local copies up to date with what the backend has accepted past the queue. What was
  /// queued for them then is done with; what was queued since stays. `replacesLost`: see `answered`.
  func settle(
    _ stored: [[UInt8]], queued: [RecordID: PendingDetail], replacesLost: Bool = true
  ) throws(StoreError) {
    guard let local, !stored.isEmpty else { return }
    let array = try stored.jsonArray(or: StoreError.noMemory)
    let outlines: [EntityOutline]
    do throws(JSONError) { outlines = try EntityScanner.outlines(ofArray: array, format) } catch {
      throw .badAnswer(error)
    }
    let indices = Dictionary(
      outlines.enumerated().map { (RecordID($0.element.id ?? ""), $0.offset) },
      uniquingKeysWith: { _, last in last })
    try engine.sendGate.fence.settling(indices.keys.map(\.text)) { () throws(StoreError) in
      try answeredData.note(in: local, collection)
      var (done, before): ([AcceptedWrite], [PendingDetail]) = ([], [])
      for (id, index) in indices {
        let detail = try answered(id.text, queued, replacesLost: replacesLost, local: local)
        if let detail {
          done.append(AcceptedWrite(detail.write, stored: stored[index]))
          before.append(detail)
        }
      }
      if !done.isEmpty { try local.confirm(done) }
      tellOverwritten(before)
      let result = array.withUnsafeBytes { bytes in
        Result { () throws(StoreError) in try local.store(bytes, outlines, in: collection) }
      }
      _ = try result.get()
    }
    engine.releaseUnkept(indices.keys.map(\.text))
  }
}

extension RemoteOutcome {
  func storedEntity() throws(StoreError) -> [UInt8] {
    switch self {
    case .stored(let entity), .merged(let entity, _): return entity
    case .storedMany, .deleted, .batch:
      throw StoreError.badAnswer("The backend's answer is not an entity.")
    }
  }

  fileprivate func deletion() throws(StoreError) -> (count: Int, version: RecordVersion?) {
    guard case .deleted(let count, let version) = self else {
      throw StoreError.badAnswer("The backend's answer is not a count.")
    }
    return (count, version)
  }
}
