/// The local data of one tag: entities, pending writes, request bookkeeping. Safe from any thread.
///
/// Each call is one transaction unless its text says otherwise. Code that needs one of these jobs takes that one.
package protocol LocalStore: EntityStore, IndexAdmin, Observing, RefreshLog, Replica, ResultReader,
  Tombstones, UnqueuedLog, Outbox,
  OutboxAdmin
{}
