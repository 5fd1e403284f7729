internal import KVJSON
package import KVQuery
internal import KVSQLite
package import KVSync

extension Storage {
  /// How many entities are added to a new index in one transaction: others write in between.
  private static let fillStep: Int64 = 2_000

  package func createIndex(_ spec: IndexSpec, in collection: String) throws(StoreError) {
    let text = JSONValue.object(spec.json).text
    let index = try write(to: collection) { (db, change) throws(SQLiteError) -> IndexTable? in
      if let number = try Self.find(spec.name, change.table, on: db, text: text) {
        return number.map { IndexTable(number: $0, spec, on: change.table) }
      }
      return try Self.add(spec, text, table: change.table, on: db)
    }
    guard let index else {
      throw StoreError(.invalid, "There is an index \(spec.name) already, with other keys.")
    }
    // Each step is a transaction: what is written meanwhile, by whomever, is added by the triggers.
    while try !fill(index) {}
  }

  package func dropIndex(_ name: String, in collection: String) throws(StoreError) -> Bool {
    try write(to: collection) { (db, change) throws(SQLiteError) in
      guard let found = try Self.find(name, change.table, on: db) else { return false }
      try db.execute(IndexTable(number: found.number, found.spec, on: change.table).drop)
      let statement = try db.statement(Indexes.forget)
      try statement.bind(found.number, at: 1)
      try statement.run()
      return true
    }
  }

  package func indexes(in collection: String) throws(StoreError) -> [StoredIndex] {
    try readSnapshot(of: collection) { (db, table) throws(SQLiteError) in
      let statement = try db.statement(Indexes.list)
      try statement.bind(table.number, at: 1)
      var indexes: [StoredIndex] = []
      while try statement.step() {
        guard let spec = try? IndexSpec(parsing: statement.text(1) ?? "") else { continue }
        let shape = IndexShape(rawValue: statement.int64(2)) ?? .unusable
        indexes.append(StoredIndex(spec: spec, shape: shape, isReady: statement.isNull(3)))
      }
      return indexes
    } ?? []
  }

  // MARK: Steps

  /// The number of an index of this name, itself nil if it has another text; nil if there is none.
  private static func find(
    _ name: String, _ table: Table, on db: borrowing Connection, text: String
  ) throws(SQLiteError) -> Int64?? {
    let statement = try db.statement(Indexes.find)
    try statement.bind(table.number, at: 1)
    try statement.bind(name, at: 2)
    guard try statement.step() else { return nil }
    let isSame = statement.text(1).map { $0.utf8.elementsEqual(text.utf8) } ?? false
    return .some(isSame ? statement.int64(0) : nil)
  }

  private static func find(
    _ name: String, _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> (number: Int64, spec: IndexSpec)? {
    let statement = try db.statement(Indexes.find)
    try statement.bind(table.number, at: 1)
    try statement.bind(name, at: 2)
    guard try statement.step(), let spec = try? IndexSpec(parsing: statement.text(1) ?? "") else {
      return nil
    }
    return (statement.int64(0), spec)
  }

  private static func add(
    _ spec: IndexSpec, _ text: String, table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> IndexTable {
    let statement = try db.statement(Indexes.add)
    try statement.bind(table.number, at: 1)
    try statement.bind(spec.name, at: 2)
    try statement.bind(text, at: 3)
    try statement.run()
    let index = IndexTable(number: db.lastInsertRow, spec, on: table)
    try db.execute(index.create)
    return index
  }

  /// Empties all indexes of a collection, which are filled again by `fill`; gives them. Until then no query uses them.
  static func emptyIndexes(
    of table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> [IndexTable] {
    let list = try db.statement(Indexes.list)
    try list.bind(table.number, at: 1)
    var indexes: [IndexTable] = []
    while try list.step() {
      guard let spec = try? IndexSpec(parsing: list.text(1) ?? "") else { continue }
      indexes.append(IndexTable(number: list.int64(0), spec, on: table))
    }
    for index in indexes { try db.execute(index.remake(isFilledNext: false)) }
    return indexes
  }

  /// Adds some more entities; true when all are in it, or it was dropped meanwhile. Several processes may do
  /// this at the same time, and the next one goes on where one was killed.
  func fill(_ index: IndexTable) throws(StoreError) -> Bool {
    try write(durably: false) { (db: borrowing Connection) throws(SQLiteError) in
      let progress = try db.statement(Indexes.progress)
      try progress.bind(index.number, at: 1)
      guard try progress.step(), !progress.isNull(0) else { return true }
      let first = progress.int64(0)
      let next = try db.prepare(index.nextRows)
      try next.bind(first, at: 1)
      try next.bind(Self.fillStep, at: 2)
      let last = try next.step() && !next.isNull(0) ? next.int64(0) : nil
      if let last { try index.fill(after: first, through: last, on: db) }
      let reached = try db.statement(Indexes.reach)
      try reached.bind(index.number, at: 1)
      if let last { try reached.bind(last, at: 2) } else { try reached.bindNull(at: 2) }
      try reached.run()
      return last == nil
    }
  }

  private enum Indexes {
    private static let isIndex = "WHERE number = ?1"
    static let add = SQL("INSERT INTO indexes (collection, name, spec) VALUES (?1, ?2, ?3)")
    static let find = SQL(
      "SELECT number, spec FROM indexes WHERE collection = ?1 AND name = ?2")
    static let list = SQL(
      "SELECT number, spec, shape, progress FROM indexes WHERE collection = ?1 ORDER BY number")
    static let forget = SQL("DELETE FROM indexes \(isIndex)")
    static let progress = SQL("SELECT progress FROM indexes \(isIndex)")
    static let reach = SQL("UPDATE indexes SET progress = ?2 \(isIndex)")
  }
}
