internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVSQLite
internal import KVSync

extension Storage {
  // MARK: What queries cost

  /// Notes that a query was carried out to its end, and what it found, if it looked at all entities.
  func note(_ plan: Plan, found: Int, on db: borrowing Connection) throws(SQLiteError) {
    guard let wanted = plan.wantedIndex, !plan.isCutShort(found) else { return }
    try note(scanOf: plan.table, wanting: wanted, found: found, on: db)
  }

  /// Notes that all entities were looked at, which an index would have spared.
  func note(
    scanOf table: Table, wanting wanted: IndexSpec, found: Int, on db: borrowing Connection
  ) throws(SQLiteError) {
    guard let automatic else { return }
    let rows = try Self.highestRow(of: table, on: db)
    automatic.scanned(wanted, table, rows: rows, found: found, for: self)
  }

  /// The same once the cursor that gave the entities is at its end. If that fails, nothing is noted.
  func note(_ plan: Plan, found: Int) {
    guard automatic != nil, plan.wantedIndex != nil else { return }
    try? database.withReader { (db: borrowing Connection) throws(SQLiteError) in
      try note(plan, found: found, on: db)
    }
  }

  /// About as many as there are rows: most that were ever made are still there.
  static func highestRow(of table: Table, on db: borrowing Connection) throws(SQLiteError) -> Int {
    let highest = try db.statement("SELECT max(n) FROM \(sql: table.entities)")
    return try highest.step() ? highest.int(0) : 0
  }

  // MARK: Indexes

  /// Waits until no index is being made or dropped that no application asked for.
  package func waitForAutomaticIndexes() { automatic?.waitUntilIdle() }

  /// The names of the indexes that were made without being asked for.
  static func automaticIndexes(
    of table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> [String] {
    try automaticSpecs(on: db).filter { $0.collection == table.number }.map(\.spec.name)
  }

  private static func automaticSpecs(
    on db: borrowing Connection
  ) throws(SQLiteError) -> [(collection: Int64, spec: IndexSpec)] {
    let statement = try db.statement("SELECT collection, spec FROM indexes")
    var specs: [(collection: Int64, spec: IndexSpec)] = []
    while try statement.step() {
      guard let spec = try? IndexSpec(stored: statement.text(1) ?? ""), spec.automatic != nil else {
        continue
      }
      specs.append((statement.int64(0), spec))
    }
    return specs
  }

  /// Adds an empty index, or finds the one that was begun; tells how many bytes it may take. Nil: there is one with the same
  /// keys, or there are too many.
  func addAutomaticIndex(
    _ spec: IndexSpec, in collection: String, _ rules: IndexLedger.Rules
  ) throws(StoreError) -> (index: IndexTable, limit: Int)? {
    try write(to: collection, durably: false) { (db, change) throws(SQLiteError) in
      let automatic = try Self.automaticSpecs(on: db)
      let used = try db.usedBytes()
      let allowed = rules.allowedBytes(of: used)
      let left = allowed - automatic.reduce(0) { $0 + ($1.spec.automatic?.bytes ?? 0) }
      let others = try Self.tables(of: change.table, on: db)
      if let begun = others.first(where: { $0.spec.name.hasSameBytes(as: spec.name) }) {
        // One of the application's may have the name.
        return begun.spec.automatic.map { (begun, left + $0.bytes) }
      }
      let count = others.count { $0.spec.automatic != nil }
      guard count < rules.maxIndexes, !others.contains(where: { $0.spec.hasKeys(of: spec) }) else {
        return nil
      }
      let index = try Self.add(spec, table: change.table, on: db)
      _ = try Self.charge(try db.usedBytes() - used, to: index, on: db)
      return (index, left)
    }
  }

  /// Adds some more entities to an index, and tells how many bytes of the file it takes now. That is noted in the same
  /// transaction, so it is known of every index that can be used.
  func fillMeasuring(
    _ index: IndexTable, _ pace: inout FillPace
  ) throws(StoreError) -> (isLast: Bool, bytes: Int) {
    try step(&pace) { (db, count) throws(SQLiteError) in
      let before = try db.usedBytes()
      let isLast = try index.fill(count, on: db)
      let bytes = try Self.charge(try db.usedBytes() - before, to: index, on: db)
      return ((isLast: isLast, bytes: bytes), isLast)
    }
  }

  /// Notes that an index takes so many more bytes, and gives how many these are in all; 0 if it is not an automatic one any more.
  private static func charge(
    _ more: Int, to index: IndexTable, on db: borrowing Connection
  ) throws(SQLiteError) -> Int {
    let row = try db.statement("SELECT spec FROM indexes WHERE number = \(bind: index.number)")
    guard try row.step(), var spec = try? IndexSpec(stored: row.text(0) ?? ""),
      let known = spec.automatic?.bytes
    else { return 0 }
    row.reset()
    let bytes = known + max(0, more)
    spec.automatic?.bytes = bytes
    let text = spec.storedText
    try db.run("UPDATE indexes SET spec = \(bind: text) WHERE number = \(bind: index.number)")
    return bytes
  }
}
