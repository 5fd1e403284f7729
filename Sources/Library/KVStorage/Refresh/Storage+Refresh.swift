package import KVBase
internal import KVJSON
package import KVQuery
internal import KVSQLite
package import KVSync

extension Storage {
  package func beginRefresh(of collection: String) throws(StoreError) -> RefreshMark {
    try write { (db: borrowing Connection) throws(SQLiteError) in
      RefreshMark(
        generation: try catalog.raiseGeneration(of: collection, on: db),
        tombstone: try Self.lastTombstone(on: db))
    }
  }

  package func finishRefresh(
    of collection: String, from mark: RefreshMark, deletingUnseen query: Query?,
    recording request: (key: RequestKey, startedAt: BackendMoment)?
  ) throws(StoreError) -> Int {
    try write(to: collection) { (db, change) throws(SQLiteError) in
      if let request { try Self.record(request, readFrom: mark, table: change.table, on: db) }
      if request != nil || query != nil { try Self.recordRead(change, on: db) }
      guard let query, try Self.mayHaveOlder(change.table, mark, on: db) else { return 0 }
      let table = change.table
      if query.matcher == nil, let request {
        if table.format.versionsAreTimes {
          try Self.insertTombstonesOfUnseen(change, mark, moment: request.startedAt.text, on: db)
        } else {
          try Self.insertTombstonesOfUnseenVersions(change, mark, on: db)
        }
      }
      let selection = try indexes.plan(query.selection, table, on: db).selection
      let deletion: SQLFragment =
        "DELETE FROM \(sql: table.entities) WHERE \(selection.condition) AND \(table.unseen(since: mark))"
      try db.prepare(deletion).run()
      return db.changes
    }
  }

  package func unseen(
    _ query: Query, from mark: RefreshMark, in collection: String, after order: Int64, limit: Int,
    within budget: WorkBudget
  ) throws(StoreError) -> [(order: Int64, id: String)] {
    try readSnapshot(of: collection, within: budget) { (db, table) throws(SQLiteError) in
      guard try Self.mayHaveOlder(table, mark, on: db) else { return [] }
      let selection = try indexes.plan(query.selection, table, on: db).selection
      let rows: SQLFragment = """
        SELECT n, id FROM \(sql: table.entities)
        WHERE \(selection.condition) AND \(table.unseen(since: mark)) AND n > \(bind: order)
        ORDER BY n LIMIT \(bind: Int64(limit))
        """
      let statement = try db.prepare(rows)
      var unseen: [(order: Int64, id: String)] = []
      while try statement.step() { unseen.append((statement.int64(0), statement.text(1) ?? "")) }
      return unseen
    } ?? []
  }

  package func confirm(
    _ query: Query, in collection: String, at moment: Timestamp
  ) throws(StoreError) {
    try write(to: collection, durably: false) { (db, change) throws(SQLiteError) in
      let table = change.table
      let selection = try indexes.plan(query.selection, table, on: db).selection
      let confirmation: SQLFragment = """
        UPDATE \(sql: table.entities) SET at = \(bind: moment.milliseconds)
        WHERE \(selection.condition) AND at < \(bind: moment.milliseconds) AND \(sql: table.isSettled)
        """
      try db.prepare(confirmation).run()
    }
  }

  /// What a read of everything has not brought was gone when it began. (What a filter has not brought may only have
  /// left it.)
  private static func insertTombstonesOfUnseen(
    _ change: Change, _ mark: RefreshMark, moment: String, on db: borrowing Connection
  ) throws(SQLiteError) {
    let statement = try db.statement(change.table.insertTombstonesOfUnseen)
    try statement.bind(mark.generation, at: .generation)
    try statement.bind(moment, at: .version)
    try statement.bind(change.now, at: .time)
    try statement.run()
  }

  /// The same where versions are no times: what is known to have gone is the version that was here.
  private static func insertTombstonesOfUnseenVersions(
    _ change: Change, _ mark: RefreshMark, on db: borrowing Connection
  ) throws(SQLiteError) {
    let rows: SQLFragment = """
      SELECT id FROM \(sql: change.table.entities) WHERE \(change.table.unseen(since: mark))
      LIMIT \(bind: Int64(Tombstones.maxCount))
      """
    let find = try db.prepare(rows)
    while try find.step() {
      guard let id = find.text(0) else { continue }
      let version = try knownVersion(of: id, change.table, on: db)
      try insertTombstone(id, version, local: version, change: change, on: db)
    }
  }

