internal import KVBase
internal import KVJSON
internal import KVServerCore

/// The settings of collections: read again each time, since other servers may set it. Safe from any thread.
final class PostgresCollections: CollectionStore {
  private let writer: AppWriter
  private let defaults: CollectionDefaults
  private var database: PostgresDatabase { writer.database }

  init(_ writer: AppWriter, _ defaults: CollectionDefaults) {
    self.writer = writer
    self.defaults = defaults
  }

  // MARK: Settings

  func list(app: Int64, within budget: WorkBudget) throws(ServerError) -> [CollectionSummary] {
    let rows = try storage { () throws(PostgresError) in
      try database.read(
        """
        SELECT c.name, coalesce(sum(e.count), 0)::int8, coalesce(sum(e.bytes), 0)::int8
        FROM collection AS c LEFT JOIN LATERAL
          (SELECT count(*) AS count, sum(octet_length(body)) AS bytes FROM entity
           WHERE collection = c.number) AS e ON true
        WHERE c.app = \(bind: app) AND substr(c.name, 1, 1) <> '_' GROUP BY c.name ORDER BY c.name
        """, within: budget)
    }
    return (0..<rows.count).map { row in
      CollectionSummary(
        name: rows.text(row, 0), count: Int(rows.int64(row, 1)), bytes: Int(rows.int64(row, 2)))
    }
  }

  func count(app: Int64) throws(ServerError) -> Int {
    let rows = try storage { () throws(PostgresError) in
      try database.read(
        """
        SELECT count(*) FROM collection
        WHERE app = \(bind: app) AND substr(name, 1, 1) <> '_'
        """)
    }
    return Int(rows.int64(0, 0))
  }

  func exists(_ key: CollectionKey) throws(ServerError) -> Bool { try state(key).number != nil }

  func permissions(of key: CollectionKey) throws(ServerError) -> Permissions {
    if key.isOwn { return key.ownPermissions }
    return try state(key).permissions
  }

  func set(_ permissions: Permissions?, of key: CollectionKey) throws(ServerError) {
    try change(key) { (state, number, transaction) in
      transaction.enqueue(
        """
        UPDATE collection SET permissions = \(bind: permissions?.json.text)
        WHERE number = \(bind: number)
        """)
      Self.record(
        (permissions ?? defaults.permissions(of: key)).read, of: state, number: number,
        in: transaction)
    }
  }

  func history(of key: CollectionKey) throws(ServerError) -> (since: Timestamp, days: Int)? {
    let state = try state(key)
    return state.historySince.map { ($0, state.historyDays) }
  }

  func historyStart(of key: CollectionKey) throws(ServerError) -> Timestamp? {
    try state(key).historyStart
  }

  func set(historyDays days: Int?, of key: CollectionKey) throws(ServerError) {
    try change(key) { (state, number, transaction) in
      transaction.enqueue(
        """
        UPDATE collection SET history_days = \(bind: days.map { Int64($0) })
        WHERE number = \(bind: number)
        """)
      Self.apply(
        days: days ?? defaults.historyDays(of: key), to: state, number, in: transaction)
    }
  }

  func rename(_ key: CollectionKey, to name: String) throws(ServerError) {
    let newKey = CollectionKey(app: key.app, name: name)
    let states = [CollectionState.select(key), CollectionState.select(newKey)]
    try writer.write(app: key.app, reading: states) {
      (transaction, rows) throws(PostgresError) -> Result<Void, ServerError> in
      guard let number = state(key, rows[0]).number else {
        return .failure(ServerError(.collectionNotFound))
      }
      guard let other = try make(state(newKey, rows[1]), in: transaction).number else {
        throw PostgresError(.other, "a collection was not made")
      }
      let used = try transaction.run(
        "SELECT 1 FROM entity WHERE collection = \(bind: other) LIMIT 1")
      guard used.isEmpty else { return .failure(.isInUse(name)) }
      Self.exchangeNames(of: (number, key.name), (other, name), in: transaction)
      return .success(())
    }.get()
  }

  /// `other` gets the settings as well.
  private static func exchangeNames(
    of collection: (number: Int64, name: String), _ other: (number: Int64, name: String),
    in transaction: AppWriter.Transaction
  ) {
    // No two may have one name, not even for a moment; the empty one is not used.
    transaction.enqueue(
      "UPDATE collection SET name = '' WHERE number = \(bind: collection.number)")
    transaction.enqueue(
      """
      UPDATE collection AS o SET name = \(bind: collection.name), permissions = c.permissions,
        history_days = c.history_days, history_since = c.history_since, read_rule = c.read_rule,
        rule_since = c.rule_since
      FROM collection AS c
      WHERE o.number = \(bind: other.number) AND c.number = \(bind: collection.number)
      """)
    transaction.enqueue(
      "UPDATE collection SET name = \(bind: other.name) WHERE number = \(bind: collection.number)")
    transaction.enqueue(
      """
      UPDATE collection SET history_since = \(bind: transaction.now.milliseconds + 1)
      WHERE history_since IS NOT NULL AND number IN (\(bind: collection.number), \(bind: other.number))
      """)
  }

