internal import KVBase
internal import KVJSON
package import KVQuery

extension CollectionEngine {
  /// Changes members of the entities that match; gives how many matched and which were changed. Locally it
  /// is one transaction; a backend gets each entity whole, on the condition that it is still what was read. With
  /// `isConditional` that holds for what is queued, too: it never replaces what somebody else has changed.
  package func update(
    _ query: Query, _ update: EntityUpdate, isConditional: Bool = false, options: CallOptions,
    early: (UpdateResult) -> Void = { _ in }
  ) throws(StoreError) -> Answered<UpdateResult> {
    let policy = writePolicy(options)
    if policy == .forceNetwork {
      return Answered(
        try DirectWriter(self, options.call).update(query, update, options: options), isLocal: false
      )
    }
    let local = try localStore(for: "update locally")
    if policy != .forceLocal { _ = try writer() }
    let result = try local.update(query, update, isConditional: isConditional, in: collection)
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
