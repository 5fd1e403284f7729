internal import CSQLite
internal import CXXHash

/// Checksums of stored texts, by which it is noticed when read that the disk, or another program, has changed one.
///
/// XXH3 with 64 bits, in an integer column after the text. Statements that store a text set it by `kv_checksum(text)`,
/// so that the rule stands in SQL alone; who reads a text to hand it out asks `Statement.isIntact`.
package enum Checksum {
  /// Makes `kv_checksum` known to a connection: the checksum of a text; NULL for NULL.
  static func register(on connection: OpaquePointer) throws(SQLiteError) {
    try IndexFunctions.register("kv_checksum", parameters: 1, on: connection) {
      context, _, values in
      guard let values, sqlite3_value_type(values[0]) != SQLITE_NULL else {
        return sqlite3_result_null(context)
      }
      sqlite3_result_int64(context, Checksum.of(IndexFunctions.bytes(values[0])))
    }
  }

  static func of(_ bytes: UnsafeRawBufferPointer) -> Int64 {
    Int64(bitPattern: kv_xxh3(bytes.baseAddress, bytes.count))
  }

  /// Whether a text is what was stored with a checksum, which is 0 where `isNull`: then the text was stored before there
  /// were any, and all that can be told is that it begins and ends as an object does. Where the head of a row is damaged,
  /// the checksum may be lost with the text.
  static func confirms(
    _ bytes: UnsafeRawBufferPointer, checksum: Int64, isNull: @autoclosure () -> Bool
  ) -> Bool {
    checksum == of(bytes)
      || isNull() && bytes.first == UInt8(ascii: "{") && bytes.last == UInt8(ascii: "}")
  }
}

extension Statement {
  /// Whether the text of a column is what was stored: the next column has its checksum, or NULL if it was stored before
  /// there were checksums.
  package func isIntact(_ column: Int32) -> Bool { intactBytes(column) != nil }

  /// The text of a column, where it is, if it is what was stored.
  package func intactBytes(_ column: Int32) -> UnsafeRawBufferPointer? {
    let bytes = bytes(column)
    let isIntact = Checksum.confirms(
      bytes, checksum: int64(column + 1), isNull: isNull(column + 1))
    return isIntact ? bytes : nil
  }

  /// Whether the current row has an integer in a column.
  package func isInteger(_ column: Int32) -> Bool { type(column) == SQLITE_INTEGER }

  /// The text that another query on this connection has in its first column; nil if it cannot be had.
  package func text(of sql: String) -> String? {
    guard let raw = try? StatementCache.prepare(sql, on: connection, keeping: false) else {
      return nil
    }
    let other = Statement(raw, slot: nil)
    return (try? other.step()) == true ? other.text(0) : nil
  }
}

extension SQLiteError {
  /// An entity whose stored body is not what was stored.
  package static func damaged(_ id: String, in collection: String) -> SQLiteError {
    var error = SQLiteError(
      .corrupt, "The stored body of the entity \"\(id)\" of \"\(collection)\" is damaged.")
    error.entity = id
    return error
  }
}
