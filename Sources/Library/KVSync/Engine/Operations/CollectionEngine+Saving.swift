internal import KVBase
package import KVJSON
package import KVQuery

extension CollectionEngine {
  // MARK: One

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

  /// Throws `.unsupported` if the backend could not decide a condition when the write is sent.
  package func check(_ condition: WriteCondition) throws(StoreError) {
    guard case .matches(let query) = condition, let remote else { return }
    try remote.check(condition: query.filter, in: collection)
  }

  private func saveLocally(
    _ bytes: UnsafeRawBufferPointer, _ outline: EntityOutline, condition: WriteCondition,
    call: Call
  ) throws(StoreError) -> SavedEntity {
    try check(condition)
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

  /// Saves many entities: locally each as `save` would, all in one transaction. Past the queue they are inserted, as
  /// the backend's own clients do: one whose id is taken fails with `.conflict`.
  package func saveMany(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline],
    if condition: WriteCondition = .none, options: CallOptions,
    early: (SaveManyResult) -> Void = { _ in }
  ) throws(StoreError) -> Answered<SaveManyResult> {
    guard !outlines.isEmpty else {
      throw StoreError(.invalid, "There must be at least one entity to save.")
    }
    let policy = writePolicy(options)
    if policy == .forceNetwork {
      return Answered(
        try DirectWriter(self, options.call).insert(bytes, outlines, if: condition), isLocal: false)
    }
    let staysLocal = policy == .forceLocal
    let local = try localStore(for: "save locally")
    if !staysLocal { _ = try writer() }
    try check(condition)
    let saved = try local.save(
      bytes, outlines, known: options.call.known, if: condition, in: collection)
    let result = SaveManyResult(entities: saved.map(\.bytes), errors: [])
    if staysLocal { return Answered(result, isLocal: true) }
    if policy == .localThenNetwork { early(result) }
    let push: PushResult
    do throws(StoreError) {
      let call = policy == .silentLocalThenNetwork ? options.impatient.call : options.call
      push = try Pusher(self, call).send(saved.map(\.id))
    } catch {
      guard error.isOffline, policy == .silentLocalThenNetwork else { throw error }
      return Answered(result, isLocal: true)
    }
    return Answered(try merged(saved, push, local: local), isLocal: false)
  }

  /// The stored entities, and the errors with their indexes in the input. Of entities that came twice the
  /// last one was sent: what came of it holds for each.
  private func merged(
    _ saved: [SavedEntity], _ push: PushResult, local: any EntityReader
  ) throws(StoreError) -> SaveManyResult {
    let failures = Dictionary(
      push.errors.compactMap { error in error.id.map { (RecordID($0), error) } },
      uniquingKeysWith: { first, _ in first })
    var result = SaveManyResult(entities: [], errors: [])
    for (index, entity) in saved.enumerated() {
      if var error = failures[RecordID(entity.id)] {
        error.index = index
        result.entities.append(nil)
        result.errors.append(error)
      } else {
        let stored = try local.entity(entity.id, in: collection, writtenSince: nil)
        result.entities.append(stored ?? entity.bytes)
      }
    }
    return result
  }

  /// Changes members of the entities that match; gives how many matched and which were changed. Locally it
  /// is one transaction; a backend gets each entity whole, on the condition that it is still what was read. With
  /// `isConditional` that holds for what is queued, too: it never replaces what others have changed.
  package func update(
    _ query: Query, _ update: EntityUpdate, isConditional: Bool = false, options: CallOptions,
    early: (UpdateResult) -> Void = { _ in }
  ) throws(StoreError) -> Answered<UpdateResult> {
    let policy = writePolicy(options)
    let update = limited(update)
    if policy == .forceNetwork {
      return Answered(
        try DirectWriter(self, options.call).update(query, update, options: options), isLocal: false
      )
    }
    let local = try localStore(for: "update locally")
    if policy != .forceLocal { _ = try writer() }
    let result = try local.update(
      query, update, isConditional: isConditional, in: collection,
      writtenSince: writtenSince(options))
    if policy == .forceLocal || result.modified.isEmpty { return Answered(result, isLocal: true) }
    if policy == .localThenNetwork { early(result) }
    do throws(StoreError) {
      let call = policy == .silentLocalThenNetwork ? options.impatient.call : options.call
      let push = try Pusher(self, call).send(result.modified)
      if let error = push.errors.first { throw error }
      return Answered(result, isLocal: false)
    } catch {
      guard error.isOffline, policy == .silentLocalThenNetwork else { throw error }
      return Answered(result, isLocal: true)
    }
  }
}
