internal import KVBase
package import KVQuery
internal import KVSQLite
package import KVSync

/// Follows one query. What was changed is read from the log in the snapshot that the entities are read
/// from, so no change falls between two looks.
///
/// `@unchecked Sendable`: one thread at a time, as `Observation` demands; `end` touches nothing of it.
final class ObservedQuery: Observation, @unchecked Sendable {
  private let storage: Storage
  private let table: Table
  private let log: ChangeLog
  private let query: Query
  private let matcher: Matcher?
  private let sorter: Sorter?
  private let projection: Projection?
  private let get: SQL
  private let isPending: SQL
  private let listener = Monitor<Int?>(nil)

  private var result = ObservedResult()
  /// The end of the log at the last look; nil: the result has to be read anew.
  private var seen: Int64?
  private var isFirst = true
  /// Damaged entities that were told of: they are left out of the result until they can be read.
  private var damaged: Set<[UInt8]> = []
  private var hasFoundDamage = false
  private let signal: @Sendable () -> Void

  init(
    _ query: Query, _ table: Table, log: ChangeLog, storage: Storage,
    signal: @escaping @Sendable () -> Void
  ) {
    self.signal = signal
    self.storage = storage
    self.table = table
    self.log = log
    let query = query.of(table.format)
    self.query = query
    matcher = query.matcher
    sorter = query.sorter
    projection = query.projection
    isPending = SQL.shared(
      "SELECT 1 FROM pending WHERE collection = \(table.number) AND id = \(Parameter.id)")
    get = SQL.shared("SELECT n, \(Table.body) FROM \(table.entities) WHERE id = \(Parameter.id)")
  }

  func listen() {
    let number = storage.feed.add(signal)
    listener.withLock { $0 = number }
  }

  func end() {
    let number = listener.withLock { listener in
      defer { listener = nil }
      return listener
    }
    if let number { storage.feed.remove(number) }
  }

  func changes() throws(StoreError) -> ResultChanges? {
    let since = seen
    seen = nil
    var changes = ResultChanges()
    // A damaged entity is reported by an error; the others are there for the next read.
    hasFoundDamage = false
    defer { if hasFoundDamage { signal() } }
    seen = try storage.readSnapshot { (db: borrowing Connection) throws(SQLiteError) -> Int64 in
      let end = try log.end(on: db)
      if since == end { return end }
      if let since, let ids = try log.ids(since: since, on: db), let changed = try read(ids, db) {
        changes = result.apply(changed)
      } else {
        changes = try readAll(db)
      }
      try tellSources(of: &changes, db)
      return end
    }
    changes.isInitial = isFirst
    isFirst = false
    return changes.isInitial || !changes.isEmpty ? changes : nil
  }

  /// What waits to be sent was changed here.
  private func tellSources(
    of changes: inout ResultChanges, _ db: borrowing Connection
  ) throws(SQLiteError) {
    guard !changes.isEmpty, try Storage.hasPending(table, db) else { return }
    func source(_ id: [UInt8]) throws(SQLiteError) -> ResultChanges.Source {
      let statement = try db.statement(isPending)
      return try id.withBorrowedBytes { (bytes) throws(SQLiteError) -> ResultChanges.Source in
        try statement.bind(borrowedText: bytes, at: .id)
        return try statement.step() ? .local : .remote
      }
    }
    for index in changes.deletions.indices {
      changes.deletions[index].source = try source(Array(changes.deletions[index].id.utf8))
    }
    for index in changes.insertions.indices {
      let id = result.rows[changes.insertions[index].index].id
      changes.insertions[index].source = try source(id)
    }
    for index in changes.modifications.indices {
      let id = result.rows[changes.modifications[index].index].id
      changes.modifications[index].source = try source(id)
    }
  }

  func startAnew() {
    result = ObservedResult()
    seen = nil
    isFirst = true
  }

  // MARK: Entity by entity

  private typealias Changed = (id: [UInt8], fresh: ObservedResult.Fresh?)

