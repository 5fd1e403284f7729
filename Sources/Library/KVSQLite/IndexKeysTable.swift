internal import CSQLite
internal import KVQuery

/// The table-valued function `kv_index_keys(body, paths)`: the rows that an entity has in an ordered index.
///
/// The columns are `k0` to `k7`, of which the index uses the first, and two hidden ones for the parameters.
enum IndexKeysTable {
  private static let columns = Int32(IndexSpec.maxKeys)

  /// The rows of one entity, and which one is looked at.
  private final class Rows {
    var rows: [[IndexValue]] = []
    var index = 0
  }

  static func register(on connection: OpaquePointer) throws(SQLiteError) {
    let status = sqlite3_create_module_v2(connection, "kv_index_keys", module, nil, nil)
    guard status == SQLITE_OK else { throw SQLiteError(status: status, on: connection) }
  }

  /// Lives as long as the process: SQLite keeps its address.
  nonisolated(unsafe) private static let module: UnsafePointer<sqlite3_module> = {
    let module = UnsafeMutablePointer<sqlite3_module>.allocate(capacity: 1)
    module.initialize(to: sqlite3_module())
    module.pointee.xConnect = { connection, _, _, _, out, _ in
      IndexKeysTable.connect(connection, out)
    }
    module.pointee.xDisconnect = { table in
      table?.deallocate()
      return SQLITE_OK
    }
    module.pointee.xBestIndex = { _, plan in IndexKeysTable.plan(plan) }
    module.pointee.xOpen = { _, out in IndexKeysTable.open(out) }
    module.pointee.xClose = { IndexKeysTable.close($0) }
    module.pointee.xFilter = { cursor, _, _, _, values in IndexKeysTable.start(cursor, values) }
    module.pointee.xNext = { cursor in
      IndexKeysTable.rows(cursor) { $0.index += 1 }
      return SQLITE_OK
    }
    module.pointee.xEof = { cursor in
      IndexKeysTable.rows(cursor) { $0.index < $0.rows.count } ? 0 : 1
    }
    module.pointee.xColumn = { cursor, context, column in
      IndexKeysTable.setResult(column, of: cursor, to: context)
    }
    module.pointee.xRowid = { cursor, out in
      out?.pointee = Int64(IndexKeysTable.rows(cursor) { $0.index })
      return SQLITE_OK
    }
    return UnsafePointer(module)
  }()

  private static func connect(
    _ connection: OpaquePointer?,
    _ out: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>?
  ) -> Int32 {
    let names = (0..<columns).map { "k\($0)" }.joined(separator: ",")
    let status = sqlite3_declare_vtab(
      connection, "CREATE TABLE x(\(names), body HIDDEN, paths HIDDEN)")
    guard status == SQLITE_OK, let connection, let out else { return status }
    let table = UnsafeMutablePointer<sqlite3_vtab>.allocate(capacity: 1)
    table.initialize(to: sqlite3_vtab())
    out.pointee = table
    return kv_sqlite_vtab_innocuous(connection)
  }

  /// Both parameters are needed.
  private static func plan(_ plan: UnsafeMutablePointer<sqlite3_index_info>?) -> Int32 {
    guard let plan else { return SQLITE_MISUSE }
    var found: [Int32: Int] = [:]
    for index in 0..<Int(plan.pointee.nConstraint) {
      let constraint = plan.pointee.aConstraint[index]
      guard constraint.iColumn >= columns, constraint.usable != 0,
        Int32(constraint.op) == SQLITE_INDEX_CONSTRAINT_EQ
      else { continue }
      found[constraint.iColumn] = index
    }
    guard let body = found[columns], let paths = found[columns + 1] else {
      return SQLITE_CONSTRAINT
    }
    for (number, index) in [(1, body), (2, paths)] {
      plan.pointee.aConstraintUsage[index].argvIndex = Int32(number)
      plan.pointee.aConstraintUsage[index].omit = 1
    }
    plan.pointee.estimatedCost = 1
    plan.pointee.estimatedRows = 1
    return SQLITE_OK
  }

  // MARK: Cursors

  private typealias Cursor = UnsafeMutablePointer<sqlite3_vtab_cursor>

  private static func open(_ out: UnsafeMutablePointer<Cursor?>?) -> Int32 {
    let cursor = UnsafeMutablePointer<kv_sqlite_cursor>.allocate(capacity: 1)
    cursor.initialize(to: kv_sqlite_cursor())
    cursor.pointee.state = Unmanaged.passRetained(Rows()).toOpaque()
    // SQLite's part comes first.
    out?.pointee = UnsafeMutableRawPointer(cursor).assumingMemoryBound(to: sqlite3_vtab_cursor.self)
    return SQLITE_OK
  }

  private static func close(_ cursor: Cursor?) -> Int32 {
    guard let cursor else { return SQLITE_OK }
    let ours = UnsafeMutableRawPointer(cursor).assumingMemoryBound(to: kv_sqlite_cursor.self)
    if let state = ours.pointee.state { Unmanaged<Rows>.fromOpaque(state).release() }
    ours.deallocate()
    return SQLITE_OK
  }

  private static func start(
    _ cursor: Cursor?, _ values: UnsafeMutablePointer<OpaquePointer?>?
  ) -> Int32 {
    guard let values, let keys = IndexFunctions.keys(values[1]) else { return SQLITE_ERROR }
    rows(cursor) {
      $0.rows = keys.rows(of: IndexFunctions.bytes(values[0]))
      $0.index = 0
    }
    return SQLITE_OK
  }

  private static func setResult(
    _ column: Int32, of cursor: Cursor?, to context: OpaquePointer?
  ) -> Int32 {
    rows(cursor) { rows in
      guard rows.index < rows.rows.count, Int(column) < rows.rows[rows.index].count else {
        return sqlite3_result_null(context)
      }
      IndexFunctions.setResult(rows.rows[rows.index][Int(column)], to: context)
    }
    return SQLITE_OK
  }

  /// Every cursor has its rows: `open` made them.
  private static func rows<R>(_ cursor: Cursor?, _ body: (Rows) -> R) -> R {
    let ours = UnsafeMutableRawPointer(cursor)?.assumingMemoryBound(to: kv_sqlite_cursor.self)
    guard let state = ours?.pointee.state else { return body(Rows()) }
    return Unmanaged<Rows>.fromOpaque(state)._withUnsafeGuaranteedRef(body)
  }
}