  // MARK: Collections

  /// Reads what `CollectionState.select` gives, from the first row.
  func state(
    _ key: CollectionKey, _ rows: ResultRows, column: Int = 0,
    for claim: Claim = .principal(.master)
  ) -> CollectionState {
    CollectionState(key, Record(rows, 0, column: column), for: claim, defaults: defaults)
  }

  func state(_ key: CollectionKey) throws(ServerError) -> CollectionState {
    try storage { () throws(PostgresError) in
      state(key, try database.read(CollectionState.select(key)))
    }
  }

  /// The collection, made if there is none: collections come about when they are first written to. Where a history is
  /// wanted it begins with the collection: it knows everything from the beginning of time.
  func make(
    _ state: CollectionState, in transaction: AppWriter.Transaction
  ) throws(PostgresError) -> CollectionState {
    if state.number != nil { return state }
    var made = state
    made.historySince = defaults.historyDays(of: state.key) > 0 ? .distantPast : nil
    let rows = try transaction.run(
      """
      INSERT INTO collection (app, name, read_rule, history_since)
      VALUES (\(bind: state.key.app), \(bind: state.key.name),
        \(bind: state.permissions.read.rawValue), \(bind: made.historySince?.milliseconds))
      RETURNING number
      """)
    made.number = rows.int64(0, 0)
    return made
  }

  /// Brings the collections of an app to what this server's defaults want.
  func applyDefaults(app: Int64) throws(ServerError) {
    let names = try storage { () throws(PostgresError) in
      try database.read("SELECT name FROM collection WHERE app = \(bind: app)")
    }
    for row in 0..<names.count {
      let key = CollectionKey(app: app, name: names.text(row, 0))
      guard !key.isOwn else { continue }
      let state = try state(key)
      let hasHistory = state.historySince != nil
      guard state.readRule != state.permissions.read || hasHistory != (state.historyDays > 0)
      else { continue }
      try change(key) { (state, number, transaction) in
        Self.record(state.permissions.read, of: state, number: number, in: transaction)
        Self.apply(days: state.historyDays, to: state, number, in: transaction)
      }
    }
  }

  /// Deletes what happened longer ago than its collection wants to know.
  func forgetOld() throws(PostgresError) {
    let days: SQL = """
      (now.ms - 86400000 * coalesce(c.history_days, \(bind: defaults.historyDays)))
      """
    for table in ["tombstone", "former_access"] {
      _ = try database.read(
        """
        DELETE FROM \(sql: table) AS t
        USING collection AS c, (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8 AS ms) AS now
        WHERE t.collection = c.number AND t.at < \(days)
        """)
    }
  }

  /// Forgets the tokens of writes that are older than every history, in steps.
  func forgetTokens() throws(PostgresError) {
    let statement = WriteTokens.forget(defaultDays: defaults.historyDays)
    while Int64(try database.read(statement).changes) == WriteToken.forgottenAtOnce {}
  }

  // MARK: Parts

  /// Changes the settings of a collection, which is made if there is none.
  private func change(
    _ key: CollectionKey, _ body: (CollectionState, Int64, AppWriter.Transaction) -> Void
  ) throws(ServerError) {
    try writer.write(app: key.app, reading: [CollectionState.select(key)]) {
      (transaction, rows) throws(PostgresError) in
      let state = try make(state(key, rows[0]), in: transaction)
      if let number = state.number { body(state, number, transaction) }
    }
  }

  /// Records when the read rule has changed: who has read by the old one has a time that is not later.
  private static func record(
    _ rule: Permissions.Rule, of state: CollectionState, number: Int64,
    in transaction: AppWriter.Transaction
  ) {
    // One that has just been made has the rule of its settings.
    guard rule != state.readRule ?? state.permissions.read else { return }
    transaction.enqueue(
      """
      UPDATE collection SET read_rule = \(bind: rule.rawValue),
        rule_since = \(bind: transaction.now.milliseconds + 1)
      WHERE number = \(bind: number)
      """)
  }

  /// Begins a history, or ends it. No other transaction writes to the app meanwhile: from this one's time on, nothing is
  /// missed.
  private static func apply(
    days: Int, to state: CollectionState, _ number: Int64, in transaction: AppWriter.Transaction
  ) {
    if days > 0, state.historySince == nil {
      transaction.enqueue(
        """
        UPDATE collection SET history_since = \(bind: transaction.now.milliseconds)
        WHERE number = \(bind: number)
        """)
    }
    if days == 0, state.historySince != nil {
      transaction.enqueue(
        "UPDATE collection SET history_since = NULL WHERE number = \(bind: number)")
      for table in ["tombstone", "former_access"] {
        transaction.enqueue("DELETE FROM \(sql: table) WHERE collection = \(bind: number)")
      }
    }
  }
}
