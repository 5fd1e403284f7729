internal import KVBase
internal import KVSQLite
internal import KVServerCore

/// The settings of collections, and their histories: starts and ends these, and forgets what is too old. Safe from any
/// thread.
///
/// What a client may see is a part of what has changed. Who is let in by an entity's access list is in the history; a
/// change of a collection's read rule may concern every entity, so a history reaches back to the last one only.
final class Histories: CollectionStore {
  private let entities: Entities
  private let collections: CollectionRegistry
  /// How long collections without a setting of their own keep their history; 0: they have none.
  private let defaultDays: Int
  private let isVisit: Bool
  /// Locked while a setting is applied, so that this is done one at a time.
  private let turn = Monitor(())
  private let isClosed = Monitor(false)

  /// Brings all collections to what is wanted, and has old deletions forgotten from time to time.
  /// With `isVisit` they stay as they are.
  init(
    _ entities: Entities, _ collections: CollectionRegistry, defaultDays: Int, isVisit: Bool = false
  ) throws(ServerError) {
    self.entities = entities
    self.collections = collections
    self.defaultDays = defaultDays
    self.isVisit = isVisit
    guard !isVisit else { return }
    for collection in collections.all {
      try recordRuleChange(of: collection)
      try applySettings(collection)
    }
    try forgetOld()
  }

  /// Forgets what is too old, each ten minutes, until `close`.
  func start(_ log: Log) {
    guard !isVisit else { return }
    _ = Worker("kv-history") { [self] in
      while isClosed.wait(until: .after(seconds: 600), for: { $0 ? true : nil }) == nil {
        do throws(ServerError) { try forgetOld() } catch {
          log.error("history: \(error.cause ?? error.debug)")
        }
      }
    }
  }

  func close() { isClosed.withLockNotifyingAll { $0 = true } }

  /// The collection, made if there is none.
  func make(_ key: CollectionKey) throws(ServerError) -> EntityCollection {
    if let found = collections.find(key) { return found }
    let made = try Entities.storage { () throws(SQLiteError) in try collections.make(key) }
    if !key.isOwn, !isVisit { try applySettings(made) }
    return made
  }

  // MARK: Settings

  func list(app: Int64, within budget: WorkBudget) throws(ServerError) -> [CollectionSummary] {
    let all = collections.all.filter { $0.app == app }
      .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    return try Entities.storage { () throws(SQLiteError) -> [CollectionSummary] in
      try entities.database.read(within: budget) {
        (connection: borrowing Connection) throws(SQLiteError) in
        var list: [CollectionSummary] = []
        for collection in all {
          let select = try connection.statement(
            "SELECT count(*), sum(length(CAST(body AS BLOB))) FROM \(sql: collection.table)")
          guard try select.step() else { continue }
          list.append(
            CollectionSummary(
              name: collection.name, count: select.int(0), bytes: select.int(1)))
        }
        return list
      }
    }
  }

  func count(app: Int64) -> Int {
    collections.all.count { $0.app == app && $0.name.utf8.first != UInt8(ascii: "_") }
  }

  func exists(_ key: CollectionKey) -> Bool { collections.find(key) != nil }

  func permissions(of key: CollectionKey) -> Permissions { collections.permissions(of: key) }

  func history(of key: CollectionKey) -> (since: Timestamp, days: Int)? {
    guard case .on(let since, let days) = collections.find(key)?.history else { return nil }
    return (since, days)
  }

  func historyStart(of key: CollectionKey) -> Timestamp? { start(of: collections.find(key)) }

  func set(historyDays days: Int?, of key: CollectionKey) throws(ServerError) {
    try collections.naming.withLock { () throws(ServerError) in
      try set(historyDays: days, of: try make(key))
    }
  }

  private func set(
    historyDays days: Int?, of collection: EntityCollection
  ) throws(ServerError) {
    try Entities.storage { () throws(SQLiteError) in
      try entities.database.write { (connection: borrowing Connection) throws(SQLiteError) in
        try connection.run(
          """
          UPDATE collection SET history_days = \(bind: days.map { Int64($0) })
          WHERE number = \(bind: collection.number)
          """)
      }
    }
    collection.state.withLock { $0.wantedDays = days }
    try applySettings(collection)
  }

  func set(_ permissions: Permissions?, of key: CollectionKey) throws(ServerError) {
    try collections.naming.withLock { () throws(ServerError) in
      let collection = try make(key)
      try Entities.storage { () throws(SQLiteError) in
        try collections.set(permissions, of: collection)
      }
      try recordRuleChange(of: collection)
    }
  }

  func rename(_ key: CollectionKey, to name: String) throws(ServerError) {
    try collections.naming.withLockAlone { () throws(ServerError) in
      guard let collection = collections.find(key) else { throw ServerError(.collectionNotFound) }
      let other = try make(CollectionKey(app: key.app, name: name))
      try turn.withLockNotifyingAll { (_) throws(ServerError) in
        try collections.finding.withLockAlone { () throws(ServerError) in
          try exchangeNames(of: collection, other)
        }
      }
      guard isVisit else { return try applySettings(other) }
      // The default is not known here; the other collection follows it.
      if collection.history != .off, other.history == .off {
        try turn.withLockNotifyingAll { (_) throws(ServerError) in try begin(other, days: 0) }
      }
    }
  }

