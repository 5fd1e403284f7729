internal import CSQLite
internal import KVBase
package import KVQuery

/// What of an entity goes into an index, for the triggers that keep indexes up: pure functions of the body, which a
/// schema may use.
///
/// `kv_index_shape(body, paths)` gives `IndexShape`; the table `kv_index_keys(body, paths)` has the rows of an
/// ordered index, in the columns `k0`, `k1`… `paths` is a JSON array of names.
enum IndexFunctions {
  /// What is known of the paths: the same few texts come with every row.
  private static let known = Monitor<[String: IndexKeys]>([:])
  private static let mostKnown = 256

  static func register(on connection: OpaquePointer) throws(SQLiteError) {
    let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS
    let status = sqlite3_create_function_v2(
      connection, "kv_index_shape", 2, flags, nil,
      { context, _, values in
        guard let values, let keys = IndexFunctions.keys(values[1]) else {
          return sqlite3_result_error(context, "no paths of an index", -1)
        }
        let shape = keys.shape(of: IndexFunctions.bytes(values[0]))
        sqlite3_result_int64(context, shape.rawValue)
      }, nil, nil, nil)
    guard status == SQLITE_OK else { throw SQLiteError(status: status, on: connection) }
    try IndexKeysTable.register(on: connection)
  }

  static func bytes(_ value: OpaquePointer?) -> UnsafeRawBufferPointer {
    let start = sqlite3_value_blob(value)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
  }

  /// Nil for a text that is no array of names.
  static func keys(_ value: OpaquePointer?) -> IndexKeys? {
    let text = String(decoding: bytes(value), as: UTF8.self)
    if let keys = known.peek({ $0[text] }) { return keys }
    guard let keys = IndexKeys(parsing: text) else { return nil }
    known.peek { known in
      if known.count >= mostKnown { known = [:] }
      known[text] = keys
    }
    return keys
  }

  /// Gives a value of an index to SQLite.
  static func give(_ value: IndexValue, to context: OpaquePointer?) {
    switch value {
    case .null: sqlite3_result_double(context, IndexValue.lowest)
    case .int(let value): sqlite3_result_int64(context, value)
    case .double(let value): sqlite3_result_double(context, value)
    case .text(let bytes):
      bytes.withUnsafeBytes {
        let start = $0.baseAddress?.assumingMemoryBound(to: CChar.self)
        sqlite3_result_text64(
          context, start ?? empty, UInt64($0.count), kv_sqlite_transient(), UInt8(SQLITE_UTF8))
      }
    case .blob(let bytes):
      bytes.withUnsafeBytes {
        guard let start = $0.baseAddress, !$0.isEmpty else {
          return sqlite3_result_zeroblob(context, 0)
        }
        sqlite3_result_blob64(context, start, UInt64($0.count), kv_sqlite_transient())
      }
    }
  }

  /// A text without bytes, which yet has an address: no address would mean NULL.
  private static var empty: UnsafePointer<CChar> {
    let text: StaticString = ""
    return UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
  }
}

extension Statement {
  /// A value of an index in the current row. Null is a double here, `IndexValue.lowest`.
  package func value(_ column: Int32) -> IndexValue {
    switch type(column) {
    case SQLITE_INTEGER: .int(int64(column))
    case SQLITE_FLOAT: .double(double(column))
    case SQLITE_TEXT: .text(copy(column))
    default: .blob(copy(column))
    }
  }

  /// Binds a value as an index holds it.
  package func bind(_ value: IndexValue, at place: Int32) throws(SQLiteError) {
    switch value {
    case .null: try bind(IndexValue.lowest, at: place)
    case .int(let value): try bind(value, at: place)
    case .double(let value): try bind(value, at: place)
    case .text(let bytes): try bind(copying: bytes, asText: true, at: place)
    case .blob(let bytes): try bind(copying: bytes, asText: false, at: place)
    }
  }
}