  /// What became of these entities; nil if only the whole result tells.
  private func read(
    _ ids: [[UInt8]], _ db: borrowing Connection
  ) throws(SQLiteError) -> [Changed]? {
    // Whatever happens in front of the page moves it.
    guard query.skip == 0 else { return nil }
    var changed: [Changed] = []
    for id in ids {
      let fresh = try self.fresh(id, db)
      if let limit = query.limit {
        guard result.row(id) == nil else { return nil }
        if let fresh, isOnPage(fresh.row, limit) { return nil }
      } else if fresh != nil || result.row(id) != nil {
        changed.append((id, fresh))
      }
    }
    return changed
  }

  private func isOnPage(_ row: ObservedRow, _ limit: Int) -> Bool {
    guard result.rows.count >= limit else { return true }
    guard let last = result.rows.last else { return false }
    return row.precedes(last)
  }

  /// The entity as it is now; nil if it is not there or does not match.
  private func fresh(
    _ id: [UInt8], _ db: borrowing Connection
  ) throws(SQLiteError) -> ObservedResult.Fresh? {
    let statement = try db.statement(get)
    return try id.withBorrowedBytes { (bytes) throws(SQLiteError) -> ObservedResult.Fresh? in
      try statement.bind(borrowedText: bytes, at: .id)
      guard try statement.step(), let body = try body(of: statement) else { return nil }
      do throws(QueryError) {
        if let matcher, try !matcher.matches(body) { return nil }
      } catch {
        throw SQLiteError(error)
      }
      let shown = try shown(body)
      return .init(row: row(id, statement.int64(0), body: body, shown: shown), shown: shown)
    }
  }

  /// The body of a row with its number in front; nil: it is damaged, as was told. Throws the first time.
  private func body(
    of statement: borrowing Statement
  ) throws(SQLiteError) -> UnsafeRawBufferPointer? {
    do throws(SQLiteError) {
      let body = try table.body(of: statement, at: 1)
      if !damaged.isEmpty { damaged.remove(try statement.copy(3)) }
      return body
    } catch {
      guard error.kind == .corrupt, error.entity != nil else { throw error }
      hasFoundDamage = damaged.insert(try statement.copy(3)).inserted
      if hasFoundDamage { throw error }
      return nil
    }
  }

  private func row(
    _ id: [UInt8], _ number: Int64, body: UnsafeRawBufferPointer, shown: [UInt8]
  ) -> ObservedRow {
    let key = sorter?.key(of: body)
    return shown.withUnsafeBytes { ObservedRow(id: id, number: number, key: key, shown: $0) }
  }

  /// What of an entity is told.
  private func shown(_ body: UnsafeRawBufferPointer) throws(SQLiteError) -> [UInt8] {
    try Memory.require(body.count, or: SQLiteError.noMemory)
    return projection?.apply(to: body) ?? [UInt8](body)
  }

  // MARK: As a whole

  private func readAll(_ db: borrowing Connection) throws(SQLiteError) -> ResultChanges {
    let plan = try storage.indexes.plan(query, table, on: db)
    let statement = try db.prepare(plan.selection.page("e.n,\(Table.body)"))
    var rows: [ObservedRow] = []
    var shownRows: [Int: [UInt8]] = [:]
    while try statement.step() {
      guard let body = try body(of: statement) else { continue }
      let shown = try shown(body)
      let row = row(try statement.copy(3), statement.int64(0), body: body, shown: shown)
      if result.row(row.id)?.hash != row.hash { shownRows[rows.count] = shown }
      rows.append(row)
    }
    return result.replace(with: rows, shown: shownRows)
  }
}

extension Storage {
  package func observe(
    _ query: Query, in collection: String, _ signal: @escaping @Sendable () -> Void
  ) throws(StoreError) -> any Observation {
    let (table, log) = try beginLog(of: collection)
    let observed = ObservedQuery(query, table, log: log, storage: self, signal: signal)
    observed.listen()
    return observed
  }
}
