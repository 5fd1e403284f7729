internal import CSQLite

/// A prepared statement that waits in a connection for its next use.
final class StatementSlot {
  let raw: OpaquePointer
  let number: Int
  var isTaken = false

  init(_ raw: OpaquePointer, _ number: Int) {
    self.raw = raw
    self.number = number
  }

  deinit { sqlite3_finalize(raw) }
}

/// The prepared statements of one connection, found by the number of their `SQL`.
///
/// A table with one slot for each remainder: two statements that want the same slot evict each other, which is
/// rare, because numbers are given out one after the other and few statements are in use at a time.
final class StatementCache {
  /// More than a store of a few collections uses; a statement holds some kilobytes.
  private static let slotCount = 256

  private var slots = [StatementSlot?](repeating: nil, count: StatementCache.slotCount)

  /// The statement, prepared now or before. If it is in use already, a second one for this use only.
  func statement(_ sql: SQL, on connection: OpaquePointer) throws(SQLiteError) -> Statement {
    let index = sql.number & (StatementCache.slotCount - 1)
    if let slot = slots[index] {
      if slot.number == sql.number, !slot.isTaken {
        slot.isTaken = true
        return Statement(slot.raw, slot: slot)
      }
      if slot.isTaken {
        return Statement(try Self.prepare(sql.text, on: connection, keeping: false), slot: nil)
      }
    }
    let raw = try Self.prepare(sql.text, on: connection, keeping: true)
    let slot = StatementSlot(raw, sql.number)
    slot.isTaken = true
    slots[index] = slot
    return Statement(raw, slot: slot)
  }

  /// Finalizes all of them; called before the connection closes.
  func removeAll() { slots = [] }

  /// Compiles a text. `keeping`: tells SQLite that the statement will live long.
  static func prepare(
    _ text: String, on connection: OpaquePointer, keeping: Bool
  ) throws(SQLiteError) -> OpaquePointer {
    var raw: OpaquePointer?
    let flags = keeping ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
    let status = sqlite3_prepare_v3(connection, text, -1, flags, &raw, nil)
    guard status == SQLITE_OK else { throw SQLiteError(status: status, on: connection) }
    guard let raw else { throw SQLiteError(.other, "empty statement") }
    return raw
  }
}
