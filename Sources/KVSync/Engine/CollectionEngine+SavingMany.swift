internal import KVBase
package import KVJSON

extension CollectionEngine {
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
}
