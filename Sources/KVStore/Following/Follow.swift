internal import KVClient

/// A query that is kept in sync with the backend: `DataStore.follow` gives it.
///
///     let follow = try people.follow(\.age > 30)
///     for try await status in follow.statuses {
///       if case .offline(let error) = status.state { print("nobody answers:", error.message) }
///     }
///
/// It ends by `close`, when nobody has it or its `statuses` any more, when the task of a loop over these is cancelled, and
/// when the client is closed. What was saved and not sent stays pending.
public struct Follow: Sendable {
  /// How it stands, now and after each change, for one loop; nobody has to ask.
  public let statuses: States<FollowStatus>
  private let core: KVClient.Follow

  init(_ core: KVClient.Follow, _ statuses: States<FollowStatus>) {
    self.core = core
    self.statuses = statuses
  }

  /// How it stands now.
  public var status: FollowStatus { FollowStatus(core.status) }

  /// Ends it without waiting.
  public func close() { statuses.end() }
}
