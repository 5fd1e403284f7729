internal import KVSync

/// The result of an update: see `DataStore.update`.
///
///     let result = try await people.update(\.age < 18, Update().increment(\.age, by: 1))
///     print(result.modified, "of", result.matched)
public struct UpdateResult: Sendable, Equatable {
  /// The number of entities that matched.
  public let matched: Int
  /// The number of entities that the update changed.
  public let modified: Int

  init(_ result: KVSync.UpdateResult) {
    matched = result.matched
    modified = result.modified.count
  }
}
