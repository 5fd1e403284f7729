internal import CSQLite
internal import KVBase

/// A prepared statement. It cannot be copied: it is given back, or finalized, exactly once.
///
/// Parameters count from 1, columns from 0. One thread at a time.
package struct Statement: ~Copyable {
  private let raw: OpaquePointer
  /// Where it came from, retained; nil: made for one use.
  private let slot: Unmanaged<StatementSlot>?

  init(_ raw: OpaquePointer, slot: StatementSlot?) {
    self.raw = raw
    self.slot = slot.map { Unmanaged.passRetained($0) }
  }

  deinit {
    guard let slot else {
      sqlite3_finalize(raw)
      return
    }
    sqlite3_reset(raw)
    sqlite3_clear_bindings(raw)
    slot._withUnsafeGuaranteedRef { $0.isTaken = false }
    slot.release()
  }

  /// Forgets it without a call to SQLite: for what a child process inherited through `fork()`.
  consuming func abandon() { discard self }

  // MARK: Parameters

  package func bind(_ value: Int64, at index: Int32) throws(SQLiteError) {
    try check(sqlite3_bind_int64(raw, index, value))
  }

  package func bind(_ value: Int, at index: Int32) throws(SQLiteError) {
    try bind(Int64(value), at: index)
  }

  package func bind(_ value: Double, at index: Int32) throws(SQLiteError) {
    try check(sqlite3_bind_double(raw, index, value))
  }

  /// Binds a copy of the text; nil is NULL.
  package func bind(_ text: String?, at index: Int32) throws(SQLiteError) {
    guard var text else { return try bindNull(at: index) }
    try check(
      text.withUTF8 { utf8 in
        // An empty buffer may have no address, and no address means NULL.
        utf8.baseAddress.map { start in
          start.withMemoryRebound(to: CChar.self, capacity: utf8.count) {
            sqlite3_bind_text64(
              raw, index, $0, UInt64(utf8.count), kv_sqlite_transient(), UInt8(SQLITE_UTF8))
          }
        } ?? sqlite3_bind_text(raw, index, "", 0, kv_sqlite_static())
      })
  }

  /// Binds a copy of the bytes, as a text or as a blob.
  func bind(copying bytes: [UInt8], asText: Bool, at index: Int32) throws(SQLiteError) {
    try check(
      bytes.withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress, !bytes.isEmpty else {
          return asText
            ? sqlite3_bind_text(raw, index, "", 0, kv_sqlite_transient())
            : sqlite3_bind_zeroblob(raw, index, 0)
        }
        guard asText else {
          return sqlite3_bind_blob64(
            raw, index, start, UInt64(bytes.count), kv_sqlite_transient())
        }
        return sqlite3_bind_text64(
          raw, index, start.assumingMemoryBound(to: CChar.self), UInt64(bytes.count),
          kv_sqlite_transient(), UInt8(SQLITE_UTF8))
      })
  }

  /// Binds UTF-8 text where it is. The bytes must stay until the statement is reset or gone.
  package func bind(borrowedText bytes: UnsafeRawBufferPointer, at index: Int32) throws(SQLiteError)
  {
    guard let start = bytes.baseAddress else {
      return try check(sqlite3_bind_text(raw, index, "", 0, kv_sqlite_static()))
    }
    try check(
      sqlite3_bind_text64(
        raw, index, start.assumingMemoryBound(to: CChar.self), UInt64(bytes.count),
        kv_sqlite_static(), UInt8(SQLITE_UTF8)))
  }

  /// Binds a blob where it is. The bytes must stay until the statement is reset or gone.
  package func bind(borrowedBlob bytes: UnsafeRawBufferPointer, at index: Int32) throws(SQLiteError)
  {
    guard let start = bytes.baseAddress else {
      return try check(sqlite3_bind_zeroblob(raw, index, 0))
    }
    try check(sqlite3_bind_blob64(raw, index, start, UInt64(bytes.count), kv_sqlite_static()))
  }

  package func bindNull(at index: Int32) throws(SQLiteError) {
    try check(sqlite3_bind_null(raw, index))
  }

  /// Binds a native row function for `kv_match` or `kv_sort_key`; it is kept until the statement
  /// is given back.
  func bind(_ function: RowFunction, at index: Int32) throws(SQLiteError) {
    let kept = Unmanaged.passRetained(function).toOpaque()
    // SQLite calls the destructor also when binding fails.
    try check(
      sqlite3_bind_pointer(raw, index, kept, RowFunction.tag) { pointer in
        if let pointer { Unmanaged<RowFunction>.fromOpaque(pointer).release() }
      })
  }

  // MARK: Running

  /// Goes to the next row; false when there is none.
  package func step() throws(SQLiteError) -> Bool {
    let status = sqlite3_step(raw)
    if status == SQLITE_ROW { return true }
    if status == SQLITE_DONE { return false }
    throw SQLiteError(status: status, on: sqlite3_db_handle(raw))
  }

  /// Runs it to its end and makes it ready for the next run. Parameters keep their values.
  package func run() throws(SQLiteError) {
    let status = sqlite3_step(raw)
    guard status == SQLITE_DONE || status == SQLITE_ROW else {
      let error = SQLiteError(status: status, on: sqlite3_db_handle(raw))
      sqlite3_reset(raw)
      throw error
    }
    sqlite3_reset(raw)
  }

  /// Makes it ready for the next run. Parameters keep their values.
  package func reset() { sqlite3_reset(raw) }

  // MARK: Columns of the current row

  package var columnCount: Int32 { sqlite3_column_count(raw) }

  package func isNull(_ column: Int32) -> Bool { type(column) == SQLITE_NULL }

  func type(_ column: Int32) -> Int32 { sqlite3_column_type(raw, column) }

  /// The connection that it is of.
  var connection: OpaquePointer { sqlite3_db_handle(raw) }

  package func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(raw, column) }

  package func int(_ column: Int32) -> Int { Int(truncatingIfNeeded: int64(column)) }

  package func double(_ column: Int32) -> Double { sqlite3_column_double(raw, column) }

  /// The bytes of a text or blob where they are, until the next step, reset or end. Empty for NULL.
  package func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    // In this order: a number would be turned into text by the first call.
    let start = sqlite3_column_blob(raw, column)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(raw, column)))
  }

  /// A copy of the bytes of a text or blob. Empty for NULL.
  package func copy(_ column: Int32) throws(SQLiteError) -> [UInt8] {
    try [UInt8](bytes(column), or: SQLiteError.noMemory)
  }

  /// A copy of a text; nil for NULL. Bytes that are not UTF-8 are repaired.
  package func text(_ column: Int32) -> String? {
    isNull(column) ? nil : String(decoding: bytes(column), as: UTF8.self)
  }

  private func check(_ status: Int32) throws(SQLiteError) {
    guard status == SQLITE_OK else {
      throw SQLiteError(status: status, on: sqlite3_db_handle(raw))
    }
  }
}
