internal import CSQLite

/// A prepared statement that waits in a connection for its next use.
final class StatementSlot {
  let raw: OpaquePointer
  var isTaken = false
  var lastUse = 0

  init(_ raw: OpaquePointer) { self.raw = raw }

  deinit { sqlite3_finalize(raw) }
}

/// The prepared statements of one connection, found by the number of their `SQL`.
final class StatementCache {
  /// More than a store of a few collections uses; each holds some kilobytes.
  private static let most = 256

  private var slots: [Int: StatementSlot] = [:]
  private var clock = 0

  /// The statement, prepared now or before. If it is in use already, a second one for this use only.
  func take(_ sql: SQL, on connection: OpaquePointer) throws(SQLiteError) -> Statement {
    clock &+= 1
    if let slot = slots[sql.number] {
      guard !slot.isTaken else {
        return Statement(try Self.prepare(sql.text, on: connection, keeping: false), slot: nil)
      }
      slot.isTaken = true
      slot.lastUse = clock
      return Statement(slot.raw, slot: slot)
    }
    let slot = StatementSlot(try Self.prepare(sql.text, on: connection, keeping: true))
    if slots.count >= Self.most { dropOldest() }
    slot.isTaken = true
    slot.lastUse = clock
    slots[sql.number] = slot
    return Statement(slot.raw, slot: slot)
  }

  /// Finalizes all of them; called before the connection closes.
  func removeAll() { slots = [:] }

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

  /// A statement in use keeps its slot alive through itself, so dropping one is always safe.
  private func dropOldest() {
    guard let oldest = slots.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
    slots[oldest.key] = nil
  }
}
