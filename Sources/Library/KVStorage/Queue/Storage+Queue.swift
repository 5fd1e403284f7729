internal import KVBase
package import KVJSON
package import KVQuery
internal import KVSQLite
package import KVSync

extension Storage {
  package func pending(
    in collection: String, after order: Int64, limit: Int, onlyWaiting: Bool
  ) throws(StoreError) -> [PendingWrite] {
    try read(from: collection) { (db, table) throws(SQLiteError) in
      // By the order of the rows, also where an index of the collection's ids looks shorter.
      let statement = try db.statement(
        """
        SELECT \(sql: PendingWrite.columns) FROM pending AS p NOT INDEXED
        WHERE p.collection = \(bind: table.number) AND p.n > \(bind: order)
        \(sql: onlyWaiting ? "AND p.state = 0" : "") ORDER BY p.n LIMIT \(bind: limit)
        """)
      var writes: [PendingWrite] = []
      while try statement.step() { writes.append(PendingWrite(row: statement, of: collection)) }
      return writes
    } ?? []
  }

  package func pending(
    _ id: String, in collection: String
  ) throws(StoreError) -> PendingDetail? {
    try read(from: collection) { (db, table) throws(SQLiteError) in
      // One statement, so that row and entity are of the same moment.
      let statement = try db.statement(
        """
        SELECT \(sql: PendingWrite.columns), e.body, e.checksum, e.id, p.base, p.base_checksum, p.remote, p.tried,
          (SELECT group_concat(version) FROM unanswered WHERE \(table.isEntity(id))),
          p.replaces_unseen > 1
        FROM pending AS p LEFT JOIN \(sql: table.entities) AS e ON e.id = p.id
        WHERE p.collection = \(bind: table.number) AND p.id = \(bind: id)
        """)
      guard try statement.step() else { return nil }
      let first = PendingWrite.columnCount
      // A damaged one is as good as none.
      let base =
        statement.isNull(first + 3) || !statement.isIntact(first + 3)
        ? nil : try statement.copy(first + 3)
      return PendingDetail(
        write: PendingWrite(row: statement, of: collection),
        entity: statement.isNull(first)
          ? nil : try [UInt8](table.body(of: statement, at: first), or: SQLiteError.noMemory),
        base: base,
        theirs: statement.isNull(first + 5)
          ? nil : RemoteVersion(column: try statement.copy(first + 5)),
        tried: try statement.versions(first + 6) + statement.versions(first + 7),
        replaced: statement.int(first + 8) == 0 ? nil : base.map { .entity($0) } ?? .gone)
    }
  }

  package func pendingCount(in collection: String?) throws(StoreError) -> Int {
    guard let collection else {
      return try read { (db: borrowing Connection) throws(SQLiteError) in
        Int(try db.integer("SELECT count(*) FROM pending") ?? 0)
      }
    }
    return try read(from: collection) { (db, table) throws(SQLiteError) in
      let statement = try db.statement(
        "SELECT count(*) FROM pending WHERE collection = \(bind: table.number)")
      return try statement.step() ? statement.int(0) : 0
    } ?? 0
  }

  package func waiting(
    after order: Int64, limit: Int
  ) throws(StoreError) -> [PendingWrite] {
    try read { (db: borrowing Connection) throws(SQLiteError) in
      let statement = try db.statement(
        """
        SELECT \(sql: PendingWrite.columns), c.name FROM pending AS p
        JOIN collections AS c ON c.number = p.collection
        WHERE p.n > \(bind: order) AND p.state = 0 ORDER BY p.n LIMIT \(bind: limit)
        """)
      var writes: [PendingWrite] = []
      while try statement.step() {
        let collection = statement.text(PendingWrite.columnCount) ?? ""
        writes.append(PendingWrite(row: statement, of: collection))
      }
      return writes
    }
  }

  package func waitingCount(in collection: String?) throws(StoreError) -> Int {
    guard let collection else {
      return try read { (db: borrowing Connection) throws(SQLiteError) in
        Int(try db.integer("SELECT count(*) FROM pending WHERE state = 0") ?? 0)
      }
    }
    return try read(from: collection) { (db, table) throws(SQLiteError) in
      let statement = try db.statement(
        "SELECT count(*) FROM pending WHERE collection = \(bind: table.number) AND state = 0")
      return try statement.step() ? statement.int(0) : 0
    } ?? 0
  }

  /// The collections that have something to send.
  package func collectionsWaiting() throws(StoreError) -> [String] {
    try read { (db: borrowing Connection) throws(SQLiteError) in
      let statement = try db.statement(Self.waitingCollections)
      var names: [String] = []
      while try statement.step() { if let name = statement.text(0) { names.append(name) } }
      return names
    }
  }

