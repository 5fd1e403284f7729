internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVSQLite
internal import KVServerCore

/// Reads the rows that a selection selects, page by page.
///
/// `@unchecked Sendable`: one thread at a time reads.
final class SelectionCursor: EntityCursor, @unchecked Sendable {
  private enum Plan {
    /// In the order of storage, after a row.
    case scan(after: Int64)
    /// In the order of ids, after one, up to another.
    case walk(after: String, last: String?)
    /// Rows with these numbers, from an index on.
    case rows([Int64], next: Int)
    /// By a sort key; the rows are not known yet.
    case sort(Sorter)
    case done
  }

  private let database: Database
  private let collection: EntityCollection
  private var selection: RowSelection
  private var plan: Plan
  private var skip = 0

  init(
    _ query: Query, in collection: EntityCollection, of database: Database, for viewer: Viewer,
    within budget: WorkBudget
  ) throws(ServerError) {
    self.database = database
    self.collection = collection
    let walk = query.walk
    selection = try RowSelection(
      walk.map { Query($0.rest) } ?? query, for: viewer, operation: .read, within: budget)
    skip = query.skip
    plan =
      walk.map { .walk(after: $0.after ?? "", last: $0.last) } ?? query.sorter.map { .sort($0) }
      ?? .scan(after: -1)
  }

  /// Reads given rows, those of them that still are what the selection asks for.
  init(
    _ rows: [Int64], _ selection: RowSelection, in collection: EntityCollection,
    of database: Database
  ) {
    self.database = database
    self.collection = collection
    self.selection = selection
    plan = .rows(rows, next: 0)
  }

  func read(into page: inout EntityPage) throws(ServerError) -> Bool {
    try Entities.storage { () throws(SQLiteError) in
      try database.read(within: selection.budget) {
        (connection: borrowing Connection) throws(SQLiteError) in
        try fill(&page, connection)
      }
    }
    if case .done = plan { return false }
    return true
  }

  private func fill(
    _ page: inout EntityPage, _ connection: borrowing Connection
  ) throws(SQLiteError) {
    switch plan {
    case .scan, .walk, .sort: selection = try selection.planned(in: collection, on: connection)
    case .rows, .done: break
    }
    if case .sort(let sorter) = plan {
      plan = .rows(try order(by: sorter, limit: page.remaining, connection), next: 0)
    }
    switch plan {
    case .scan(let row): try scan(after: row, &page, on: connection)
    case .walk(let id, let last): try walk(after: id, to: last, page: &page, on: connection)
    case .rows(let rows, let next): try collect(rows, from: next, page: &page, on: connection)
    case .sort, .done: break
    }
  }

  private func scan(
    after row: Int64, _ page: inout EntityPage, on connection: borrowing Connection
  ) throws(SQLiteError) {
    let select = try connection.statement(
      collection.scan(selection, after: row, limit: page.remaining, offset: skip))
    var last = row
    while !page.isFull {
      guard try select.step(), Self.add(select, 1, id: 3, to: &page) else {
        plan = .done
        return
      }
      last = select.int64(0)
    }
    skip = 0
    plan = page.remaining > 0 ? .scan(after: last) : .done
  }

  private func walk(
    after id: String, to last: String?, page: inout EntityPage, on connection: borrowing Connection
  ) throws(SQLiteError) {
    let select = try connection.statement(
      collection.walk(selection, after: id, to: last, limit: page.remaining, offset: skip))
    while !page.isFull {
      guard try select.step(), Self.add(select, 1, id: 0, to: &page) else {
        plan = .done
        return
      }
    }
    skip = 0
    plan = page.remaining > 0 ? .walk(after: select.text(0) ?? id, last: last) : .done
  }

  private func order(
    by sorter: Sorter, limit: Int, _ connection: borrowing Connection
  ) throws(SQLiteError) -> [Int64] {
    let select = try connection.statement(
      collection.order(selection, by: sorter, limit: limit, offset: skip))
    var rows: [Int64] = []
    while try select.step() { rows.append(select.int64(0)) }
    return rows
  }

  private func collect(
    _ rows: [Int64], from start: Int, page: inout EntityPage, on connection: borrowing Connection
  ) throws(SQLiteError) {
    let bodies = BoundSQL(collection.body(selection.ofKnownRows))
    let select = try connection.statement(bodies)
    var next = start
    while next < rows.count, !page.isFull {
      try select.bind(rows[next], at: bodies.openIndex)
      next += 1
      if try select.step(), !Self.add(select, 0, id: 2, to: &page) {
        plan = .done
        return
      }
      select.reset()
    }
    plan = next < rows.count ? .rows(rows, next: next) : .done
  }

  /// Adds the entity whose body is in a column of a row; false if the answer takes no more. `id`: the column of its id.
  private static func add(
    _ row: borrowing Statement, _ column: Int32, id: Int32, to page: inout EntityPage
  ) -> Bool {
    guard row.hasEntity(column) else {
      page.leaveOut(row.text(id) ?? "")
      return true
    }
    return page.add(row.bytes(column))
  }
}
