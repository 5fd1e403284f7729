internal import Glibc
internal import KVBase
internal import KVJSON
package import KVQuery
internal import KVSQLite
package import KVSync

extension Storage {
  package func createIndex(_ spec: IndexSpec, in collection: String) throws(StoreError) {
    let index = try write(to: collection) { (db, change) throws(SQLiteError) -> IndexTable? in
      if let found = try Self.find(spec.name, change.table, on: db) {
        guard found.spec.renewed == spec else { return nil }
        let index = change.table.index(found.number, found.spec)
        return found.spec.isOutdated ? try Self.renew(index, of: change.table, on: db) : index
      }
      return try Self.add(spec, table: change.table, on: db)
    }
    guard let index else {
      throw StoreError(.invalid, "The index \(spec.name) exists already, with other keys.")
    }
    try fill(index)
    try dropAutomaticIndex(like: spec, in: collection)
  }

  /// Drops the index that was made without being asked for and has the keys of another one.
  private func dropAutomaticIndex(
    like spec: IndexSpec, in collection: String
  ) throws(StoreError) {
    let same = try indexes(in: collection).first { index in
      index.spec.automatic != nil && index.spec.hasKeys(of: spec)
    }
    if let same { _ = try removeIndex(same.spec.name, in: collection) }
  }

  package func dropIndex(_ name: String, in collection: String) throws(StoreError) -> Bool {
    guard let table = try removeIndex(name, in: collection) else { return false }
    automatic?.refuse(name, table)
    return true
  }

  /// Drops an index and gives its table; nil if no index has this name.
  func removeIndex(_ name: String, in collection: String) throws(StoreError) -> Table? {
    try write(to: collection) { (db, change) throws(SQLiteError) in
      guard let found = try Self.find(name, change.table, on: db) else { return nil }
      try Self.drop(change.table.index(found.number, found.spec), on: db)
      return change.table
    }
  }

  package func indexes(in collection: String) throws(StoreError) -> [StoredIndex] {
    try readSnapshot(of: collection) { (db, table) throws(SQLiteError) in
      let statement = try db.statement(Self.list(of: table))
      var indexes: [StoredIndex] = []
      while try statement.step() {
        guard let spec = try? IndexSpec(stored: statement.text(1) ?? "") else { continue }
        let shape = IndexShape(rawValue: statement.int64(2)) ?? .unusable
        indexes.append(StoredIndex(spec: spec, shape: shape, isReady: statement.isNull(3)))
      }
      return indexes
    } ?? []
  }

  // MARK: Steps

  private static func find(
    _ name: String, _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> (number: Int64, spec: IndexSpec)? {
    let statement = try db.statement(find(name, table))
    guard try statement.step(), let spec = try? IndexSpec(stored: statement.text(1) ?? "") else {
      return nil
    }
    return (statement.int64(0), spec)
  }

  private static func drop(
    _ index: IndexTable, on db: borrowing Connection
  ) throws(SQLiteError) {
    try db.execute(index.drop)
    try db.run("DELETE FROM indexes WHERE number = \(bind: index.number)")
  }

  static func add(
    _ spec: IndexSpec, table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> IndexTable {
    try db.run(
      """
      INSERT INTO indexes (collection, name, spec)
      VALUES (\(bind: table.number), \(bind: spec.name), \(bind: spec.storedText))
      """)
    let index = table.index(db.lastInsertRow, spec)
    try db.execute(index.create)
    return index
  }

  /// Puts an empty index with the weights of this version in the place of another one. It gets a number of its own: what anybody
  /// has kept of the other one is not taken for it.
  static func renew(
    _ index: IndexTable, of table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> IndexTable {
    try drop(index, on: db)
    return try add(index.spec.renewed, table: table, on: db)
  }

  /// Empties all indexes of a collection, which are filled again by `fill`; gives them. Until then no query uses them.
  static func emptyIndexes(
    of table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> [IndexTable] {
    let indexes = try tables(of: table, on: db)
    for index in indexes { try db.execute(index.remake) }
    return indexes
  }

  static func tables(
    of table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> [IndexTable] {
    let list = try db.statement(list(of: table))
    var indexes: [IndexTable] = []
    while try list.step() {
      guard let spec = try? IndexSpec(stored: list.text(1) ?? "") else { continue }
      indexes.append(table.index(list.int64(0), spec))
    }
    return indexes
  }

  /// The ordered indexes of a collection, also those that are being filled.
  static func orderedIndexes(
    of table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> [IndexTable] {
    try tables(of: table, on: db).filter { index in
      if case .ordered = index.spec.kind { true } else { false }
    }
  }

  /// Adds all entities that are not in an index yet, some in each transaction: what is written meanwhile, by whomever, is
  /// added by the triggers. Ends also if the index is dropped meanwhile. Several processes may do this at the same time, and the next one
  /// goes on where one was killed.
  func fill(_ index: IndexTable) throws(StoreError) {
    var (pace, isLast) = (FillPace(), false)
    while !isLast {
      isLast = try step(&pace) { (db, count) throws(SQLiteError) in
        let isLast = try index.fill(count, on: db)
        return (isLast, isLast)
      }
    }
  }

  /// Runs one step in a transaction, and rests afterwards unless it was the last one. `body` is given how many entities to add.
  func step<R>(
    _ pace: inout FillPace,
    _ body: (borrowing Connection, Int64) throws(SQLiteError) -> (R, isLast: Bool)
  ) throws(StoreError) -> R {
    let start = monotonicNanoseconds()
    let (result, isLast) = try write(durably: false) {
      (db: borrowing Connection) throws(SQLiteError) in
      let result = try body(db, pace.begin(on: db))
      pace.end(on: db)
      return result
    }
    pace.took(monotonicNanoseconds() &- start)
    if !isLast { Self.rest(since: start) }
    return result
  }

  /// Rests between two steps of a long work, for a sixteenth of the time since the first one began, at least a millisecond. Other
  /// processes that want to write are not woken: they look for the lock twice a millisecond, and would hardly ever find it free.
  static func rest(since start: Int64) {
    usleep(UInt32(clamping: max(1_000, (monotonicNanoseconds() &- start) / 16_000)))
  }

  private static func find(_ name: String, _ table: Table) -> SQLFragment {
    "SELECT number, spec FROM indexes WHERE collection = \(bind: table.number) AND name = \(bind: name)"
  }

  private static func list(of table: Table) -> SQLFragment {
    """
    SELECT number, spec, shape, progress FROM indexes WHERE collection = \(bind: table.number)
    ORDER BY number
    """
  }
}