  /// `other`, which must be empty, gets the settings as well.
  private func exchangeNames(
    of collection: EntityCollection, _ other: EntityCollection
  ) throws(ServerError) {
    let since = try entities.write {
      (connection, now) throws(SQLiteError) -> Result<Timestamp, ServerError> in
      let used = try connection.statement("SELECT 1 FROM \(sql: other.table) LIMIT 1")
      if try used.step() { return .failure(.isInUse(other.name)) }
      let since = Timestamp(milliseconds: now.milliseconds + 1)
      try Self.exchangeNames(of: collection, other, since: since, on: connection)
      return .success(since)
    }.get()
    let settings = collection.state.withLock { state in
      state.history = state.history.restarted(at: since)
      return state
    }
    other.state.withLock { state in
      let history = state.history.restarted(at: since)
      state = settings
      state.history = history
    }
    collections.exchangeNames(of: collection, other)
  }

  private static func exchangeNames(
    of collection: EntityCollection, _ other: EntityCollection, since: Timestamp,
    on connection: borrowing Connection
  ) throws(SQLiteError) {
    // No two may have one name, not even for a moment; the empty one is not used.
    try connection.run(
      "UPDATE collection SET name = '' WHERE number = \(bind: collection.number)")
    try connection.run(
      """
      UPDATE collection
      SET (name, permissions, history_days, read_rule, rule_since) =
        (SELECT \(bind: collection.name), permissions, history_days, read_rule, rule_since
          FROM collection WHERE number = \(bind: collection.number))
      WHERE number = \(bind: other.number)
      """)
    try connection.run(
      """
      UPDATE collection SET name = \(bind: other.name) WHERE number = \(bind: collection.number)
      """)
    try connection.run(
      """
      UPDATE collection SET history_since = \(bind: since.milliseconds)
      WHERE history_since IS NOT NULL
        AND number IN (\(bind: collection.number), \(bind: other.number))
      """)
  }

  // MARK: Histories

  /// Records when the read rule has changed. It is in force before the time is taken: who has read by the old one has a
  /// time that is not later.
  private func recordRuleChange(of collection: EntityCollection) throws(ServerError) {
    try turn.withLockNotifyingAll { (_) throws(ServerError) in
      let (rule, known) = collection.state.withLock { ($0.permissions.read, $0.knownRule) }
      guard rule != known else { return }
      let since = try entities.write { (connection, now) throws(SQLiteError) in
        let since = Timestamp(milliseconds: now.milliseconds + 1)
        try connection.run(
          """
          UPDATE collection
          SET read_rule = \(bind: rule.rawValue), rule_since = \(bind: since.milliseconds)
          WHERE number = \(bind: collection.number)
          """)
        return since
      }
      collection.state.withLock {
        $0.knownRule = rule
        $0.ruleSince = since
      }
    }
  }

  /// Makes a collection's history what its setting or the default wants.
  func applySettings(_ collection: EntityCollection) throws(ServerError) {
    try turn.withLockNotifyingAll { (_) throws(ServerError) in
      let days = collection.state.withLock { $0.wantedDays } ?? defaultDays
      switch collection.history {
      case .on where days == 0: try end(collection)
      case .on(let since, _):
        // An older server may have begun it, which kept less.
        try createTables(of: collection)
        collection.state.withLock { $0.history = .on(since: since, days: days) }
      case .off, .starting, .interrupted:
        if days > 0 { try begin(collection, days: days) }
      }
    }
  }

  /// Deletes what happened longer ago than its collection wants to know.
  func forgetOld() throws(ServerError) {
    for collection in collections.all {
      guard case .on(_, let days) = collection.history else { continue }
      let limit = KnownHistory.start(days: days)
      _ = try entities.write { (connection, _) throws(SQLiteError) in
        guard collection.history != .off else { return }
        for table in [collection.tombstones, collection.formerAccess] {
          try connection.run(
            "DELETE FROM \(sql: table) WHERE at < \(bind: limit.milliseconds)")
        }
      }
    }
    try forgetTokens()
  }

  /// Forgets the tokens of writes that are older than every history, in steps.
  private func forgetTokens() throws(ServerError) {
    let days = collections.all.map { collection in
      if case .on(_, let days) = collection.history { days } else { 0 }
    }
    let limit = KnownHistory.start(days: max(WriteToken.minDays, days.max() ?? 0, defaultDays))
    while try entities.write({ (connection, _) throws(SQLiteError) in
      try WriteTokens.forget(before: limit, on: connection)
    }) {}
  }

  /// The earliest moment from which on all changes are known; nil without a history.
  func start(of collection: EntityCollection?) -> Timestamp? {
    guard let collection else {
      return defaultDays > 0 ? KnownHistory.start(days: defaultDays) : nil
    }
    guard case .on(let since, let days) = collection.history else { return nil }
    return KnownHistory.start(days: days, began: since, ruleSince: collection.ruleSince)
  }

  // Starting takes three steps. Deletions are recorded once the second is done, and each deletion
  // looks whether to record inside its transaction; so the time of the third is one from which on
  // nothing is missed.

  private func begin(_ collection: EntityCollection, days: Int) throws(ServerError) {
    try createTables(of: collection)
    collection.state.withLock { $0.history = .starting }
    let since = try entities.write { (connection, now) throws(SQLiteError) in
      try connection.run(collection.setHistorySince(now))
      return now
    }
    collection.state.withLock { $0.history = .on(since: since, days: days) }
  }

  private func createTables(of collection: EntityCollection) throws(ServerError) {
    _ = try entities.write { (connection, _) throws(SQLiteError) in
      try connection.execute(SQLiteSchema.createHistory(of: collection))
    }
  }

  private func end(_ collection: EntityCollection) throws(ServerError) {
    collection.state.withLock { $0.history = .off }
    _ = try entities.write { (connection, _) throws(SQLiteError) in
      try connection.run(collection.setHistorySince(nil))
      try connection.execute(SQLiteSchema.dropHistory(of: collection))
    }
  }
}
