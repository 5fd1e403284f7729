internal import KVSync

/// How a query that is followed stands: see `Follow.statuses`.
///
///     let status = try people.follow().status
///     print(status.collection, status.isLive ? "by live data" : "by polling")
public struct FollowStatus: Sendable, Equatable {
  public enum State: Sendable, Equatable {
    /// Nothing was read yet.
    case starting
    /// Here is what the backend has, as far as live data or the last poll tells.
    case current
    /// It is being read; or the error says why it cannot be.
    case behind(KVStoreError?)
    /// Nobody answers.
    case offline(KVStoreError)
    /// Nothing happens any more.
    case closed
  }

  public let collection: String
  /// What is followed, as a filter in MongoDB's language.
  public let filter: String
  public let state: State
  /// Whether changes come by live data; else they are polled for.
  public let isLive: Bool
  /// When it was last read in full; nil: never.
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
