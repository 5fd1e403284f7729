internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVSQLite
internal import KVServerCore

/// Reads the rows that a selection selects, page by page.
///
/// `@unchecked Sendable`: one thread at a time reads.
final class SelectionCursor: EntityCursor, @unchecked Sendable {
  private let database: Database
  private let collection: EntityCollection
  private var selection: RowSelection
  private var plan: CursorPlan
  private var skip = 0
  private let note: QueryNote?
  /// How many entities were found so far.
  private var found = 0

  init(
    _ query: Query, in collection: EntityCollection, of database: Database, for viewer: Viewer,
    within budget: WorkBudget, note: QueryNote?
  ) throws(ServerError) {
    self.note = note
    self.database = database
    self.collection = collection
    let walk = query.walk
    selection = try RowSelection(
      walk.map { Query($0.rest) } ?? query, for: viewer, operation: .read, within: budget)
    skip = query.skip
    plan = CursorPlan(query)
  }

  /// Reads given rows, those of them that still are what the selection asks for.
  init(
    _ rows: [Int64], _ selection: RowSelection, in collection: EntityCollection,
    of database: Database
  ) {
    note = nil
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
    case .pages, .sort: selection = try selection.planned(in: collection, on: connection, note)
    case .rows, .done: break
    }
    if case .sort(let sorter) = plan {
      let rows = try order(by: sorter, limit: page.remaining, connection)
      plan = .rows(rows, next: 0)
      note?.scanned(found: rows.count, by: selection.use)
    }
    switch plan {
    case .pages(let order): try read(order, into: &page, on: connection)
    case .rows(let rows, let next): try collect(rows, from: next, page: &page, on: connection)
    case .sort, .done: break
    }
  }

  private func read(
    _ order: PageOrder, into page: inout EntityPage, on connection: borrowing Connection
  ) throws(SQLiteError) {
    let select = try connection.statement(
      collection.page(selection, order, limit: page.remaining, offset: skip))
    repeat {
      guard try select.step() else {
        plan = .done
        note?.scanned(found: found, by: selection.use)
        return
      }
      guard Self.add(select, 1, id: 3, to: &page) else {
        plan = .done
        return
      }
      found += 1
    } while !page.isFull
    skip = 0
    let next = order.after(select.int64(0), id: select.text(3) ?? "")
    plan = page.remaining > 0 ? .pages(next) : .done
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
