/// Where a store reads and writes, unless a call has its own policy.
///
///     let people = try client.store("people", of: Person.self, type: .auto)
public enum StoreType: String, Sendable, CaseIterable {
  /// Everything is local. `push`, `pull` and `sync` use the network. It is also the type for a client without a
  /// backend.
  case sync
  /// Everything is local, and kept in step with the backend in the background: see `KVStoreClient.startSync`.
  case synced
  /// Reads ask the backend, and use the local data when it cannot be reached. Writes are queued and then sent.
  case auto
  /// Reads and writes use the local data first and then the backend.
  case cache
  /// There is no local data.
  case network
}
