internal import KVBase
internal import KVJSON
package import KVQuery

extension CollectionEngine {
  /// How often an entity that others change at the same time is read and written anew.
  private static let maximumAttempts = 5

  /// Changes members of the entities that match; gives how many matched and which were changed. Locally it
  /// is one transaction; a backend gets each entity whole, on the condition that it is still what was read.
  package func update(
    _ query: Query, _ update: EntityUpdate, options: CallOptions,
    early: (UpdateResult) -> Void = { _ in }
  ) throws(StoreError) -> Answered<UpdateResult> {
    let policy = writePolicy(options)
    if policy == .forceNetwork {
      return Answered(try updateRemotely(query, update, options: options), isLocal: false)
    }
    let local = try localStore(for: "update locally")
    if policy != .forceLocal { _ = try writer() }
    let result = try local.update(query, update, in: collection)
    if policy == .forceLocal || result.modified.isEmpty { return Answered(result, isLocal: true) }
    if policy == .localThenNetwork { early(result) }
    do throws(StoreError) {
      let call = policy == .silentLocalThenNetwork ? options.impatient.call : options.call
      let push = try send(result.modified, call)
      if let error = push.errors.first { throw error }
      return Answered(result, isLocal: false)
    } catch {
      guard error.isOffline, policy == .silentLocalThenNetwork else { throw error }
      return Answered(result, isLocal: true)
    }
  }

  /// The local version of an entity. `.notFound` if it is not there.
  package func version(of id: String) throws(StoreError) -> Int64 {
    try Self.checked(id)
    let local = try localStore(for: "tell versions")
    guard let version = try local.version(of: id, in: collection) else { throw notFound(id) }
    return version
  }

  // MARK: Without a queue

  private func updateRemotely(
    _ query: Query, _ update: EntityUpdate, options: CallOptions
  ) throws(StoreError) -> UpdateResult {
    _ = try writer()
    var reading = options
    reading.readPolicy = .forceNetwork
    let cursor = try find(query, reading).value
    defer { cursor.close() }
    var result = UpdateResult()
    while let entity = try cursor.next({ [UInt8]($0) }) {
      result.matched += 1
      let id = try StoredEntity.id(of: entity, format)
      if try updateRemotely(entity, query, update: update, call: options.call) {
        result.modified.append(id)
      }
    }
    return result
  }

  /// Changes one entity of the backend; false if there is nothing to change. If somebody else was faster it
  /// is read again, as long as it matches.
  private func updateRemotely(
    _ entity: [UInt8], _ query: Query, update: EntityUpdate, call: Call
  ) throws(StoreError) -> Bool {
    let remote = try backend(for: "write to the network")
    var current = entity
    var attempts = 1
    while let changed = try update.applied(to: current, clock().milliseconds, format: format) {
      let condition = format.version(of: current).map { RemoteCondition.version($0) }
      do throws(StoreError) {
        try replaceRemotely(changed, condition ?? .none, remote: remote, call: call)
        return true
      } catch {
        guard error.kind == .conflict, attempts < Self.maximumAttempts else { throw error }
      }
      attempts += 1
      current = try remote.find(id: changed.id, in: collection, call: call)
      guard try matches(query, current) else { return false }
    }
    return false
  }

  private func replaceRemotely(
    _ entity: SavedEntity, _ condition: RemoteCondition, remote: LocalFilteringRemote,
    call: Call
  ) throws(StoreError) {
    try inFlight.sending([entity.id], call) { () throws(StoreError) in
      let queued = try queued([entity.id])
      let write = RemoteWrite.update(id: entity.id, entity.bytes, if: condition)
      let stored = try outcome(of: write, remote, call: call).storedEntity()
      _ = try accepted(stored, as: entity.id)
      try settle([stored], queued: queued)
    }
  }

  private func matches(_ query: Query, _ entity: [UInt8]) throws(StoreError) -> Bool {
    do throws(QueryError) { return try query.of(format).matcher?.matches(entity) ?? true } catch {
      throw StoreError(error)
    }
  }
}
