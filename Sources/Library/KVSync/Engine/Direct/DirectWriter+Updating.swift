internal import KVBase
internal import KVJSON
internal import KVQuery

extension DirectWriter {
  /// Changes members of the entities that match, each on the condition that it is still what was read.
  func update(
    _ query: Query, _ update: EntityUpdate, options: CallOptions
  ) throws(StoreError) -> UpdateResult {
    var reading = options
    reading.readPolicy = .forceNetwork
    let cursor = try engine.find(query, reading).value
    defer { cursor.close() }
    var result = UpdateResult()
    while let entity = try cursor.next({ [UInt8]($0) }) {
      result.matched += 1
      let id = try StoredEntity.id(of: entity, format)
      if try self.update(entity, query, update: update) {
        result.modified.append(id)
      }
    }
    return result
  }

  /// Changes one entity of the backend; false if there is nothing to change, or it is gone. If others were faster it is read
  /// again, as long as it matches. A backend that merges may have kept its own values: then those are changed.
  private func update(
    _ entity: [UInt8], _ query: Query, update: EntityUpdate
  ) throws(StoreError) -> Bool {
    var current = entity
    var attempts = 1
    var next = try applied(update, to: current)
    while let changed = next {
      let condition = format.version(of: current).map { RemoteCondition.version($0) }
      let outcome: RemoteOutcome?
      do throws(StoreError) {
        outcome = try replace(changed, condition ?? .none)
      } catch {
        if error.kind == .notFound, !error.followsFailure, !error.wasCarriedOut { return false }
        guard error.kind == .conflict, attempts < Self.maxAttempts else { throw error }
        outcome = nil
      }
      attempts += 1
      if let outcome {
        guard case .merged(let stored, let followsFailure) = outcome,
          let left = try left(of: update, base: current, ours: changed, theirs: stored)
        else { return true }
        // What an earlier attempt has brought would be there twice.
        guard !followsFailure, attempts <= Self.maxAttempts else {
          throw .conflict(changed.id, isGone: false)
        }
        (current, next) = (stored, SavedEntity(id: changed.id, bytes: left))
      } else {
        let found = try engine.backendEntities([changed.id], remote, call: call)
        guard let entity = found[RecordID(changed.id)] else { return false }
        current = entity.bytes
        guard try matches(query, current) else { return false }
        next = try applied(update, to: current)
      }
    }
    return false
  }

  /// What a backend has not taken of an update, since it merged `ours`, which was made of `base`, with another version; nil: nothing.
  private func left(
    of update: EntityUpdate, base: [UInt8], ours: SavedEntity, theirs: [UInt8]
  ) throws(StoreError) -> [UInt8]? {
    try EntityMerge.left(
      of: try applied(update, to: theirs)?.bytes ?? theirs, base: base, ours: ours.bytes,
      theirs: theirs, format, call.mergeRules.appending(at: update.pushedPaths))
  }

  /// Nil: there is nothing to change.
  private func applied(
    _ update: EntityUpdate, to entity: [UInt8]
  ) throws(StoreError) -> SavedEntity? {
    try update.applied(to: entity, engine.clock().milliseconds, format: format)
  }

  private func replace(
    _ entity: SavedEntity, _ condition: RemoteCondition
  ) throws(StoreError) -> RemoteOutcome {
    try engine.sendGate.sending([entity.id], call) { () throws(StoreError) in
      // Queued operators are still to be carried out on it, and a version that the backend has lost is not part of it.
      let queued = try queued([entity.id]).filter {
        !$0.value.write.hasOperators && $0.value.write.lostVersion == nil
      }
      let write = RemoteWrite.update(id: entity.id, entity.bytes, if: condition)
      let outcome = try replaced(by: write, entity.id)
      let stored = try outcome.storedEntity()
      _ = try engine.arrivals.accepted(stored, as: entity.id)
      try settle([stored], queued: queued, replacesLost: false)
      return outcome
    }
  }

  private func replaced(by write: RemoteWrite, _ id: String) throws(StoreError) -> RemoteOutcome {
    do throws(StoreError) { return try outcome(of: write) } catch {
      guard error.kind == .conflict, let own = try ownOutcome(of: write, id, refused: error) else {
        throw error
      }
      return own
    }
  }

  private func matches(_ query: Query, _ entity: [UInt8]) throws(StoreError) -> Bool {
    do throws(QueryError) { return try query.of(format).matcher?.matches(entity) ?? true } catch {
      throw StoreError(error)
    }
  }
}