  package func turnIntoUpdate(_ id: String, in collection: String) throws(StoreError) {
    try write(to: collection) { (db, change) throws(SQLiteError) in
      try db.run(
        "UPDATE pending SET operation = 2 WHERE \(change.table.isEntity(id)) AND operation = 1")
    }
  }

  package func editPending(
    _ bytes: UnsafeRawBufferPointer, _ outline: EntityOutline, id: String,
    known: KnownMembers?, in collection: String
  ) throws(StoreError) -> Bool {
    guard outline.id?.hasSameBytes(as: id) ?? true else {
      throw StoreError(.invalid, "The entity has another id than the pending write.")
    }
    try Memory.require(outline.range.count + id.utf8.count + 128, or: StoreError.noMemory)
    let body =
      outline.id == nil
      ? EntityEditing.inserting(
        id: id, into: bytes, outline: outline,
        format: layout.format(of: collection))
      : [UInt8](bytes[outline.range])
    return try attempt { (db: borrowing Connection) throws(SQLiteError) in
      let change = Change(try catalog.entry(collection, on: db))
      let stored = "(SELECT e.body FROM \(change.table.entities) AS e WHERE e.id = pending.id)"
      try db.run(
        """
        UPDATE pending SET revision = \(bind: Identifier.revision()), changed = \(bind: change.now),
        attempts = 0, error = NULL, operators = NULL, \(sql: Self.releasing), tried = \(sql: Table.tried(with: stored))
        WHERE \(change.table.isEntity(id)) AND operation < 3
        """)
      guard db.changes > 0 else { return .success(false) }
      var entity = SavedEntity(id: id, bytes: body)
      if let known { entity.bytes = try Self.completed(entity, known, change: change, on: db) }
      do throws(StoreError) { entity = try layout.checked(entity, in: collection) } catch {
        return .failure(error)
      }
      try Self.put(entity.bytes, as: id, change: change, on: db)
      return .success(true)
    }
  }

  package func clear(_ query: Query?, in collection: String) throws(StoreError) -> Int {
    try write(to: collection, makingRoom: true) { (db, change) throws(SQLiteError) in
      let table = change.table
      try Self.forgetRequests(table, db)
      guard let query else {
        _ = try Self.dropAllPending(table, db)
        try db.execute("DELETE FROM \(table.entities)")
        return db.changes
      }
      let numbers = try numbers(of: query, table, on: db)
      _ = try Self.dropPending(of: numbers, table, on: db)
      let delete = try db.prepare("DELETE FROM \(table.entities) WHERE n = \(Parameter.row)")
      for number in numbers {
        try delete.bind(number, at: .row)
        try delete.run()
      }
      return numbers.count
    }
  }

  package func wipe() throws(StoreError) { try wipe(discardingPending: true) }

  /// Deletes everything, or throws `.pending` and deletes nothing if there are pending writes that must
  /// not be lost. One transaction. Afterwards the data has no owner, and is out of the file.
  package func wipe(discardingPending: Bool) throws(StoreError) {
    let unsent = try write(makingRoom: true) {
      (db: borrowing Connection) throws(SQLiteError) -> Int in
      let unsent = try Self.unsent(on: db)
      guard unsent == 0 || discardingPending else { return unsent }
      try Self.deleteAll(on: db)
      return 0
    }
    guard unsent == 0 else {
      throw StoreError(.pending, "\(unsent) pending writes would be lost.")
    }
    ownership.release()
    eraseDeleted()
  }

  /// All entities, pending writes and marks of what was read; whose they are.
  static func deleteAll(on db: borrowing Connection) throws(SQLiteError) {
    for number in try CollectionCatalog.numbers(on: db) {
      try db.execute("DELETE FROM \(Table(number: number).entities)")
    }
    try db.execute(
      """
      DELETE FROM pending; DELETE FROM requests; DELETE FROM unanswered; DELETE FROM owner;
      DELETE FROM gone; UPDATE collections SET synced = 0
      """)
  }

  // MARK: Steps

  static func hasPending(_ table: Table, _ db: borrowing Connection) throws(SQLiteError) -> Bool {
    try db.statement("SELECT 1 FROM pending WHERE collection = \(bind: table.number) LIMIT 1")
      .step()
  }

  private static let waitingCollections = SQL(
    """
    SELECT name FROM collections AS c
    WHERE EXISTS (SELECT 1 FROM pending WHERE collection = c.number AND state = 0)
    """)
}
