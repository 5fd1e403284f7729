internal import KVBase
internal import KVSQLite
internal import KVSync

/// The collections of a file, and their tables. Tables are made when they are first written to, by whichever process
/// that is, and never go away.
final class CollectionCatalog: Sendable {
  /// A collection as the running write transaction sees it.
  struct Entry {
    let table: Table
    /// The generation that rows written now carry.
    var generation: Int64
    let rows: RowNumbers
  }

  private struct State {
    /// Tables that were seen committed, and the one that was asked for last: comparing a name with itself
    /// costs less than hashing it.
    var known: [RecordID: Table] = [:]
    var last: (name: RecordID, table: Table)?
    /// What the writer saw, as long as the epoch of its connection is this one.
    var current: [RecordID: Entry] = [:]
    var epoch = 0
    /// The tables of the collections that the running transaction has asked for.
    var asked: [Int64: Table] = [:]

    mutating func known(_ collection: RecordID) -> Table? {
      if let last, last.name == collection { return last.table }
      guard let table = known[collection] else { return nil }
      last = (collection, table)
      return table
    }
  }

  private let state = Monitor(State())
  private let layout: RecordLayout

  init(_ layout: RecordLayout) { self.layout = layout }

  private static let all = SQL("SELECT number FROM collections")

  /// The table of a collection, for reading; nil if nothing was ever written to it.
  func table(
    _ collection: String, on db: borrowing Connection
  ) throws(SQLiteError) -> Table? {
    let name = RecordID(collection)
    if let table = state.withLock({ $0.known(name) }) { return table }
    guard let entry = try look(for: collection, on: db) else { return nil }
    state.withLock { $0.known[name] = entry.table }
    return entry.table
  }

  /// The table of a collection, if it was seen before. Nothing is read.
  func knownTable(_ collection: String) -> Table? {
    let name = RecordID(collection)
    return state.withLock { $0.known(name) }
  }

  /// Notes a table that committed data has: plans of queries are kept with it.
  func remember(_ table: Table) {
    state.withLock { state in
      let name = RecordID(table.name)
      if state.known[name] == nil { state.known[name] = table }
    }
  }

  /// Forgets all tables, because collections have other names now.
  func forget() {
    state.withLock { state in (state.known, state.last, state.current) = ([:], nil, [:]) }
  }

  /// The table of a collection, as the snapshot that is open on `db` has it; nil if it has none.
  func table(
    _ collection: String, inSnapshot db: borrowing Connection
  ) throws(SQLiteError) -> Table? {
    try look(for: collection, on: db)?.table
  }

  /// The collection, made if there is none, for the write transaction that is open on `db`.
  func entry(
    _ collection: String, on db: borrowing Connection
  ) throws(SQLiteError) -> Entry {
    let epoch = db.epoch
    let kept = state.withLock { state -> Entry? in
      guard state.epoch == epoch, let entry = state.current[RecordID(collection)] else {
        return nil
      }
      state.asked[entry.table.number] = entry.table
      return entry
    }
    if let kept { return kept }
    if let found = try look(for: collection, on: db) {
      keep(found, collection, epoch: epoch)
      return found
    }
    let made = try make(collection, on: db)
    keep(made, collection, epoch: epoch)
    return made
  }

  /// Raises the generation: rows written from now on are newer than those before.
  func raiseGeneration(
    of collection: String, on db: borrowing Connection
  ) throws(SQLiteError) -> Int64 {
    var entry = try entry(collection, on: db)
    let statement = try db.statement(entry.table.raiseGeneration)
    if try statement.step() { entry.generation = statement.int64(0) }
    keep(entry, collection, epoch: db.epoch)
    return entry.generation
  }

  /// The numbers of all collections.
  static func numbers(on db: borrowing Connection) throws(SQLiteError) -> [Int64] {
    let statement = try db.statement(all)
    var numbers: [Int64] = []
    while try statement.step() { numbers.append(statement.int64(0)) }
    return numbers
  }

  private func keep(_ entry: Entry, _ collection: String, epoch: Int) {
    state.withLock { state in
      if state.epoch != epoch { (state.epoch, state.current) = (epoch, [:]) }
      state.current[RecordID(collection)] = entry
      state.asked[entry.table.number] = entry.table
    }
  }

  /// The tables of the collections that were asked for by `entry` since the last call: those that a transaction writes to.
  func takeAsked() -> some Collection<Table> {
    state.withLock { state in
      let tables = state.asked
      state.asked.removeAll(keepingCapacity: true)
      return tables
    }.values
  }

  private func look(
    for collection: String, on db: borrowing Connection
  ) throws(SQLiteError) -> Entry? {
    let statement = try db.statement(
      "SELECT number, generation FROM collections WHERE name = \(bind: collection)")
    guard try statement.step() else { return nil }
    let number = statement.int64(0)
    let table =
      knownTable(collection).flatMap { $0.number == number ? $0 : nil }
      ?? Table(number: number, name: collection, layout.format(of: collection))
    return Entry(
      table: table, generation: statement.int64(1),
      rows: RowNumbers(table))
  }

  private func make(
    _ collection: String, on db: borrowing Connection
  ) throws(SQLiteError) -> Entry {
    try db.run("INSERT INTO collections (name) VALUES (\(bind: collection))")
    let table = Table(number: db.lastInsertRow, name: collection, layout.format(of: collection))
    try db.execute(StorageSchema.createEntities(table.entities, number: table.number))
    return Entry(table: table, generation: 1, rows: RowNumbers(table))
  }
}