  package func differing(
    _ versions: [EntityVersion], in collection: String
  ) throws(StoreError) -> [String] {
    try write(to: collection, durably: false) { (db, change) throws(SQLiteError) in
      let see = try db.statement(change.table.see)
      try see.bind(change.generation, at: .generation)
      try see.bind(change.now, at: .time)
      var differing: [String] = []
      for version in versions {
        guard let theirs = version.version,
          try Self.knownVersion(of: version.id, change.table, on: db) == theirs
        else {
          differing.append(version.id)
          continue
        }
        try see.bind(version.id, at: .id)
        try see.run()
      }
      return differing
    }
  }

  /// The backend's version of an entity, if it is known.
  static func knownVersion(
    of id: String, _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> RecordVersion? {
    let get = try db.statement(table.getVersioned)
    try get.bind(id, at: .id)
    return try get.step() ? table.format.version(of: try get.copy(0)) : nil
  }

  static func mayHaveOlder(
    _ table: Table, _ mark: RefreshMark, on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    let statement = try db.statement(table.mayHaveOlder)
    try statement.bind(mark.generation, at: .generation)
    return try statement.step()
  }

  // MARK: Requests

  package func lastRequest(
    _ key: RequestKey, in collection: String
  ) throws(StoreError) -> BackendMoment? {
    try read(from: collection) { (db, table) throws(SQLiteError) in
      let statement = try db.statement(
        "SELECT started, epoch FROM requests WHERE \(Self.isRequest(key, table))")
      guard try statement.step(), let text = statement.text(0) else { return nil }
      return BackendMoment(text, epoch: statement.text(1))
    }
  }

  package func requests(in collection: String) throws(StoreError) -> [RequestKey] {
    try read(from: collection) { (db, table) throws(SQLiteError) in
      let statement = try db.statement(
        "SELECT filter, fields FROM requests WHERE collection = \(bind: table.number)")
      var keys: [RequestKey] = []
      while try statement.step() {
        keys.append(RequestKey(filter: statement.text(0) ?? "", fields: statement.text(1) ?? ""))
      }
      return keys
    } ?? []
  }

  package func reviseRequests(in collection: String, to moment: String) throws(StoreError) {
    let isAnyLater = try read(from: collection) { (db, table) throws(SQLiteError) in
      try db.statement("SELECT 1 FROM requests WHERE \(Self.isLater(moment, table))").step()
    }
    guard isAnyLater == true else { return }
    try write(to: collection) { (db, change) throws(SQLiteError) in
      try db.run(
        "UPDATE requests SET started = \(bind: moment) WHERE \(Self.isLater(moment, change.table))")
    }
  }

  /// Forgets the records of all collections: who reads from now on may see something else.
  package func forgetRequests() throws(StoreError) {
    try write { (db: borrowing Connection) throws(SQLiteError) in
      try db.execute("DELETE FROM requests; UPDATE collections SET forgotten = generation")
    }
  }

  package func forgetRequest(_ key: RequestKey?, in collection: String) throws(StoreError) {
    try write(to: collection) { (db, change) throws(SQLiteError) in
      guard let key else { return try Self.forgetRequests(change.table, db) }
      try db.run("DELETE FROM requests WHERE \(Self.isRequest(key, change.table))")
    }
  }

  static func forgetRequests(
    _ table: Table, _ db: borrowing Connection
  ) throws(SQLiteError) {
    try db.run("DELETE FROM requests WHERE collection = \(bind: table.number)")
    try db.run(
      "UPDATE collections SET forgotten = generation WHERE number = \(bind: table.number)")
  }

  /// Nothing is recorded of a read that began before the records were forgotten: it may have missed why they were.
  private static func record(
    _ request: (key: RequestKey, startedAt: BackendMoment), readFrom mark: RefreshMark,
    table: Table, on db: borrowing Connection
  ) throws(SQLiteError) {
    let (key, moment) = (request.key, request.startedAt)
    try db.run(
      """
      INSERT OR REPLACE INTO requests
      SELECT number, \(bind: key.filter), \(bind: key.fields), \(bind: moment.text), \(bind: moment.data?.epoch)
      FROM collections WHERE number = \(bind: table.number) AND forgotten < \(bind: mark.generation)
      """)
  }

  /// The condition that a record is of this request.
  private static func isRequest(_ key: RequestKey, _ table: Table) -> SQLFragment {
    """
    collection = \(bind: table.number) AND filter = \(bind: key.filter) AND fields = \(bind: key.fields)
    """
  }

  /// The condition that a record is of a read that began after a moment.
  private static func isLater(_ moment: String, _ table: Table) -> SQLFragment {
    "collection = \(bind: table.number) AND started > \(bind: moment)"
  }
}
