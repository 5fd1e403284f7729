internal import KVBase
internal import KVSQLite
internal import KVServerCore

/// The epoch of the server's data, and its clock. Safe from any thread.
///
/// What clients remember – when they read, how far they have listened – is true of the data that told them. A copy that
/// is put back knows only a part of it, and a client that asks it for changes would never learn what is missing. So data
/// has an epoch, and what was put back gets a new one, in which everything that clients remember is void.
///
/// What was put back is known by `EpochFile`: the files are others, or the data was marked less often than the file
/// says. Marks are made at each start and end, and every few seconds while there are writes. A copy in which all of that
/// is as it was, such as a snapshot of the disk, is not known; then the administrator has to say so, or times that
/// this data cannot have given out tell it: see `ServerClock`.
final class DataEpoch: Sendable {
  /// Seconds between marks.
  private static let markSeconds = 10.0
  /// How long gaps are remembered: no client may ask for changes since before the oldest history.
  private static let gapDays: Int64 = 31
  private static let maxGaps = 1000

  private struct State {
    var generation: Int64
    /// How many writes had ended when it was marked last.
    var writes = 0
    var isClosed = false
  }

  /// 16 hex digits.
  let text: String
  /// See `ServerStore.restored`.
  let restored: Int64?
  let clock: ServerClock
  private let database: Database
  private let file: EpochFile
  private let state: Monitor<State>

  /// `latest`: a time that none in the data is later than. `isRestored`: the administrator says so. `newest` gives the time of
  /// the last write.
  init(
    _ database: Database, _ file: EpochFile, latest: Int64, isRestored: Bool, log: Log,
    newest: () throws(SQLiteError) -> Int64
  ) throws(ServerError) {
    self.database = database
    self.file = file
    let stored = try Entities.storage { () throws(SQLiteError) in try Self.stored(database) }
    let isNew = stored.epoch == nil && !file.exists
    let isSame = !isRestored && stored.isSame(as: file.read())
    let wasRestored = !isNew && !isSame
    text = isSame ? stored.epoch ?? "" : hexText(randomBytes(8))
    if wasRestored {
      log.warning("the data was restored from a copy: clients will read everything again")
      let newest = try Entities.storage(newest)
      restored = min(stored.restored ?? newest, newest)
    } else {
      restored = stored.restored
    }
    let wall = Timestamp.now().milliseconds
    let now = max(wasRestored ? wall + ServerClock.restoredLead : wall, latest)
    let gap = ServerClock.Gap(after: wasRestored ? -1 : latest, until: now)
    var (generation, covered) = (stored.generation + 1, now)
    do {
      try Self.begin(text, generation, restored: restored, gap: gap, database: database)
    } catch {
      // Reading and deleting work on a full disk. What is not stored will be a part of the next gap.
      log.error("the marker of restored data could not be written: \(error)")
      (generation, covered) = (stored.generation, latest)
    }
    clock = ServerClock(after: now, covered: covered, gaps: stored.gaps + [gap])
    state = Monitor(State(generation: generation))
    writeFile(log)
  }

  /// Marks the data now and then, until `close`.
  func start(_ log: Log) {
    _ = Worker("kv-epoch") { [self] in
      while state.wait(until: .after(seconds: Self.markSeconds), for: { $0.isClosed ? true : nil })
        == nil
      {
        let writes = clock.writes
        guard writes != state.withLock({ $0.writes }) else { continue }
        do throws(SQLiteError) {
          try mark(nil)
          writeFile(log)
          state.withLock { $0.writes = writes }
        } catch {
          log.error("the marker of restored data could not be written: \(error)")
        }
      }
    }
  }

  /// Marks the data for the last time, and stores the latest time as it is.
  func close(_ log: Log) throws(SQLiteError) {
    state.withLockNotifyingAll { $0.isClosed = true }
    try mark(clock.last.milliseconds)
    writeFile(log)
  }

  // MARK: Marks

  /// Durable, and before the file: a database that is behind the file has lost something. `latest` nil: as it is.
  private func mark(_ latest: Int64?) throws(SQLiteError) {
    let (epoch, generation) = (text, state.withLock { $0.generation + 1 })
    try database.write { (connection: borrowing Connection) throws(SQLiteError) in
      try Self.store(epoch, generation, latest: latest, on: connection)
    }
    state.withLock { $0.generation = generation }
  }

  /// If that fails the file is older than the database, which does no harm.
  private func writeFile(_ log: Log) {
    do throws(TextFile.Failure) {
      try file.write(.init(epoch: text, generation: state.withLock { $0.generation }))
    } catch {
      log.error(error.description)
    }
  }

  // MARK: What is stored

  private struct Stored {
    var epoch: String?
    var generation: Int64 = 0
    var restored: Int64?
    var gaps: [ServerClock.Gap] = []

    func isSame(as known: EpochFile.Content?) -> Bool {
      guard let known, let epoch else { return false }
      return known.epoch.hasSameBytes(as: epoch) && generation >= known.generation
    }
  }

  private static func stored(_ database: Database) throws(SQLiteError) -> Stored {
    try database.read { (connection: borrowing Connection) throws(SQLiteError) in
      var stored = Stored()
      let select = try connection.prepare("SELECT epoch, generation, restored FROM clock")
      if try select.step() {
        (stored.epoch, stored.generation) = (select.text(0), select.int64(1))
        stored.restored = select.isNull(2) ? nil : select.int64(2)
      }
      let gaps = try connection.prepare("SELECT after, until FROM clock_gap")
      while try gaps.step() {
        stored.gaps.append(.init(after: gaps.int64(0), until: gaps.int64(1)))
      }
      return stored
    }
  }

  /// Marks the data at a start, before which no times were given out for a while.
  private static func begin(
    _ epoch: String, _ generation: Int64, restored: Int64?, gap: ServerClock.Gap,
    database: Database
  ) throws(SQLiteError) {
    try database.write { (connection: borrowing Connection) throws(SQLiteError) in
      try store(epoch, generation, latest: gap.until, on: connection)
      try connection.run("UPDATE clock SET restored = \(bind: restored)")
      try connection.run(
        "INSERT INTO clock_gap (after, until) VALUES (\(bind: gap.after), \(bind: gap.until))")
      let oldest = gap.until - gapDays * 86_400_000
      try connection.run(
        """
        DELETE FROM clock_gap WHERE until < \(bind: oldest)
          OR n <= (SELECT max(n) FROM clock_gap) - \(bind: maxGaps)
        """)
    }
  }

  private static func store(
    _ epoch: String, _ generation: Int64, latest: Int64?, on connection: borrowing Connection
  ) throws(SQLiteError) {
    try connection.run(
      """
      UPDATE clock SET epoch = \(bind: epoch), generation = \(bind: generation),
        latest = ifnull(\(bind: latest), latest)
      """)
  }
}
