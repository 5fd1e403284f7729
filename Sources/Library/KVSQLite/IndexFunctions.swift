internal import CSQLite
internal import Glibc
internal import KVBase
package import KVQuery

/// What of an entity goes into an index, for the triggers that keep indexes up: pure functions of the body, which a
/// schema may use.
///
/// `kv_index_shape(body, paths)` gives `IndexShape`; the table `kv_index_keys(body, paths)` has the rows of an
/// ordered index, in the columns `k0`, `k1`… `kv_index_rows(body, paths)` counts these rows, `kv_index_key(body, paths,
/// column)` gives a column of the only one, and `kv_index_change(old, new, paths)` tells what becomes of them: 0 nothing, 1 one
/// plain row takes the place of another, 2 anything else. `kv_index_words(body, paths)` gives words with spaces between them,
/// `kv_index_edge(body, paths, side)` the west, east, south or north (0 to 3) of the places, or NULL. `paths`
/// is a JSON array of names, or what else `IndexKeys` and `IndexWords` read. `kv_sum` is in `SumFunction`.
enum IndexFunctions {
  private static let knownKeys = ParsedPaths { IndexKeys(parsing: $0) }
  private static let knownWords = ParsedPaths { IndexWords(parsing: $0) }

  static func register(on connection: OpaquePointer) throws(SQLiteError) {
    try register("kv_index_shape", parameters: 2, on: connection) { IndexFunctions.shape($0, $2) }
    try register("kv_index_rows", parameters: 2, on: connection) { IndexFunctions.rows($0, $2) }
    try register("kv_index_key", parameters: 3, on: connection) { IndexFunctions.key($0, $2) }
    try register("kv_index_change", parameters: 3, on: connection) {
      IndexFunctions.change($0, $2)
    }
    try register("kv_index_words", parameters: 2, on: connection) { IndexFunctions.words($0, $2) }
    try register("kv_index_edge", parameters: 3, on: connection) { IndexFunctions.edge($0, $2) }
    try Checksum.register(on: connection)
    try SumFunction.register(on: connection)
    try IndexKeysTable.register(on: connection)
  }

  typealias Values = UnsafeMutablePointer<OpaquePointer?>

  static func register(
    _ name: String, parameters: Int32, on connection: OpaquePointer,
    function: @escaping @convention(c) (OpaquePointer?, Int32, Values?) -> Void
  ) throws(SQLiteError) {
    let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS
    let status = sqlite3_create_function_v2(
      connection, name, parameters, flags, nil, function, nil, nil, nil)
    guard status == SQLITE_OK else { throw SQLiteError(status: status, on: connection) }
  }

  private static func shape(_ context: OpaquePointer?, _ values: Values?) {
    guard let values, let keys = keys(values[1]) else { return refuse(context) }
    sqlite3_result_int64(context, keys.shape(of: bytes(values[0])).rawValue)
  }

  private static func rows(_ context: OpaquePointer?, _ values: Values?) {
    guard let values, let keys = keys(values[1]) else { return refuse(context) }
    sqlite3_result_int64(context, Int64(keys.rowCount(of: bytes(values[0]))))
  }

  private static func key(_ context: OpaquePointer?, _ values: Values?) {
    guard let values, let keys = keys(values[1]) else { return refuse(context) }
    let column = Int(sqlite3_value_int64(values[2]))
    guard keys.paths.indices.contains(column),
      let key = keys.key(column, of: bytes(values[0]))
    else { return refuse(context) }
    setResult(key, to: context)
  }

  private static func change(_ context: OpaquePointer?, _ values: Values?) {
    guard let values, let keys = keys(values[2]) else { return refuse(context) }
    let change = keys.change(from: bytes(values[0]), to: bytes(values[1]))
    sqlite3_result_int64(context, change.rawValue)
  }

  private static func words(_ context: OpaquePointer?, _ values: Values?) {
    guard let values, let words = words(values[1]) else { return refuse(context) }
    setResult(.text(words.words(of: bytes(values[0]))), to: context)
  }

  private static func edge(_ context: OpaquePointer?, _ values: Values?) {
    guard let values, let path = keys(values[1])?.paths.first else { return refuse(context) }
    guard let box = MapBox(of: bytes(values[0]), at: path) else {
      return sqlite3_result_null(context)
    }
    let edges = [box.west, box.east, box.south, box.north]
    let side = Int(sqlite3_value_int64(values[2]))
    guard edges.indices.contains(side) else { return refuse(context) }
    sqlite3_result_double(context, edges[side])
  }

  private static func refuse(_ context: OpaquePointer?) {
    sqlite3_result_error(context, "the paths of an index are missing", -1)
  }

  static func bytes(_ value: OpaquePointer?) -> UnsafeRawBufferPointer {
    let start = sqlite3_value_blob(value)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
  }

  /// Nil for a text that is no array of names.
  static func keys(_ value: OpaquePointer?) -> IndexKeys? {
    knownKeys.value(of: bytes(value))
  }

  private static func words(_ value: OpaquePointer?) -> IndexWords? {
    knownWords.value(of: bytes(value))
  }

  /// Gives a value of an index to SQLite.
  static func setResult(_ value: IndexValue, to context: OpaquePointer?) {
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
    case SQLITE_TEXT: .text([UInt8](bytes(column)))
    default: .blob([UInt8](bytes(column)))
    }
  }

  /// Whether the current row has this value, of an index, in a column.
  package func has(_ value: borrowing IndexValue, at column: Int32) -> Bool {
    switch value {
    case .int(let known): type(column) == SQLITE_INTEGER && int64(column) == known
    case .double(let known): type(column) == SQLITE_FLOAT && double(column) == known
    case .text(let known):
      type(column) == SQLITE_TEXT && known.withUnsafeBytes { Self.areEqual($0, bytes(column)) }
    case .null, .blob: self.value(column) == value
    }
  }

  /// Takes the value over that the current row has, of an index, in a column; false if it is another one than before.
  package func update(_ value: inout IndexValue, from column: Int32) -> Bool {
    guard case .int(let known) = value, type(column) == SQLITE_INTEGER else {
      if has(value, at: column) { return true }
      value = self.value(column)
      return false
    }
    let number = int64(column)
    if number == known { return true }
    value = .int(number)
    return false
  }

  static func areEqual(
    _ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer
  ) -> Bool {
    guard left.count == right.count, let start = left.baseAddress, let other = right.baseAddress
    else { return left.count == right.count }
    return memcmp(start, other, left.count) == 0
  }

  /// Binds a value as an index holds it.
  package func bind(_ value: IndexValue, at index: Int32) throws(SQLiteError) {
    switch value {
    case .null: try bind(IndexValue.lowest, at: index)
    case .int(let value): try bind(value, at: index)
    case .double(let value): try bind(value, at: index)
    case .text(let bytes): try bind(copying: bytes, asText: true, at: index)
    case .blob(let bytes): try bind(copying: bytes, asText: false, at: index)
    }
  }
}
