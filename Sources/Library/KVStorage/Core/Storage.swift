package import KVBase
package import KVCrypto
package import KVQuery
internal import KVSQLite
package import KVSync

/// The local data of one tag in one SQLite file. Safe from any thread; several processes may have the
/// same file open and see each other's writes.
///
/// After `fork()` the child's calls fail with `.misuse`. A disk that is full or fails gives an error,
/// and leaves everything as it was before the call.
package final class Storage: LocalStore {
  let database: Database
  /// What the records are like.
  package let layout: RecordLayout
  let catalog: CollectionCatalog
  let indexes: IndexCatalog
  /// Nil: no index is made without being asked for.
  let automatic: AutomaticIndexes?
  let ownership = Ownership()
  /// Tells observers that something was committed, here or in another process.
  let feed: ChangeFeed

  /// What happens to data that the backend has confirmed and has no more.
  package let resetRule = Monitor(BackendResetRule())

  /// Makes the id of an entity that comes without one.
  let makeId: @Sendable () -> String

  /// Opens or makes the file. `layout`: of the backend that the data is of; always the same for one file, or one that allows more.
  /// `vault`: has the key of an encrypted file; nil: it is not encrypted. `automaticIndexes`: when an index is made without being asked for; nil: never. `makeId`: for
  /// tests that are to repeat themselves.
  ///
  /// Throws `.corrupt` if the file is damaged, foreign, or of a newer version, and `.key` if the vault does not open it; it is left
  /// untouched.
  package init(
    path: String, vault: Vault? = nil, layout: RecordLayout = RecordLayout(),
    durability: Durability = .full, automaticIndexes: IndexLedger.Rules? = nil,
    makeId: @escaping @Sendable () -> String = { Identifier.entity() }
  ) throws(StoreError) {
    try MigratingThread.refuse()
    self.layout = layout
    self.makeId = makeId
    catalog = CollectionCatalog(layout)
    automatic = automaticIndexes.map { AutomaticIndexes($0) }
    indexes = IndexCatalog(automatic)
    var configuration = StorageSchema.configuration(path)
    configuration.vault = vault
    configuration.durability = durability == .full ? .full : .normal
    feed = ChangeFeed(path: path)
    let hasOutdatedIndexes = Monitor(false)
    configuration.knownTriggers = { (db: borrowing Connection) throws(SQLiteError) in
      let isOutdated = try IndexRepair.hasOutdated(db)
      hasOutdatedIndexes.withLock { $0 = isOutdated }
      return try StorageSchema.triggers(on: db)
    }
    do throws(SQLiteError) {
      database = try Database(
        configuration, newFile: StorageSchema.tables, migrations: StorageMigrations.all)
    } catch {
      throw StoreError(error)
    }
    // If that fails, queries do without them, and the next process tries again.
    if hasOutdatedIndexes.withLock({ $0 }) { try? IndexRepair.renewOutdated(database) }
  }

  /// What an acknowledged save survives.
  package enum Durability: Sendable {
    /// A power failure, too.
    case full
    /// The end of the process; after a power failure the last saves may be gone, never a part of one.
    case normal
  }

  /// Closes the file. Cursors stay valid; other calls fail with `.misuse`.
  package func close() {
    automatic?.close()
    feed.close()
    database.close()
  }

  // MARK: Transactions

  /// What the steps of one write to a collection share.
  struct Change {
    let table: Table
    let rows: RowNumbers
    /// The generation that rows written now carry.
    let generation: Int64
    /// Milliseconds since 1970.
    let now: Int64
    /// The version of rows made now. A record's version goes up by one with each change; one that is made
    /// anew with an old id starts after all of the old one's, because it starts with the time in
    /// microseconds.
    let firstVersion: Int64

    init(_ entry: CollectionCatalog.Entry) {
      table = entry.table
      rows = entry.rows
      generation = entry.generation
      firstVersion = Timestamp.microsecondsNow()
      now = firstVersion / 1000
    }

    /// Gives a statement that inserts what is the same for all rows of the transaction.
    func bindConstants(to statement: borrowing Statement) throws(SQLiteError) {
      try statement.bind(generation, at: .generation)
      try statement.bind(now, at: .time)
      try statement.bind(firstVersion, at: .version)
    }

    /// Runs a statement that inserts, with the next row number.
    func insert(
      with statement: borrowing Statement, on db: borrowing Connection
    ) throws(SQLiteError) {
      try statement.bind(try rows.next(on: db), at: .row)
      try statement.run()
      rows.use(db.lastInsertRow)
    }
  }

  /// Runs `body` in one transaction that is durable when this returns. `durably` false: what it writes can
  /// be had again from the backend, and need not survive a power failure. `makingRoom`, `repeatable`: see
  /// `Database.write`.
  func write<R>(
    durably: Bool = true, makingRoom: Bool = false, repeatable: Bool = false,
    _ body: (borrowing Connection) throws(SQLiteError) -> R
  ) throws(StoreError) -> R {
    let result = try writeUnclaimed(
      durably: durably, makingRoom: makingRoom, repeatable: repeatable
    ) {
      (db: borrowing Connection) throws(SQLiteError) -> R? in
      try ownership.isKept(writing: db) ? try body(db) : nil
    }
    guard let result else { throw Ownership.changed }
    return result
  }

  /// The same, whosever data it is.
  func writeUnclaimed<R>(
    durably: Bool = true, makingRoom: Bool = false, repeatable: Bool = false,
    _ body: (borrowing Connection) throws(SQLiteError) -> R
  ) throws(StoreError) -> R {
    try MigratingThread.refuse()
    do throws(SQLiteError) {
      var epoch = 0
      let result = try database.write(
        durably: durably, makingRoom: makingRoom, repeatable: repeatable
      ) {
        (db: borrowing Connection) throws(SQLiteError) -> R in
        epoch = db.epoch
        return try noting(on: db, body)
      }
      feed.publish(in: epoch)
      return result
    } catch {
      throw StoreError(error)
    }
  }

  /// Runs a part of a write transaction, and notes what it costs the automatic indexes of the collections that it is about.
  private func noting<R>(
    on db: borrowing Connection, _ body: (borrowing Connection) throws(SQLiteError) -> R
  ) throws(SQLiteError) -> R {
    guard let automatic else { return try body(db) }
    _ = catalog.takeAsked()
    let before = db.totalChanges
    let result = try body(db)
    let rows = db.totalChanges - before
    for table in catalog.takeAsked() { try automatic.changed(rows, table, on: db, for: self) }
    return result
  }

  /// The same for one collection, which is made if need be.
  func write<R>(
    to collection: String, durably: Bool = true, makingRoom: Bool = false,
    repeatable: Bool = false,
    _ body: (borrowing Connection, Change) throws(SQLiteError) -> R
  ) throws(StoreError) -> R {
    try write(durably: durably, makingRoom: makingRoom, repeatable: repeatable) {
      (db: borrowing Connection) throws(SQLiteError) in
      try body(db, Change(try catalog.entry(collection, on: db)))
    }
  }

  /// The same for a body that may fail in its own ways: what it did is undone then.
  func attempt<R>(
    makingRoom: Bool = false, repeatable: Bool = false,
    _ body: (borrowing Connection) throws(SQLiteError) -> Result<R, StoreError>
  ) throws(StoreError) -> R {
    var failure: StoreError?
    do throws(StoreError) {
      return try write(makingRoom: makingRoom, repeatable: repeatable) {
        (db: borrowing Connection) throws(SQLiteError) in
        failure = nil
        switch try body(db) {
        case .success(let result): return result
        case .failure(let error):
          failure = error
          throw .rollback
        }
      }
    } catch {
      throw failure ?? error
    }
  }

  /// Runs `body` on a reader. More than one statement may see more than one state of the data.
  func read<R>(
    _ body: (borrowing Connection) throws(SQLiteError) -> R
  ) throws(StoreError) -> R {
    let result = try readUnclaimed { (db: borrowing Connection) throws(SQLiteError) -> R? in
      let result = try body(db)
      return try ownership.isKept(reading: db) ? result : nil
    }
    guard let result else { throw Ownership.changed }
    return result
  }

  /// The same, whosever data it is.
  func readUnclaimed<R>(
    _ body: (borrowing Connection) throws(SQLiteError) -> R
  ) throws(StoreError) -> R {
    do throws(SQLiteError) {
      return try database.withReader(body)
    } catch {
      throw StoreError(error)
    }
  }

  /// Runs `body` on a reader; its statements see one state of the data.
  func readSnapshot<R>(
    within budget: WorkBudget = .unlimited,
    _ body: (borrowing Connection) throws(SQLiteError) -> R
  ) throws(StoreError) -> R {
    let result: R?
    do throws(SQLiteError) {
      result = try database.read(within: budget) {
        (db: borrowing Connection) throws(SQLiteError) -> R? in
        let result = try body(db)
        return try ownership.isKept(reading: db) ? result : nil
      }
    } catch {
      throw StoreError(error, within: budget)
    }
    guard let result else { throw Ownership.changed }
    return result
  }

  /// The same for one collection; nil if nothing was ever written to it. Its statements see one state of the
  /// data.
  func readSnapshot<R>(
    of collection: String, within budget: WorkBudget = .unlimited,
    _ body: (borrowing Connection, Table) throws(SQLiteError) -> R?
  ) throws(StoreError) -> R? {
    try readSnapshot(within: budget) { (db: borrowing Connection) throws(SQLiteError) -> R? in
      guard let table = try catalog.table(collection, on: db) else { return nil }
      return try body(db, table)
    }
  }

  /// The same for one statement, which costs less.
  func read<R>(
    from collection: String, _ body: (borrowing Connection, Table) throws(SQLiteError) -> R?
  ) throws(StoreError) -> R? {
    try read { (db: borrowing Connection) throws(SQLiteError) -> R? in
      guard let table = try catalog.table(collection, on: db) else { return nil }
      return try body(db, table)
    }
  }
}
