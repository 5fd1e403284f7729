internal import KVBase
internal import KVStorage
package import KVSync

extension Client {
  package func status() throws(StoreError) -> ClientStatus {
    var collections: [ClientStatus.Collection] = []
    for (tag, storage) in openStorages {
      collections += try statuses(storage, tag).map { .init($0, tag) }
    }
    return ClientStatus(
      isOnline: connectivity.isOnline, isSignedIn: isSignedIn,
      collections: collections,
      activities: events.running.map { .init(task: $0.task, progress: $0.progress) },
      follows: follows.statuses)
  }

  /// Whether there is a session that the backend has not refused.
  private var isSignedIn: Bool {
    guard let user = (try? session?.current()) ?? nil else { return false }
    return !events.wasRefused(user.token)
  }

  /// The collections that there is something of, and those of open stores, by name.
  private func statuses(
    _ storage: Storage, _ tag: String
  ) throws(StoreError) -> [CollectionStatus] {
    let known = try storage.collectionStatuses()
    let names = Set(known.map { RecordID($0.name) })
    let empty = openCollections(ofTag: tag).filter { !names.contains(RecordID($0)) }
    return known
      + empty.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map {
        CollectionStatus(name: $0)
      }
  }
}

extension Client {
  /// Runs `signal` whenever `status` may give something else: first at once, then at most four times a second.
  package func observeStatus(
    _ signal: @escaping @Sendable () -> Void
  ) throws(StoreError) -> StatusObserver {
    let observer = StatusObserver(statusObservers)
    try statusObservers.add(observer, signal)
    return observer
  }
}
