internal import KVSync

/// The result of a push: see `DataStore.push`.
///
///     let result = try await people.push()
///     for error in result.errors { print(error.id ?? "", error.message) }
public struct PushResult: Sendable, Equatable {
  /// The number of writes that the backend accepted.
  public let pushed: Int
  /// The errors of the other writes, each with the `id` of its entity.
  public let errors: [KVStoreError]
  /// The number of writes of the collection that are quarantined now.
  public let quarantined: Int
  /// The number of accepted writes that replaced a version unknown to this device, as far as the backend reports that.
  public let overwritten: Int
  /// The number of writes that were given up for what the backend has, as a whole or in part. `SyncEvent.discarded` has
  /// both versions.
  public let discarded: Int

  init(_ result: KVSync.PushResult) {
    pushed = result.pushed
    errors = result.errors.map(KVStoreError.init)
    quarantined = result.quarantined
    overwritten = result.overwritten
    discarded = result.discarded
  }
}

/// The result of a pull: see `DataStore.pull`.
///
///     let result = try await people.pull(\.age > 30)
///     print(result.pulled, "came,", result.removed, "went")
public struct PullResult: Sendable, Equatable {
  /// The number of entities that were received and stored.
  public let pulled: Int
  /// The number of entities that were removed from the local store because the backend no longer has them.
  public let removed: Int

  init(_ result: KVSync.PullResult) {
    pulled = result.pulled
    removed = result.removed
  }
}

/// The result of a sync: see `DataStore.sync`.
///
///     let result = try await people.sync()
///     if result.pull == nil { print("not sent:", result.push.errors) }
public struct SyncResult: Sendable, Equatable {
  /// The result of the push.
  public let push: PushResult
  /// The result of the pull. Nil if there was none, because writes are still waiting after the push.
  public let pull: PullResult?
}
