internal import KVClient
internal import KVSync

extension KVStoreClient {
  /// Starts to synchronise in the background. Opening a store of the type `.synced` does this too.
  ///
  ///     let events = client.syncEvents()
  ///     try client.startSync()
  ///     for await event in events {
  ///       if case .background(.ready) = event { break }
  ///     }
  ///
  /// With a schema all models are synchronised, else the collections of `.synced` stores. Nothing happens if it has
  /// started. It never waits.
  public func startSync() throws(KVStoreError) {
    try KVStoreError.mapping { () throws(StoreError) in try core.startSync() }
  }

  /// Stops synchronising in the background. Local data and pending writes stay.
  ///
  ///     client.stopSync()
  public func stopSync() { core.stopSync() }

  /// Stops synchronising and deletes all local data, so that the next start reads everything.
  ///
  ///     try await client.clear()
  ///
  /// It throws `.pending`, and stops and deletes nothing, if there are pending writes, unless `discardingPending`.
  public func clear(discardingPending: Bool = false) async throws(KVStoreError) {
    try await perform(isLocal: true) { [core] (_) throws(StoreError) in
      try core.clear(discardingPending: discardingPending)
    }
  }

  /// Sets which entities of a collection are synchronised, by a filter in JSON. Nil: all. Others leave the local data,
  /// except for pending writes.
  ///
  ///     try client.setSyncExpression(#"{"state":"OPEN"}"#, of: "Task")
  public func setSyncExpression(
    _ filter: String?, of collection: String
  ) throws(KVStoreError) {
    try KVStoreError.mapping { () throws(StoreError) in
      try core.setSyncExpression(filter, of: collection)
    }
  }
}
