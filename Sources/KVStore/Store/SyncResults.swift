internal import KVSync

/// What came of a push: see `DataStore.push`.
///
///     let result = try await people.push()
///     for error in result.errors { print(error.id ?? "", error.message) }
public struct PushResult: Sendable, Equatable {
  /// How many writes the backend accepted.
  public let pushed: Int
  /// Of the others, each with the `id` of its entity.
  public let errors: [KVStoreError]
  /// How many writes of the collection are quarantined now.
  public let quarantined: Int
  /// How many accepted writes have replaced a version that was not seen here, as far as the backend lets it be known.
  public let overwritten: Int

  init(_ result: KVSync.PushResult) {
    pushed = result.pushed
    errors = result.errors.map(KVStoreError.init)
    quarantined = result.quarantined
    overwritten = result.overwritten
  }
}

/// What came of a pull: see `DataStore.pull`.
///
///     let result = try await people.pull(\.age > 30)
///     print(result.pulled, "came,", result.removed, "went")
public struct PullResult: Sendable, Equatable {
  /// Entities that the backend sent and that were stored.
  public let pulled: Int
  /// Entities that the backend no longer has, and that left the local store.
  public let removed: Int

  init(_ result: KVSync.PullResult) {
    pulled = result.pulled
    removed = result.removed
  }
}

/// What came of a sync: see `DataStore.sync`.
///
///     let result = try await people.sync()
///     if result.pull == nil { print("not sent:", result.push.errors) }
public struct SyncResult: Sendable, Equatable {
  public let push: PushResult
  /// Nil if the push has left writes that wait.
  public let pull: PullResult?
}
