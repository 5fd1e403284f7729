internal import KVClient
internal import KVSync

extension DataStore {
  /// Sends the pending writes to the backend, in order. The result has the errors of refused writes. The call throws
  /// only errors that end the push, such as `.network`.
  @discardableResult
  public func push(options: CallOptions = CallOptions()) async throws(KVStoreError) -> PushResult {
    PushResult(
      try await performing(isLocal: false, options) { (core, run) throws(StoreError) in
        try core.push(run)
      })
  }

  /// Fetches the entities that a query selects from the backend into the local data. Throws `.pending` if writes are
  /// pending.
  @discardableResult
  public func pull(
    _ query: Query<Entity> = Query(), options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> PullResult {
    let query = try query.built.get()
    return PullResult(
      try await performing(isLocal: false, options) { (core, run) throws(StoreError) in
        try core.pull(query, run)
      })
  }

  /// Pulls, and then finds the matching entities in the local data, including unchanged ones. They are read in pages
  /// while the loop runs.
  ///
  ///     for try await person in try await people.pullEntities(\.age > 30) { print(person.name) }
  public func pullEntities(
    _ query: Query<Entity> = Query(), options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> Entities<Entity> {
    try await pull(query, options: options)
    return find(query, options: options.local)
  }

  /// Pushes, and pulls if no write is left waiting.
  @discardableResult
  public func sync(
    _ query: Query<Entity> = Query(), options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> SyncResult {
    let query = try query.built.get()
    let result = try await performing(isLocal: false, options) { (core, run) throws(StoreError) in
      try core.sync(query, run)
    }
    return SyncResult(push: PushResult(result.push), pull: result.pull.map(PullResult.init))
  }

  /// Syncs, and then finds the matching entities in the local data, even if the pull was left out because writes are
  /// still waiting.
  ///
  ///     let (result, everybody) = try await people.syncEntities()
  ///     for try await person in everybody { print(person.name, result.push.pushed) }
  public func syncEntities(
    _ query: Query<Entity> = Query(), options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> (result: SyncResult, entities: Entities<Entity>) {
    (try await sync(query, options: options), find(query, options: options.local))
  }

  /// Deletes the entities that a query selects, and their pending writes, from the local data only. Returns the number
  /// of entities.
  @discardableResult
  public func clear(_ query: Query<Entity>? = nil) async throws(KVStoreError) -> Int {
    let query = try query?.built.get()
    return try await performing(isLocal: true) { (core, _) throws(StoreError) in
      try core.clear(query)
    }
  }
}

extension CallOptions {
  /// The options of a call that uses only local data.
  fileprivate var local: CallOptions {
    var options = self
    options.readPolicy = .forceLocal
    return options
  }
}
