internal import KVBase
internal import KVQuery
internal import KVSQLite
internal import KVSync

/// Removes what a query finds, inside one transaction: a table at a time instead of an entity at a time.
///
/// What is found is noted in temporary tables, with the create that is queued for it and with its rows in ordered indexes:
///
///     removed       n, id, queued, written     an entity; the number of its write in the queue, and a LocalWrite
///     removed_keys  x, n, k0, k1…              a row of index x
///
/// Then one statement changes the queue, one each index, and one deletes the entities. Taking the entities one by one would
/// read and write pages of all these tables again and again: they are in different orders, and no cache holds them all.
struct Removal {
  private let change: Storage.Change
  private let indexes: [(table: IndexTable, keys: IndexKeys)]

  init(_ change: Storage.Change, on db: borrowing Connection) throws(SQLiteError) {
    self.change = change
    let ordered = try Storage.orderedIndexes(of: change.table, on: db)
    for index in ordered where index.spec.isOutdated { try db.run(index.markOutdated) }
    indexes = ordered.map { ($0, IndexKeys($0.spec)) }
    try db.execute(Self.createTables)
  }

  private static let keyColumns = (0..<IndexSpec.maxKeys).map { "k\($0)" }.joined(separator: ", ")

  private static let createTables = """
    CREATE TEMP TABLE IF NOT EXISTS removed (
      n INTEGER PRIMARY KEY, id TEXT NOT NULL, queued INTEGER, written INTEGER NOT NULL);
    CREATE TEMP TABLE IF NOT EXISTS removed_keys (x INTEGER NOT NULL, n INTEGER NOT NULL, \(keyColumns));
    """

  /// Removes the entities that a statement finds, whose columns are body, checksum, id and row number; gives how many. Throws
  /// `.corrupt` if one is damaged: whether it matches cannot be told.
  func remove(_ found: borrowing Statement, on db: borrowing Connection) throws(SQLiteError) -> Int
  {
    let count = try note(found, on: db)
    try queueDeletions(on: db)
    if count < Self.manyEntities {
      try deleteEntities(on: db)
    } else {
      try deleteWithoutTriggers(on: db)
    }
    try db.execute("DELETE FROM temp.removed; DELETE FROM temp.removed_keys")
    return count
  }

  /// How many entities are worth a change of the schema, after which every connection reads it again.
  private static let manyEntities = 1_000

  // MARK: Steps

  private func deleteEntities(on db: borrowing Connection) throws(SQLiteError) {
    try db.run(
      "DELETE FROM \(sql: change.table.entities) WHERE n IN (SELECT n FROM temp.removed)")
  }

  /// The same, with one statement for each index in place of its triggers, and without the trigger that notes free row
  /// numbers. Because triggers call functions, which may fail, SQLite would copy every page that the statement changes into a
  /// file.
  private func deleteWithoutTriggers(on db: borrowing Connection) throws(SQLiteError) {
    let (table, number) = (change.table.entities, change.table.number)
    for index in indexes {
      try db.run(index.table.removeRows(listedIn: "temp.removed_keys"))
      try db.execute(index.table.dropDeletionTriggers)
    }
    try db.execute(StorageSchema.forgetFreedRows(of: table))
    try deleteEntities(on: db)
    try db.run(
      """
      UPDATE collections SET freed = max(freed, (SELECT max(n) FROM temp.removed))
      WHERE number = \(bind: number)
      """)
    try db.execute(StorageSchema.rememberFreedRows(of: table, number: number))
    for index in indexes { try db.execute(index.table.createDeletionTriggers) }
  }

  /// Gives how many entities there are.
  private func note(
    _ found: borrowing Statement, on db: borrowing Connection
  ) throws(SQLiteError) -> Int {
    var count = 0
    let entity = try db.statement(noteEntity)
    let key = try db.prepare(
      "INSERT INTO temp.removed_keys VALUES (\(Self.placeholders(IndexSpec.maxKeys + 2)))")
    while try found.step() {
      let body = try change.table.body(of: found)
      let row = found.int64(3)
      try entity.bind(row, at: .row)
      try entity.bind(borrowedText: found.bytes(2), at: .id)
      try entity.run()
      try key.bind(row, at: 2)
      for index in indexes {
        try key.bind(index.table.number, at: 1)
        for values in index.keys.rows(of: body) {
          for (column, value) in values.enumerated() { try key.bind(value, at: Int32(column) + 3) }
          try key.run()
        }
      }
      count += 1
    }
    return count
  }

  private static func placeholders(_ count: Int) -> String {
    (1...count).map { "?\($0)" }.joined(separator: ", ")
  }

  private var noteEntity: SQLFragment {
    let isEntity = "collection = \(change.table.number) AND id = \(Parameter.id)"
    return """
      INSERT INTO temp.removed
      SELECT \(sql: "\(Parameter.row)"), \(sql: "\(Parameter.id)"), p.n, \(sql: Table.localWrite(isEntity))
      FROM (SELECT 1) LEFT JOIN pending AS p ON p.\(sql: isEntity)
      """
  }

  /// Queues what the backend has to be told, and drops the creates that it has not seen.
  private func queueDeletions(on db: borrowing Connection) throws(SQLiteError) {
    let sent = try db.prepare(
      "SELECT id FROM temp.removed WHERE written = \(bind: LocalWrite.mayBeSent.rawValue)")
    while try sent.step() {
      try Storage.expectLateWrites(of: sent.text(0) ?? "", change, on: db)
    }
    let queue = try db.statement(change.table.queueDeletionsOfRemoved)
    try queue.bind(change.now, at: .time)
    try queue.bind(LocalWrite.unsentCreate.rawValue, at: .operation)
    try queue.run()
    try db.run(
      """
      DELETE FROM pending WHERE n IN (
        SELECT queued FROM temp.removed WHERE written = \(bind: LocalWrite.unsentCreate.rawValue))
      """)
  }
}
