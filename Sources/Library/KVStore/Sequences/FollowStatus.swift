internal import KVSync

/// The status of a follow: see `Follow.statuses`.
///
///     let status = try people.follow().status
///     print(status.collection, status.isLive ? "by live data" : "by polling")
public struct FollowStatus: Sendable, Equatable {
  /// The state of a follow.
  public enum State: Sendable, Equatable {
    /// Nothing has been read yet.
    case starting
    /// The local data is what the backend has, as of the live data or the last poll.
    case current
    /// The local data is not up to date. It is being read, or the error says why that failed.
    case behind(KVStoreError?)
    /// The backend does not answer.
    case offline(KVStoreError)
    /// The follow has ended.
    case closed
  }

  /// The name of the collection.
  public let collection: String
  /// The filter of the followed query, in MongoDB's language.
  public let filter: String
  /// The state.
  public let state: State
  /// Whether changes arrive as live data. Otherwise the follow polls.
  public let isLive: Bool
  /// The time of the last complete read; nil: never.
  public let lastSynced: Timestamp?

  init(_ status: KVSync.FollowStatus) {
    collection = status.collection
    filter = status.filter
    state =
      switch status.state {
      case .starting: .starting
      case .current: .current
      case .behind(let error): .behind(error.map(KVStoreError.init))
      case .offline(let error): .offline(KVStoreError(error))
      case .closed: .closed
      }
    isLive = status.isLive
    lastSynced = status.lastSynced.map(Timestamp.init)
  }
}
