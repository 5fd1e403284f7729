internal import KVBase
internal import KVSQLite
internal import KVServerCore

/// Publishes what was written in the order of the commits, and only what was committed.
///
/// Transactions run one after the other, but the threads that ran them come back in any order: each takes a number
/// inside its transaction, and nothing is published before all with lower numbers are known to have ended.
final class CommitOrderedQueue: Sendable {
  private struct State {
    var begun = 0
    var ended = 0
    /// When the one that is waited for became the next, on the monotonic clock.
    var waitsSince: Int64 = 0
    /// What the transactions that have not ended would publish.
    var prepared: [Int: LiveAnnouncement] = [:]
    /// Whether those that have ended have committed.
    var outcomes: [Int: Bool] = [:]
    /// Nil: there is no waiter yet.
    var feed: (any LivePublisher)?
  }

  private let state = Monitor(State())
  private let journal: LiveJournal?

  /// `journal` nil: nothing is kept.
  init(_ journal: LiveJournal? = nil) { self.journal = journal }

  /// Publishes to `feed` from now on.
  func start(_ feed: any LivePublisher) { state.withLock { $0.feed = feed } }

  private var feed: (any LivePublisher)? { state.withLock { $0.feed } }

  /// How many writes have begun and not been published, and for how many seconds none has been.
  var status: (waiting: Int, age: Double) {
    state.withLock { state in
      let waiting = state.begun - state.ended
      guard waiting > 0 else { return (0, 0) }
      return (waiting, Double(monotonicNanoseconds() - state.waitsSince) / 1e9)
    }
  }

  /// Runs a write that has something to publish. Each time that its transaction begins, it calls `begin` for a number,
  /// and `prepare` with that as the last step.
  func announcing<R, E: Error>(_ write: (_ begin: () -> Int) throws(E) -> R) throws(E) -> R {
    var number: Int?
    var isCommitted = false
    defer { if let number { end(number, isCommitted: isCommitted) } }
    let result = try write {
      if let number { end(number, isCommitted: false) }
      let begun = begin()
      number = begun
      return begun
    }
    isCommitted = true
    return result
  }

  /// Sends a user's message to those who listen to a stream. Returns its time.
  ///
  /// It is in the journal when this returns, and need not survive a power failure.
  func send(
    _ payload: [UInt8], to topic: String, from user: String, audience: Audience, in app: Int64,
    by database: Database
  ) throws(ServerError) -> Int64 {
    guard let feed else { throw ServerError(.appNotFound) }
    if feed.hasListeners(of: topic, in: app) {
      let content = LiveAnnouncement.Content.payload(payload, from: user, audience)
      let sent = try Entities.storage { () throws(SQLiteError) in
        try announcing { (begin) throws(SQLiteError) in
          try database.write(durably: false) {
            (connection: borrowing Connection) throws(SQLiteError) in
            try prepare(content, for: topic, of: app, as: begin(), on: connection)
          }
        }
      }
      if let sent { return sent.time }
    }
    guard let moment = feed.moment(in: app) else { throw ServerError(.appNotFound) }
    return moment
  }

  /// Returns the number of a transaction. To be called inside it.
  func begin() -> Int {
    state.withLock { state in
      if state.begun == state.ended { state.waitsSince = monotonicNanoseconds() }
      state.begun += 1
      return state.begun
    }
  }

  /// Prepares what a transaction will publish, and adds it to the journal. Nil: there is nothing to publish.
  @discardableResult
  func prepare(
    _ content: LiveAnnouncement.Content, for topic: String, of app: Int64, as number: Int,
    on connection: borrowing Connection
  ) throws(SQLiteError) -> LiveAnnouncement? {
    guard content.count > 0, let announcement = feed?.prepare(content, for: topic, of: app) else {
      return nil
    }
    state.withLock { $0.prepared[number] = announcement }
    guard announcement.isJournaled, let journal else { return announcement }
    if announcement.isCut {
      try journal.cut(app, at: announcement.time, on: connection)
    } else {
      try journal.add(announcement.messages, of: app, on: connection)
    }
    return announcement
  }

  /// Publishes or withdraws what was prepared. To be called once for each number, after the transaction.
  func end(_ number: Int, isCommitted: Bool) {
    state.withLock { state in
      state.outcomes[number] = isCommitted
      while let isCommitted = state.outcomes.removeValue(forKey: state.ended + 1) {
        state.ended += 1
        state.waitsSince = monotonicNanoseconds()
        guard let next = state.prepared.removeValue(forKey: state.ended) else { continue }
        if isCommitted {
          state.feed?.publish(next)
        } else {
          state.feed?.withdraw(next)
        }
      }
    }
  }
}
