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
  /// again, as long as it matches.
  private func update(
    _ entity: [UInt8], _ query: Query, update: EntityUpdate
  ) throws(StoreError) -> Bool {
    var current = entity
    var attempts = 1
    while let changed = try update.applied(to: current, engine.clock().milliseconds, format: format)
    {
      let condition = format.version(of: current).map { RemoteCondition.version($0) }
      do throws(StoreError) {
        try replace(changed, condition ?? .none)
        return true
      } catch {
        if error.kind == .notFound, !error.followsFailure, !error.wasCarriedOut { return false }
        guard error.kind == .conflict, attempts < Self.maxAttempts else { throw error }
      }
      attempts += 1
      let found = try engine.backendEntities([changed.id], remote, call: call)
      guard let entity = found[RecordID(changed.id)] else { return false }
      current = entity.bytes
      guard try matches(query, current) else { return false }
    }
    return false
  }

  private func replace(
    _ entity: SavedEntity, _ condition: RemoteCondition
  ) throws(StoreError) {
    try engine.sendGate.sending([entity.id], call) { () throws(StoreError) in
      // Queued operators are still to be carried out on it, and a version that the backend has lost is not part of it.
      let queued = try queued([entity.id]).filter {
        !$0.value.write.hasOperators && $0.value.write.lostVersion == nil
      }
      let write = RemoteWrite.update(id: entity.id, entity.bytes, if: condition)
      let stored = try replaced(by: write, entity.id).storedEntity()
      _ = try engine.arrivals.accepted(stored, as: entity.id)
      try settle([stored], queued: queued, replacesLost: false)
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
