internal import KVBase
package import KVJSON
package import KVQuery

extension CollectionEngine {
  // MARK: Save

  /// Saves one entity: creates it if it has no id, else creates or replaces the one of that id.
  ///
  /// With the policy `localThenNetwork`, `early` receives the local result first. `condition`: of the local entity, and
  /// of the backend's where only that is written; see `conditioned`.
  package func save(
    _ bytes: UnsafeRawBufferPointer, _ outline: EntityOutline,
    if condition: WriteCondition = .none, options: CallOptions,
    early: ([UInt8]) -> Void = { _ in }
  ) throws(StoreError) -> Answered<[UInt8]> {
    switch writePolicy(options) {
    case .forceLocal:
      return Answered(
        try saveLocally(bytes, outline, condition: condition, call: options.call).bytes,
        isLocal: true)
    case .forceNetwork:
      return Answered(
        try saveRemotely(bytes, outline, condition: condition, call: options.call), isLocal: false)
    case .silentLocalThenNetwork:
      if remote == nil {
        return Answered(
          try saveLocally(bytes, outline, condition: condition, call: options.call).bytes,
          isLocal: true)
      }
      _ = try writer()
      let saved = try saveLocally(bytes, outline, condition: condition, call: options.call)
      do throws(StoreError) {
        return Answered(try sent(saved, options.impatient.call), isLocal: false)
      } catch {
        guard error.isOffline else { throw error }
        return Answered(saved.bytes, isLocal: true)
      }
    case .localThenNetwork:
      _ = try writer()
      let saved = try saveLocally(bytes, outline, condition: condition, call: options.call)
      early(saved.bytes)
      return Answered(try sent(saved, options.call), isLocal: false)
    }
  }

  private func saveLocally(
    _ bytes: UnsafeRawBufferPointer, _ outline: EntityOutline, condition: WriteCondition,
    call: Call
  ) throws(StoreError) -> SavedEntity {
    let local = try localStore(for: "save locally")
    let saved = try local.save(bytes, [outline], known: call.known, if: condition, in: collection)
    guard let entity = saved.first else {
      throw StoreError(.internal, "The local store lost an entity while saving.")
    }
    return entity
  }

  /// Sends the pending write of a saved entity; gives what is stored then.
  private func sent(_ saved: SavedEntity, _ call: Call) throws(StoreError) -> [UInt8] {
    let local = try localStore(for: "push")
    try sendOne(saved.id, call)
    return try local.entity(saved.id, in: collection, writtenSince: nil) ?? saved.bytes
  }

  /// Sends an entity without queuing it. A local copy is brought up to date; what was queued for the
  /// entity before is done with.
  private func saveRemotely(
    _ bytes: UnsafeRawBufferPointer, _ outline: EntityOutline, condition: WriteCondition,
    call: Call
  ) throws(StoreError) -> [UInt8] {
    let remote = try backend(for: "write to the network")
    _ = try writer()
    try format.checkIDs(of: [outline])
    let body = Array(bytes[outline.range])
    guard let id = outline.id else {
      if let failure = condition.failure(of: nil, nil) { throw failure }
      let stored = try outcome(of: .create(body), remote, call: call).storedEntity()
      _ = try accepted(stored, as: nil)
      try settle([stored], queued: [:])
      return stored
    }
    return try inFlight.sending([id], call) { () throws(StoreError) in
      let write = try conditioned(id, body, condition: condition, remote: remote, call: call)
      return try unqueued([(id, .entity(body))]) { () throws(StoreError) in
        let queued = try queued([id])
        let stored = try conditionalOutcome(of: write, id, remote: remote, call: call)
          .storedEntity()
        _ = try accepted(stored, as: id)
        try settle([stored], queued: queued)
        return stored
      }
    }
  }

  /// What is queued for these entities now.
  func queued(_ ids: some Sequence<String>) throws(StoreError) -> [RecordID: PendingWrite] {
    guard let local else { return [:] }
    var queued: [RecordID: PendingWrite] = [:]
    for id in ids { queued[RecordID(id)] = try local.pending(id, in: collection)?.write }
    return queued
  }

  /// What is queued for an entity now that a request past the queue was answered, as it was when that was
  /// sent: a write that was queued or changed since starts from what the backend has by now.
  private func answered(
    _ id: String, _ queued: [RecordID: PendingWrite], local: any Outbox
  ) throws(StoreError) -> PendingWrite? {
    if let write = queued[RecordID(id)] { return write }
    var since = try local.pending(id, in: collection)?.write
    since?.revision = 0
    return since
  }

