internal import KVBase
internal import KVServerCore

/// Brings what any server commits to the feed of this one, in the order of the commits: a thread with a connection of its
/// own asks for what is new, at once when this server or another one has written, and else many times a second. Safe
/// from any thread.
///
/// No notification of a commit is needed, so none is missed: the tables are the truth.
final class CommitFeed: Sendable {
  /// Seconds between questions.
  private static let interval = 0.05
  /// Nanoseconds between two questions that commits ask for: those of so long a time are read together.
  private static let pace: Int64 = 3_000_000
  /// Nanoseconds between two notifications of other servers.
  private static let notifyingInterval: Int64 = 3_000_000
  /// Seconds to wait after a failure.
  private static let pause = 0.5
  /// Seconds without an answer after which this server must not serve any more.
  static let maxSilence = 5.0

  private struct State {
    /// How often a pass was requested, and how many of these requests have been answered.
    var wanted = 0
    var done = 0
    var lastPass: Int64 = monotonicNanoseconds()
    /// When a requested pass began last, and whether the next one has waiters.
    var lastWanted: Int64 = 0
    var isAwaited = false
    /// Whether it waits for a request for a pass.
    var isAsleep = false
    /// Whether this server has committed what the others were not told of, and when they were told last.
    var hasWritten = false
    var lastNotification: Int64 = 0
    var isStarted = false
    /// Apps to begin with, and the times up to which their histories, which were read before, have everything.
    var followed: [Int64: Int64] = [:]
    var isClosed = false
  }

  private let database: PostgresDatabase
  private let epoch: String
  private let log: Log
  private let listener: CommitListener
  private let state = Monitor(State())

  /// `epoch`: that of the data when it was opened.
  init(_ database: PostgresDatabase, epoch: String, log: Log) {
    self.database = database
    self.epoch = epoch
    self.log = log
    listener = CommitListener(database)
  }

  /// Brings what happens to an app from a time on: its history, which was read before, has the rest.
  func follow(_ app: Int64, from clock: Int64) {
    state.withLockNotifyingAll { state in
      state.followed[app] = clock
      state.wanted += 1
    }
  }

  func start(_ feed: any LivePublisher) {
    state.withLock { $0.isStarted = true }
    listener.start { [self] in state.withLockNotifyingAll { $0.wanted += 1 } }
    _ = Worker("kv-feed") { [self] in
      var reader = CommitReader(feed, epoch: epoch)
      var hasFailed = false
      while let wanted = next(hasFailed: hasFailed) {
        reader.follow(takeFollowed())
        do throws(PostgresError) {
          try reader.read(from: database, telling: takeNotification())
          if hasFailed { log.info("the feed of commits continues") }
          hasFailed = false
          state.withLockNotifyingAll { state in
            state.done = max(state.done, wanted)
            state.lastPass = monotonicNanoseconds()
          }
        } catch {
          if !hasFailed { log.error("the feed of commits has stopped: \(error.message)") }
          hasFailed = true
          reader.disconnect()
        }
      }
    }
  }

  func close() {
    listener.close()
    state.withLockNotifyingAll { $0.isClosed = true }
  }

  /// Has the feed read soon what this server has committed. It is woken only if it would not look by itself in a moment.
  func wake() {
    let isAsleep = state.withLock { state in
      state.wanted += 1
      state.hasWritten = true
      defer { state.isAsleep = false }
      return state.isAsleep
    }
    if isAsleep { state.withLockNotifyingAll { _ in } }
  }

  private func takeFollowed() -> [Int64: Int64] {
    state.withLock { state in
      defer { state.followed = [:] }
      return state.followed
    }
  }

  /// What tells other servers of commits of this one, if that is due; else nil.
  private func takeNotification() -> SQL? {
    let now = monotonicNanoseconds()
    return state.withLock { state in
      guard state.hasWritten, now - state.lastNotification >= Self.notifyingInterval else {
        return nil
      }
      state.hasWritten = false
      state.lastNotification = now
      return listener.notification
    }
  }

  /// Waits for a pass that begins after the call; for a few seconds at the most.
  func catchUp() {
    let wanted = state.withLockNotifyingAll { state in
      state.wanted += 1
      state.isAwaited = true
      return state.isStarted ? state.wanted : 0
    }
    _ = state.wait(until: .after(seconds: Self.maxSilence)) {
      $0.done >= wanted || $0.isClosed ? true : nil
    }
  }

  /// How many have asked for a pass that has not ended, and how many seconds ago one has.
  var status: (waiting: Int, age: Double) {
    state.withLock { state in
      let age = Double(monotonicNanoseconds() - state.lastPass) / 1e9
      return (state.wanted - state.done, state.isStarted ? age : 0)
    }
  }

