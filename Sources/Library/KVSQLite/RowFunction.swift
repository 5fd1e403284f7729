internal import CSQLite
package import KVQuery
internal import Synchronization

/// What of a query runs natively inside SQL: `kv_match(body, ?)` is 1 or 0, `kv_sort_key(body, ?)` a blob
/// that sorts as bytes do.
///
/// `kv_match(body, ?, checksum)` is 1 for a damaged body as well: whether it matches cannot be told, and reading it
/// reports the damage.
///
/// The parameter travels as an SQLite pointer: SQL text can neither make one nor look into it. It runs
/// on the thread that steps the statement.
///
/// `@unchecked Sendable`: an unmanaged reference to what is sendable itself.
final class RowFunction: @unchecked Sendable {
  enum Kind: Sendable {
    case match(Matcher)
    case sortKey(Sorter)
    /// Counts rows; its value is always 1.
    case count(RowCounter)
  }

  let kind: Kind
  /// The matcher of `kind`, to be called without counting a reference for each row.
  private let matcher: Unmanaged<Matcher>?

  init(_ kind: Kind) {
    self.kind = kind
    if case .match(let matcher) = kind {
      self.matcher = .passUnretained(matcher)
    } else {
      matcher = nil
    }
  }

  /// The type of the pointer, compared as text by SQLite; it lives as long as the process.
  static var tag: UnsafePointer<CChar> {
    UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
  }

  private static let name: StaticString = "kv_row_function"

  /// Makes both functions known to a connection. They cannot be used from a schema of the file.
  static func register(on connection: OpaquePointer) throws(SQLiteError) {
    let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
    for (name, parameters) in [("kv_match", 2), ("kv_match", 3), ("kv_sort_key", 2)]
      as [(String, Int32)]
    {
      let status = sqlite3_create_function_v2(
        connection, name, parameters, flags, nil,
        { RowFunction.evaluate($0, count: $1, values: $2) }, nil, nil,
        nil)
      guard status == SQLITE_OK else { throw SQLiteError(status: status, on: connection) }
    }
  }

  private static func isIntact(
    _ body: UnsafeRawBufferPointer, _ checksum: OpaquePointer?
  ) -> Bool {
    Checksum.confirms(
      body, checksum: sqlite3_value_int64(checksum),
      isNull: sqlite3_value_type(checksum) == SQLITE_NULL)
  }

  private static func evaluate(
    _ context: OpaquePointer?, count: Int32, values: UnsafeMutablePointer<OpaquePointer?>?
  ) {
    guard count >= 2, let values, let pointer = sqlite3_value_pointer(values[1], tag) else {
      sqlite3_result_error(context, "not a native row function", -1)
      return
    }
    let start = sqlite3_value_blob(values[0])
    let body = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(values[0])))
    if count == 3, !isIntact(body, values[2]) { return sqlite3_result_int(context, 1) }
    Unmanaged<RowFunction>.fromOpaque(pointer)._withUnsafeGuaranteedRef { function in
      if let matcher = function.matcher {
        return matcher._withUnsafeGuaranteedRef { match(body, $0, context: context) }
      }
      switch function.kind {
      case .match: break
      case .count(let counter):
        counter.add()
        sqlite3_result_int(context, 1)
      case .sortKey(let sorter):
        sorter.key(of: body).withUnsafeBytes {
          sqlite3_result_blob64(context, $0.baseAddress, UInt64($0.count), kv_sqlite_transient())
        }
      }
    }
  }

  private static func match(
    _ body: UnsafeRawBufferPointer, _ matcher: Matcher, context: OpaquePointer?
  ) {
    do throws(QueryError) {
      sqlite3_result_int(context, try matcher.matches(body) ? 1 : 0)
    } catch {
      if error.kind == .noMemory { return sqlite3_result_error_nomem(context) }
      let entity = error.entity.map { "\(SQLiteError.entityMark)\($0)" } ?? ""
      sqlite3_result_error(context, error.message + entity, -1)
      // Behind the text: the other way round the text would reset the code.
      sqlite3_result_error_code(
        context, error.kind == .exhausted ? SQLITE_INTERRUPT : SQLiteError.gaveUp)
    }
  }
}

/// Counts how often SQL asks about a row: bound instead of a matcher, it selects everything.
package final class RowCounter: Sendable {
  private let counter = Atomic<Int>(0)

  package init() {}

  package var count: Int { counter.load(ordering: .relaxed) }

  func add() { counter.add(1, ordering: .relaxed) }
}

extension Statement {
  package func bind(_ counter: RowCounter, at index: Int32) throws(SQLiteError) {
    try bind(RowFunction(.count(counter)), at: index)
  }

  /// Binds a value of a query; matchers and sorters are kept until the statement is given back.
  package func bind(
    _ parameter: SQLSelection.Parameter, at index: Int32
  ) throws(SQLiteError) {
    switch parameter {
    case .text(let text), .key(let text): try bind(text, at: index)
    case .value(let value), .compared(let value, _), .typeEnd(let value):
      try bind(value, at: index)
    case .matcher(let matcher): try bind(RowFunction(.match(matcher)), at: index)
    case .sorter(let sorter): try bind(RowFunction(.sortKey(sorter)), at: index)
    }
  }

}
