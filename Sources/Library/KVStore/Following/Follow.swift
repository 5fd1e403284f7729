internal import KVClient

/// A query that is kept in sync with the backend: see `DataStore.follow`.
///
///     let follow = try people.follow(\.age > 30)
///     for try await status in follow.statuses {
///       if case .offline(let error) = status.state { print("no answer:", error.message) }
///     }
///
/// It ends with `close`, when it and its `statuses` are no longer used, when the task of a loop over these is
/// cancelled, and when the client is closed. Writes that were not sent stay pending.
public struct Follow: Sendable {
  /// The current status and the status after each change, for one loop. They need not be read.
  public let statuses: States<FollowStatus>
  private let core: KVClient.Follow

  init(_ core: KVClient.Follow, _ statuses: States<FollowStatus>) {
    self.core = core
    self.statuses = statuses
  }

  /// The current status.
  public var status: FollowStatus { FollowStatus(core.status) }

  /// Ends the follow without waiting.
  public func close() { statuses.end() }
}
