internal import KVBase
internal import KVJSON
internal import KVQuery
package import KVServerCore

/// A database that other data is moved to, which no server uses until that is done. One thread at a time.
package final class PostgresTransfer: TransferTarget {
  /// How many rows are read at once: without their bodies.
  private static let pageRows = 1000
  /// Held by the program that moves data to these tables: other schemas of the database have tables and a lock of their own.
  private static let lock: SQL = "\(bind: 0x6B76_6D69)::int4, 'migration'::regclass::oid::int4"

  private let database: PostgresDatabase
  private let indexes: PostgresIndexes
  /// Holds the lock.
  private let guardian: PostgresConnection
  package private(set) var movedUntil: Int64?
  private var appNumbers: [RecordID: Int64] = [:]
  private var numbers: [[RecordID]: Int64] = [:]

  /// Opens a database without apps, or one that an earlier run has begun to fill, or has filled with the data of `epoch`.
  /// `address`: a URI, as libpq takes it.
  package init(_ address: String, for epoch: String? = nil) throws(TransferFailure) {
    let database = PostgresDatabase(address, connections: 2, isDurable: true)
    self.database = database
    guardian = try Self.checked { () throws(PostgresError) in
      let connection = try database.connect()
      try PostgresSchema.migrate(connection)
      return connection
    }
    let writer = AppWriter(database, AppClocks(database)) {}
    indexes = PostgresIndexes(
      writer, PostgresCollections(writer, CollectionDefaults()), rules: .init())
    try begin(epoch)
  }

  private func begin(_ epoch: String?) throws(TransferFailure) {
    let rows = try checked { () throws(PostgresError) in
      try guardian.runAll([
        "SELECT pg_try_advisory_lock(\(Self.lock))",
        "SELECT EXISTS(SELECT 1 FROM migration) OR NOT EXISTS(SELECT 1 FROM app)",
        "SELECT moved FROM kvstored WHERE epoch = \(bind: epoch ?? "")",
      ])
    }
    guard rows[0].flag(0, 0) else {
      throw TransferFailure("another program moves data to this database")
    }
    guard rows[1].flag(0, 0) else {
      movedUntil = rows[2].isEmpty ? nil : rows[2].optionalInt64(0, 0)
      if movedUntil != nil { return }
      throw TransferFailure("the database has data already, or a server uses it")
    }
    _ = try checked { () throws(PostgresError) in
      try guardian.run(
        "INSERT INTO migration (began) SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM migration)")
    }
  }

  /// Another program may use the database afterwards.
  package func close() {
    _ = try? guardian.run("SELECT pg_advisory_unlock(\(Self.lock))")
    database.close()
  }

  // MARK: Tables

  /// Where the rows of a table stand. The columns are in the order of `TransferTable.kinds`.
  private struct Layout {
    let table: String
    let columns: [String]
    let body: String?
    let scope: String
    let number: Int64

    init(_ table: TransferTable, _ number: Int64) {
      let access = ["creator", "gr", "gw", "readers", "writers"]
      (self.table, columns) =
        switch table {
        case .accounts:
          (
            "account",
            [
              "id", "name", "password", "disabled", "generation", "rights_since", "identity",
              "ended",
            ]
          )
        case .formerUsers: ("former_user", ["id"])
        case .sessions:
          (
            "session",
            ["token", "usr", "expires", "generation", "began", "device", "address", "used"]
          )
        case .groupMembers: ("group_member", ["usr", "grp"])
        case .listeners: ("live", ["usr", "device", "collection", "session", "seen"])
        case .messages: ("live_message", ["time", "topic", "about"])
        case .streams: ("stream", ["name", "owner", "acl"])
        case .writeTokens: ("write_token", ["high", "low", "owner", "at", "kind"])
        case .entities: ("entity", ["id", "n", "created", "modified"] + access)
        case .deletions: ("tombstone", ["at", "id"] + access)
        case .formerAccess: ("former_access", ["at", "id"] + access)
        }
      body = !table.hasBody ? nil : table == .messages ? "payload" : "body"
      scope = table.isOfCollections ? "collection" : "app"
      self.number = number
    }

    var place: SQL { "\(sql: scope) = \(bind: number)" }

    /// The first rows after a key, with the digests of their bodies.
    func select(keys: Int, after key: [TransferValue]?, limit: Int) -> SQL {
      let names = columns.prefix(keys).joined(separator: ", ")
      let after: SQL =
        if let key {
          " AND (\(sql: names)) > (\(SQL(list: key, of: [.integer, .bytes])))"
        } else {
          ""
        }
      let digest = body.map { ", sha256(\($0))" } ?? ""
      return """
        SELECT \(sql: columns.joined(separator: ", "))\(sql: digest) FROM \(sql: table)
        WHERE \(place)\(after) ORDER BY \(sql: names) LIMIT \(bind: limit)
        """
    }

    func insert(_ row: TransferRow, kinds: [TransferValue.Kind]) -> SQL {
      let names = ([scope] + columns + [body].compactMap { $0 }).joined(separator: ", ")
      let body: SQL = row.body.map { ", \(bind: $0)" } ?? ""
      return """
        INSERT INTO \(sql: table) (\(sql: names)) OVERRIDING SYSTEM VALUE
        VALUES (\(bind: number), \(SQL(list: row.values, of: kinds))\(body))
        """
    }

    func delete(_ key: [TransferValue]) -> SQL {
      let names = columns.prefix(key.count).joined(separator: ", ")
      return """
        DELETE FROM \(sql: table)
        WHERE \(place) AND (\(sql: names)) = (\(SQL(list: key, of: [.integer, .bytes])))
        """
    }

    /// Deletes the rows that have one of some values in a column.
    func delete(_ column: Int, _ values: [TransferValue]) -> SQL {
      let bytes = values.compactMap { if case .bytes(let bytes) = $0 { bytes } else { nil } }
      let numbers = values.compactMap { if case .integer(let value) = $0 { value } else { nil } }
      let list: SQL = numbers.isEmpty ? "\(bind: bytes)" : "\(bind: numbers)"
      return "DELETE FROM \(sql: table) WHERE \(place) AND \(sql: columns[column]) = ANY(\(list))"
    }
  }

  private func layout(
    _ table: TransferTable, _ place: TransferPlace
  ) throws(TransferFailure) -> Layout {
    guard let collection = place.collection else {
      return Layout(table, try number(of: place.app))
    }
    return Layout(table, try number(of: collection, place.app))
  }

  // MARK: Reading

  /// That of the database; `finish` replaces it.
  package var epoch: String {
    (try? database.read("SELECT epoch FROM kvstored").text(0, 0)) ?? ""
  }

  package func apps() throws(TransferFailure) -> [String] {
    let rows = try read("SELECT key FROM app ORDER BY key")
    return (0..<rows.count).map { rows.text($0, 0) }
  }

  package func collections(of app: String) throws(TransferFailure) -> [TransferCollection] {
    let rows = try read(
      """
      SELECT name, permissions, history_days, history_since, read_rule, rule_since,
        ARRAY(SELECT spec FROM entity_index WHERE collection = c.number AND progress IS NULL
          ORDER BY number)
      FROM collection AS c WHERE app = (SELECT number FROM app WHERE key = \(bind: app))
      ORDER BY name
      """)
    return (0..<rows.count).map { row in
      let rule = rows.text(row, 4)
      return TransferCollection(
        name: rows.text(row, 0), permissions: rows.optionalText(row, 1),
        historyDays: rows.optionalInt64(row, 2), historySince: rows.optionalInt64(row, 3),
        readRule: rule.isEmpty ? nil : rule, ruleSince: rows.int64(row, 5),
        indexes: rows.texts(row, 6))
    }
  }

  package func clock(of app: String) throws(TransferFailure) -> TransferClock {
    let rows = try read("SELECT clock, live_floor FROM app WHERE key = \(bind: app)")
    guard !rows.isEmpty else { return TransferClock(latest: 0, liveFloor: 0) }
    return TransferClock(latest: rows.int64(0, 0), liveFloor: rows.int64(0, 1))
  }

  package func lastWrite(to app: String) throws(TransferFailure) -> Int64 {
    let rows = try read(
      """
      SELECT coalesce(max(modified), 0) FROM entity WHERE collection IN (
        SELECT number FROM collection WHERE app = (SELECT number FROM app WHERE key = \(bind: app)))
      """)
    return rows.int64(0, 0)
  }

  package func rows(
    of table: TransferTable, in place: TransferPlace, after key: [TransferValue]?
  ) throws(TransferFailure) -> [TransferRow] {
    let rows = try read(
      try layout(table, place).select(keys: table.keyCount, after: key, limit: Self.pageRows))
    let kinds = table.kinds
    return (0..<rows.count).map { row in
      let values = kinds.enumerated().map { index, kind -> TransferValue in
        switch kind {
        case .texts: .texts(rows.texts(row, index).map { Array($0.utf8) })
        case _ where rows.isNull(row, index): .null
        case .integer: .integer(rows.int64(row, index))
        case .flag: .flag(rows.flag(row, index))
        case .bytes: .bytes(rows.copy(row, index))
        }
      }
      return TransferRow(
        values, body: nil, digest: table.hasBody ? rows.copy(row, kinds.count) : [])
    }
  }

  // MARK: Writing

  package func prepare(
    _ app: String, _ collections: [TransferCollection]
  ) throws(TransferFailure) {
    try run([
      """
      INSERT INTO app (key) SELECT \(bind: app)
      WHERE NOT EXISTS (SELECT 1 FROM app WHERE key = \(bind: app))
      """
    ])
    guard movedUntil == nil else {
      throw TransferFailure("the data was moved to this database already")
    }
    let number = try number(of: app)
    try removeIndexes(of: app, number)
    let names = collections.map(\.name)
    let others: SQL = """
      (SELECT number FROM collection
        WHERE app = \(bind: number) AND NOT name = ANY(\(bind: names)))
      """
    try run(
      ["entity", "tombstone", "former_access"].map {
        "DELETE FROM \(sql: $0) WHERE collection IN \(others)"
      } + ["DELETE FROM collection WHERE number IN \(others)"]
        + collections.map { Self.make($0, app: number) })
  }

  private static func make(_ collection: TransferCollection, app: Int64) -> SQL {
    """
    INSERT INTO collection (app, name, permissions, history_days, history_since, read_rule, rule_since)
    VALUES (\(bind: app), \(bind: collection.name), \(bind: collection.permissions),
      \(bind: collection.historyDays), \(bind: collection.historySince),
      \(bind: collection.readRule ?? ""), \(bind: collection.ruleSince))
    ON CONFLICT (app, name) DO UPDATE SET permissions = excluded.permissions,
      history_days = excluded.history_days, history_since = excluded.history_since,
      read_rule = excluded.read_rule, rule_since = excluded.rule_since
    """
  }

  package func change(
    _ table: TransferTable, in place: TransferPlace, removing keys: [[TransferValue]],
    adding rows: [TransferRow]
  ) throws(TransferFailure) {
    let layout = try layout(table, place)
    let all = keys + rows.map { Array($0.values.prefix(table.keyCount)) }
    var statements: [SQL] = []
    if table.keyCount == 1 {
      statements.append(layout.delete(0, all.map { $0[0] }))
    } else {
      statements += all.map { layout.delete($0) }
    }
    // A row that is about to go may still have what a new one has.
    if let column = table.uniqueColumn, !rows.isEmpty {
      statements.append(layout.delete(column, rows.map { $0.values[column] }))
    }
    try run(statements + rows.map { layout.insert($0, kinds: table.kinds) })
  }

  package func complete(
    _ app: String, _ collections: [TransferCollection], clock: TransferClock
  ) throws(TransferFailure) {
    let number = try number(of: app)
    for collection in collections {
      for text in collection.indexes {
        let spec: IndexSpec
        do { spec = try IndexSpec(stored: text) } catch {
          throw TransferFailure("an index of \(collection.name) cannot be read")
        }
        try stored { () throws(ServerError) in
          try indexes.add(spec, to: CollectionKey(app: number, name: collection.name))
        }
      }
    }
    try workOnIndexes()
    try run([
      """
      UPDATE app SET clock = greatest(clock, \(bind: clock.latest)),
        live_floor = \(bind: clock.liveFloor)
      WHERE number = \(bind: number)
      """,
      """
      SELECT setval(pg_get_serial_sequence('entity', 'n'),
        (SELECT coalesce(max(n), 0) + 1 FROM entity), false)
      """,
    ])
  }

  package func finish(epoch: String, latest: Int64) throws(TransferFailure) {
    try run([
      "UPDATE kvstored SET epoch = \(bind: epoch), moved = \(bind: latest)",
      "DELETE FROM migration",
    ])
  }

  private func removeIndexes(of app: String, _ number: Int64) throws(TransferFailure) {
    for collection in try collections(of: app) {
      let key = CollectionKey(app: number, name: collection.name)
      try stored { () throws(ServerError) in
        for index in try indexes.indexes(of: key) {
          _ = try indexes.remove(index.spec.name, from: key)
        }
      }
    }
    try workOnIndexes()
  }

  private func workOnIndexes() throws(TransferFailure) {
    try stored { () throws(ServerError) in while try indexes.buildNext() {} }
  }

  // MARK: Parts

  private func number(of app: String) throws(TransferFailure) -> Int64 {
    if let known = appNumbers[RecordID(app)] { return known }
    let rows = try read("SELECT number FROM app WHERE key = \(bind: app)")
    guard !rows.isEmpty else { throw TransferFailure("there is no app \(app)") }
    appNumbers[RecordID(app)] = rows.int64(0, 0)
    return rows.int64(0, 0)
  }

  private func number(of collection: String, _ app: String) throws(TransferFailure) -> Int64 {
    let name = [RecordID(app), RecordID(collection)]
    if let known = numbers[name] { return known }
    let rows = try read(
      """
      SELECT number FROM collection
      WHERE app = \(bind: try number(of: app)) AND name = \(bind: collection)
      """)
    guard !rows.isEmpty else { throw TransferFailure("there is no collection \(collection)") }
    numbers[name] = rows.int64(0, 0)
    return rows.int64(0, 0)
  }

  private func read(_ sql: SQL) throws(TransferFailure) -> ResultRows {
    try checked { () throws(PostgresError) in try database.read(sql) }
  }

  /// Runs statements that do no harm twice in a transaction.
  private func run(_ statements: [SQL]) throws(TransferFailure) {
    try checked { () throws(PostgresError) in try database.run(statements) }
  }

  private func checked<R>(_ body: () throws(PostgresError) -> R) throws(TransferFailure) -> R {
    try Self.checked(body)
  }

  private static func checked<R>(
    _ body: () throws(PostgresError) -> R
  ) throws(TransferFailure) -> R {
    do { return try body() } catch {
      throw TransferFailure("PostgreSQL: \(error.message)")
    }
  }

  private func stored<R>(_ body: () throws(ServerError) -> R) throws(TransferFailure) -> R {
    do { return try body() } catch {
      throw TransferFailure("PostgreSQL: \(error.cause ?? error.debug)")
    }
  }
}

extension SQL {
  /// Values with commas between. `kinds` says what NULLs would be; those that it has none for are never NULL.
  fileprivate init(list values: [TransferValue], of kinds: [TransferValue.Kind]) {
    self = ""
    for (index, value) in values.enumerated() {
      let comma: SQL = index == 0 ? "" : ", "
      let kind = kinds.indices.contains(index) ? kinds[index] : .bytes
      self = "\(self)\(comma)\(SQL(value, of: kind))"
    }
  }

  private init(_ value: TransferValue, of kind: TransferValue.Kind) {
    switch (value, kind) {
    case (.integer(let number), _): self = "\(bind: number)"
    case (.flag(let flag), _): self = "\(bind: flag)"
    case (.bytes(let bytes), _): self = "\(bind: bytes)"
    case (.texts(let texts), _): self = "\(bind: texts)"
    case (.null, .integer): self = "\(bind: nil as Int64?)"
    case (.null, .flag): self = "\(bind: nil as Bool?)"
    case (.null, .bytes): self = "\(bind: nil as String?)"
    case (.null, .texts): self = "\(bind: nil as [String]?)"
    }
  }
}
