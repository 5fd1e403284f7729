internal import KVSync

/// An observation of a collection that may be synchronised in the background: each change says whether the collection was
/// read since that has started, and one comes when that is so, even if the result stays as it is.
///
/// `@unchecked Sendable`: one thread at a time, as `Observation` demands; `end` touches only what is safe from any.
final class SyncedObservation: Observation, @unchecked Sendable {
  private let base: any Observation
  private let collection: String
  private let synced: SyncedCollections
  private let listener: Int
  /// What was told last.
  private var told: (count: Int, isSynced: Bool)?

  init(
    _ base: any Observation, of collection: String, _ synced: SyncedCollections,
    signal: @escaping @Sendable () -> Void
  ) {
    self.base = base
    self.collection = collection
    self.synced = synced
    listener = synced.addListener(signal)
  }

  func changes() throws(StoreError) -> ResultChanges? {
    // Asked first: the result then has at least what was read before.
    let isSynced = synced.isSynced(collection)
    var changes = try base.changes()
    if changes == nil, let told, told.isSynced != isSynced {
      changes = ResultChanges()
      changes?.count = told.count
    }
    guard var changes else { return nil }
    changes.isSynced = isSynced
    told = (changes.count, isSynced)
    return changes
  }

  func startAnew() {
    told = nil
    base.startAnew()
  }

  func end() {
    synced.removeListener(listener)
    base.end()
  }
}
