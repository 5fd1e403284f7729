internal import KVBase

/// The records of a result by their rows in the local database: eight bytes for each, whatever the records hold.
///
/// Forty bits are the row number, which is never used again; the others are the end of the version that the record had.
package struct RecordRows: Sendable {
  private static let versionBits: UInt64 = 24
  private static let versionMask: UInt64 = 1 << versionBits - 1

  /// The number of the collection's table; 0: there is none.
  package private(set) var table: Int64
  private var packed: [UInt64] = []

  package init(table: Int64) { self.table = table }

  package var count: Int { packed.count }

  /// Adds a record. Throws `.storage` if there is no memory, or its row number has more than 40 bits.
  package mutating func append(_ row: Int64, version: Int64) throws(StoreError) {
    guard let row = UInt64(exactly: row), row >> (64 - Self.versionBits) == 0 else {
      throw StoreError(.storage, "A row number is too large.")
    }
    try packed.makeRoom(for: 1, or: StoreError.noMemory)
    packed.append(row << Self.versionBits | UInt64(bitPattern: version) & Self.versionMask)
  }

  /// Adds the place of a record that is not there: no record has row 0.
  package mutating func appendMissing() throws(StoreError) { try append(0, version: 0) }

  /// Whether there is a record at a position, and not the place of one.
  package func has(_ index: Int) -> Bool { row(at: index) != 0 }

  /// The rows without the places of records that are not there.
  package var present: RecordRows {
    var present = self
    present.packed.removeAll { $0 >> Self.versionBits == 0 }
    return present
  }

  /// Adds a row of other rows of the same table; nil: the place of a record that is not there.
  mutating func append(_ rows: RecordRows, _ index: Int?) throws(StoreError) {
    guard let index else { return try appendMissing() }
    try packed.makeRoom(for: 1, or: StoreError.noMemory)
    packed.append(rows.packed[index])
  }

  /// Puts a row of other rows of the same table at a position. `isChanged`: it is to be told as changed.
  mutating func replace(at position: Int, by rows: RecordRows, _ index: Int, isChanged: Bool) {
    packed[position] = isChanged ? rows.packed[index] ^ Self.versionMask : rows.packed[index]
  }

  /// Makes them rows of another table, which does not contain them yet.
  mutating func move(to table: Int64) {
    guard table != self.table else { return }
    for index in packed.indices { packed[index] = 0 }
    self.table = table
  }

  /// What leads from this list to another one of the same collection.
  package func changes(to new: RecordRows) -> ListChanges {
    guard table == new.table else {
      // Row numbers of another table say nothing.
      return ListChanges(from: rows.map { -1 - $0 }, to: new.rows)
    }
    return ListChanges(from: rows, to: new.rows) { packed[$0] != new.packed[$1] }
  }

  private var rows: [Int64] { packed.indices.map { row(at: $0) } }

  /// The row number of a record.
  package func row(at index: Int) -> Int64 { Int64(packed[index] >> Self.versionBits) }

  /// Whether a version is the one that the record had. One of 16 million other versions is taken for it.
  package func isVersion(_ version: Int64, at index: Int) -> Bool {
    (packed[index] ^ UInt64(bitPattern: version)) & Self.versionMask == 0
  }
}
