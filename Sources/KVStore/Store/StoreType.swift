/// How a store meets an interrupted network: what it does when a call names no policy of its own.
///
///     let people = try client.store("people", of: Person.self, type: .auto)
public enum StoreType: String, Sendable, CaseIterable {
  /// Everything is local; `push`, `pull` and `sync` meet the backend. The type for a client without a backend, too.
  case sync
  /// Reads ask the backend, and the local data when it cannot be reached; writes are queued, then sent.
  case auto
  /// Reads and writes are local first, then the backend's.
  case cache
  /// Nothing is kept.
  case network
}
