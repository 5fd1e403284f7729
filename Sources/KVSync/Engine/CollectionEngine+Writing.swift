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
        try DirectWriter(self, options.call).save(bytes, outline, if: condition), isLocal: false)
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
    try Pusher(self, call).sendOne(saved.id)
    return try local.entity(saved.id, in: collection, writtenSince: nil) ?? saved.bytes
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
      return Answered(
        try DirectWriter(self, options.call).remove(id, if: condition), isLocal: false)
    case .silentLocalThenNetwork, .localThenNetwork:
      return try removeBoth(id, if: condition, options: options, early: early)
    }
  }

  private func removeBoth(
    _ id: String, if condition: WriteCondition, options: CallOptions, early: (Int) -> Void
  ) throws(StoreError) -> Answered<Int> {
    let isSilent = options.writePolicy == .silentLocalThenNetwork
    let local = try localStore(for: "remove locally")
    _ = try writer()
    let removed = try local.remove(id, if: condition, in: collection)
    if !isSilent { early(removed) }
    do throws(StoreError) {
      if try local.pending(id, in: collection) != nil {
        try Pusher(self, isSilent ? options.impatient.call : options.call).sendOne(id)
      } else if removed == 0 {
        // Not here, but perhaps there.
        return Answered(try DirectWriter(self, options.call).remove(id, if: .none), isLocal: false)
      }
      return Answered(removed, isLocal: false)
    } catch {
      // Without a queued deletion nothing of it would ever be sent: then being offline is a failure.
      guard isSilent, error.isOffline, removed > 0 else { throw error }
      return Answered(removed, isLocal: true)
    }
  }

}

extension StoreError {
  /// A query that cannot be understood, or not be carried out.
  package init(_ error: QueryError) {
    let kind: Kind =
      switch error.kind {
      case .unsupported: .unsupported
      case .noMemory: .storage
      case .json, .syntax, .budget, .exhausted: .invalid
      }
    self.init(kind, error.message)
    position = error.position
    id = error.entity
  }
}