  /// Throws if the feed has stopped: another server may have written what this one does not know of.
  func check() throws(PostgresError) {
    let silence = status.age
    if silence > Self.maxSilence {
      throw PostgresError(
        .unavailable, "the feed of commits has been stopped for \(Int(silence)) s")
    }
  }

  /// Waits until it is time to ask. Gives how many have wanted that; nil: it is over.
  private func next(hasFailed: Bool) -> Int? {
    // Others that are still to be told have to wait no longer than the time between two notifications.
    let usual =
      state.withLock { $0.hasWritten } ? Double(Self.notifyingInterval) / 1e9 : Self.interval
    let pause = Deadline.after(seconds: hasFailed ? Self.pause : usual)
    _ = state.wait(until: pause) { state -> Bool? in
      let isOver = state.isClosed || (state.wanted > state.done && !hasFailed)
      state.isAsleep = !isOver
      return isOver ? true : nil
    }
    awaitOthers()
    return state.withLockNotifyingAll { state in
      if state.wanted > state.done { state.lastWanted = monotonicNanoseconds() }
      state.isAwaited = false
      return state.isClosed ? nil : state.wanted
    }
  }

  /// Waits until some time has passed since the last pass that commits had asked for; not at all if that is long ago, or
  /// this one has waiters.
  private func awaitOthers() {
    let rest = state.withLock { $0.lastWanted + Self.pace } - monotonicNanoseconds()
    guard rest > 0 else { return }
    _ = state.wait(until: .after(seconds: Double(rest) / 1e9)) { state -> Bool? in
      state.isClosed || state.isAwaited ? true : nil
    }
  }
}

/// Reads what is new. One thread.
private struct CommitReader {
  private let feed: any LivePublisher
  /// The times up to which everything was told, by app.
  private var clocks: [Int64: Int64] = [:]
  private let epoch: String
  private var connection: PostgresConnection?

  init(_ feed: any LivePublisher, epoch: String) {
    self.feed = feed
    self.epoch = epoch
  }

  /// Begins with these apps, at the times up to which everything is known of them.
  mutating func follow(_ apps: [Int64: Int64]) {
    clocks.merge(apps) { _, new in new }
  }

  mutating func disconnect() { connection = nil }

  /// `notification`: what other servers are told along with it.
  mutating func read(
    from database: PostgresDatabase, telling notification: SQL?
  ) throws(PostgresError) {
    let connection: PostgresConnection
    if let known = self.connection {
      connection = known
    } else {
      connection = try database.connect()
      // Nothing is written here but notifications.
      connection.enqueue("SET synchronous_commit = off")
    }
    self.connection = connection
    if let notification { connection.enqueue(notification) }
    let rows = try connection.run(
      """
      SELECT number, clock, (SELECT epoch FROM kvstored) FROM app
      WHERE number = ANY(\(bind: Array(clocks.keys)))
      """)
    for row in 0..<rows.count {
      guard rows.text(row, 2).hasSameBytes(as: epoch) else {
        throw PostgresError(.other, "the data was restored from a copy: restart this server")
      }
      let app = rows.int64(row, 0)
      if let known = clocks[app], rows.int64(row, 1) > known {
        clocks[app] = try read(app, since: known, on: connection)
      }
    }
  }

  /// Reads what has happened to an app since a time, in one snapshot. Gives its time.
  private func read(
    _ app: Int64, since known: Int64, on connection: PostgresConnection
  ) throws(PostgresError) -> Int64 {
    connection.enqueue("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    let rows = try connection.runAll([
      "SELECT clock, live_floor FROM app WHERE number = \(bind: app)",
      "SELECT usr FROM live_change WHERE app = \(bind: app) AND at > \(bind: known)",
      MessageStatements.list(app: app, after: LiveJournal.position(at: known)),
    ])
    for row in 0..<rows[1].count { try update(rows[1].text(row, 0), app, on: connection) }
    try connection.run("COMMIT")
    let clock = rows[0].int64(0, 0)
    feed.receive(
      LiveJournal.messages(rows[2]), until: LiveJournal.position(at: clock),
      floor: rows[0].int64(0, 1), in: app)
    return clock
  }

  private func update(
    _ user: String, _ app: Int64, on connection: PostgresConnection
  ) throws(PostgresError) {
    let rows = try connection.run(PostgresRegistrations.select(of: user, app: app))
    feed.replaceListeners(
      of: user, by: PostgresRegistrations.registrations(rows), in: app)
    let tokens = feed.waitingSessions(of: user, in: app)
    guard !tokens.isEmpty else { return }
    for token in tokens {
      let found = try connection.run(SessionStatements.find(token))
      if found.isEmpty { feed.refuse(session: token, in: app) }
    }
  }
}