  /// Brings the local copies up to date with what the backend has accepted past the queue. What was
  /// queued for them then is done with; what was queued since stays.
  func settle(_ stored: [[UInt8]], queued: [RecordID: PendingWrite]) throws(StoreError) {
    guard let local, !stored.isEmpty else { return }
    let array = stored.arrayText
    let outlines: [EntityOutline]
    do throws(JSONError) { outlines = try EntityScanner.outlines(ofArray: array, format) } catch {
      throw .badAnswer(error)
    }
    let indices = Dictionary(
      outlines.enumerated().map { (RecordID($0.element.id ?? ""), $0.offset) },
      uniquingKeysWith: { _, last in last })
    try inFlight.settlements.settling(indices.keys.map(\.text)) { () throws(StoreError) in
      var done: [(write: PendingWrite, stored: [UInt8]?)] = []
      for (id, index) in indices {
        if let write = try answered(id.text, queued, local: local) {
          done.append((write, stored[index]))
        }
      }
      if !done.isEmpty { try local.confirm(done) }
      let result = array.withUnsafeBytes { bytes in
        Result { () throws(StoreError) in try local.store(bytes, outlines, in: collection) }
      }
      _ = try result.get()
    }
  }

  /// Sends one request and waits for what came of it.
  func outcome(
    of write: RemoteWrite, _ remote: any Remote, call: Call
  ) throws(StoreError) -> RemoteOutcome {
    var result: Result<RemoteOutcome, StoreError> = .failure(
      StoreError(.internal, "A request ended without an outcome."))
    try sendCompleted([write], remote, call: call) { result = $1 }
    return try result.get()
  }

  // MARK: Remove

  /// Removes one entity; gives 1, or 0 if there was none.
  package func remove(
    id: String, if condition: WriteCondition = .none, options: CallOptions,
    early: (Int) -> Void = { _ in }
  ) throws(StoreError) -> Answered<Int> {
    try Self.checked(id)
    switch writePolicy(options) {
    case .forceLocal:
      let local = try localStore(for: "remove locally")
      return Answered(try local.remove(id, if: condition, in: collection), isLocal: true)
    case .forceNetwork:
      _ = try writer()
      return Answered(try removeRemotely(id, condition, call: options.call), isLocal: false)
    case .silentLocalThenNetwork, .localThenNetwork:
      return try removeBoth(id, condition, options: options, early)
    }
  }

  private func removeBoth(
    _ id: String, _ condition: WriteCondition, options: CallOptions, _ early: (Int) -> Void
  ) throws(StoreError) -> Answered<Int> {
    let isSilent = options.writePolicy == .silentLocalThenNetwork
    let local = try localStore(for: "remove locally")
    _ = try writer()
    let removed = try local.remove(id, if: condition, in: collection)
    if !isSilent { early(removed) }
    do throws(StoreError) {
      if try local.pending(id, in: collection) != nil {
        try sendOne(id, isSilent ? options.impatient.call : options.call)
      } else if removed == 0 {
        // Not here, but perhaps there.
        return Answered(try removeRemotely(id, .none, call: options.call), isLocal: false)
      }
      return Answered(removed, isLocal: false)
    } catch {
      // Without a queued deletion nothing of it would ever be sent: then being offline is a failure.
      guard isSilent, error.isOffline, removed > 0 else { throw error }
      return Answered(removed, isLocal: true)
    }
  }

  private func removeRemotely(
    _ id: String, _ condition: WriteCondition, call: Call
  ) throws(StoreError) -> Int {
    let remote = try backend(for: "write to the network")
    return try inFlight.sending([id], call) { () throws(StoreError) in
      let write = try conditioned(id, nil, condition: condition, remote: remote, call: call)
      return try unqueued([(id, .gone)]) { () throws(StoreError) in
        let queued = try queued([id])
        let count = try conditionalOutcome(of: write, id, remote: remote, call: call).deletedCount()
        if let local {
          try inFlight.settlements.settling([id]) { () throws(StoreError) in
            if var write = try answered(id, queued, local: local) {
              write.operation = .delete
              try local.confirm([(write, nil)])
            }
            _ = try local.forget([id], in: collection)
          }
        }
        return count
      }
    }
  }
}

extension RemoteOutcome {
  func storedEntity() throws(StoreError) -> [UInt8] {
    guard case .stored(let entity) = self else {
      throw StoreError.badAnswer("The backend answered something else than an entity.")
    }
    return entity
  }

  func deletedCount() throws(StoreError) -> Int {
    guard case .deleted(let count) = self else {
      throw StoreError.badAnswer("The backend answered something else than a count.")
    }
    return count
  }
}

extension StoreError {
  /// A query that cannot be understood, or not be carried out.
  package init(_ error: QueryError) {
    self.init(error.kind == .unsupported ? .unsupported : .invalid, error.message)
    position = error.position
    id = error.entity
  }
}
