internal import KVSync

/// What an update came to: see `DataStore.update`.
///
///     let result = try await people.update(\.age < 18, Update().increment(\.age, by: 1))
///     print(result.modified, "of", result.matched)
public struct UpdateResult: Sendable, Equatable {
  /// How many entities matched.
  public let matched: Int
  /// How many of them were changed; the others were as the update wants them already.
  public let modified: Int

  init(_ result: KVSync.UpdateResult) {
    matched = result.matched
    modified = result.modified.count
  }
}
