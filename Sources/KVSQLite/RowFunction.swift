internal import CSQLite

/// A native function over the bytes of one row, bound as a parameter of `kv_match` or `kv_sort_key`.
///
/// `kv_match(body, ?)` is 1 or 0; `kv_sort_key(body, ?)` is a blob that sorts as bytes do. The
/// value travels as an SQLite pointer: SQL text can neither make one nor look into it. It runs on the
/// thread that steps the statement.
package final class RowFunction: Sendable {
  package enum Kind: Sendable {
    case match(@Sendable (UnsafeRawBufferPointer) -> Bool)
    case sortKey(@Sendable (UnsafeRawBufferPointer) -> [UInt8])
  }

  let kind: Kind

  package init(_ kind: Kind) { self.kind = kind }

  /// The type of the pointer, compared as text by SQLite; it lives as long as the process.
  static var tag: UnsafePointer<CChar> {
    UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
  }

  private static let name: StaticString = "kv_row_function"

  /// Makes both functions known to a connection. They cannot be used from a schema of the file.
  static func register(on connection: OpaquePointer) throws(SQLiteError) {
    let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
    let match = sqlite3_create_function_v2(
      connection, "kv_match", 2, flags, nil, { RowFunction.evaluate($0, $1, $2) }, nil, nil, nil)
    guard match == SQLITE_OK else { throw SQLiteError(status: match, on: connection) }
    let sortKey = sqlite3_create_function_v2(
      connection, "kv_sort_key", 2, flags, nil, { RowFunction.evaluate($0, $1, $2) }, nil, nil, nil)
    guard sortKey == SQLITE_OK else { throw SQLiteError(status: sortKey, on: connection) }
  }

  private static func evaluate(
    _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
  ) {
    guard count == 2, let values, let pointer = sqlite3_value_pointer(values[1], tag) else {
      sqlite3_result_error(context, "not a native row function", -1)
      return
    }
    let function = Unmanaged<RowFunction>.fromOpaque(pointer)
    let start = sqlite3_value_blob(values[0])
    let body = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(values[0])))
    function._withUnsafeGuaranteedRef { function in
      switch function.kind {
      case .match(let test): sqlite3_result_int(context, test(body) ? 1 : 0)
      case .sortKey(let key):
        key(body).withUnsafeBytes {
          sqlite3_result_blob64(context, $0.baseAddress, UInt64($0.count), kv_sqlite_transient())
        }
      }
    }
  }
}
