internal import KVClient
internal import KVSync

extension DataStore {
  /// Sends what waits to the backend, in order. What the backend refuses is in the result; only what stops the push is
  /// thrown, such as `.network`.
  @discardableResult
  public func push(options: CallOptions = CallOptions()) async throws(KVStoreError) -> PushResult {
    PushResult(
      try await performing(isLocal: false, options) { (core, run) throws(StoreError) in
        try core.push(run)
      })
  }

  /// Brings the local data up to date with what a query selects on the backend. Throws `.pending` while writes wait.
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

  /// A pull, and what the query selects here afterwards, entities that had not changed included. They are read a page at a time,
  /// while they are asked for.
  ///
  ///     for try await person in try await people.pullEntities(\.age > 30) { print(person.name) }
  public func pullEntities(
    _ query: Query<Entity> = Query(), options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> Entities<Entity> {
    try await pull(query, options: options)
    return find(query, options: options.local)
  }

  /// A push, and a pull if nothing is left to be pushed.
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

  /// A sync, and what the query selects here afterwards: also if there was no pull, because writes still wait.
  ///
  ///     let (result, everybody) = try await people.syncEntities()
  ///     for try await person in everybody { print(person.name, result.push.pushed) }
  public func syncEntities(
    _ query: Query<Entity> = Query(), options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> (result: SyncResult, entities: Entities<Entity>) {
    (try await sync(query, options: options), find(query, options: options.local))
  }

  /// Deletes what a query selects from the local data, and the writes of it that wait. How many entities. Nothing is said
  /// to the backend.
  @discardableResult
  public func clear(_ query: Query<Entity>? = nil) async throws(KVStoreError) -> Int {
    let query = try query?.built.get()
    return try await performing(isLocal: true) { (core, _) throws(StoreError) in
      try core.clear(query)
    }
  }
}

extension CallOptions {
  /// The same for what is read here only.
  fileprivate var local: CallOptions {
    var options = self
    options.readPolicy = .forceLocal
    return options
  }
}
