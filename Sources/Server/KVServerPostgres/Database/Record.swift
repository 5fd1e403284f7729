/// A row that PostgreSQL has sent as one value, by `record_send`: so a result can have rows of another kind besides it.
struct Record {
  /// The pointers below lead into it.
  private let rows: ResultRows
  private let fields: [UnsafeRawBufferPointer?]

  init(_ rows: ResultRows, _ row: Int, column: Int) {
    self.rows = rows
    let bytes = rows.bytes(row, column)
    // The number of fields; then of each its type, its length and its bytes.
    var fields: [UnsafeRawBufferPointer?] = []
    var offset = 4
    while offset + 8 <= bytes.count {
      let length = Int(BinaryValue.integer(bytes[offset + 4..<offset + 8]))
      offset += 8
      guard length >= 0, offset + length <= bytes.count else {
        fields.append(nil)
        continue
      }
      fields.append(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length]))
      offset += length
    }
    self.fields = fields
  }

  private func bytes(_ field: Int) -> UnsafeRawBufferPointer? {
    field < fields.count ? fields[field] : nil
  }

  func int64(_ field: Int) -> Int64 { optionalInt64(field) ?? 0 }

  func optionalInt64(_ field: Int) -> Int64? { bytes(field).map { BinaryValue.integer($0[...]) } }

  func text(_ field: Int) -> String { optionalText(field) ?? "" }

  func optionalText(_ field: Int) -> String? {
    bytes(field).map { String(decoding: $0, as: UTF8.self) }
  }

  func flag(_ field: Int) -> Bool { bytes(field)?.first == 1 }

  func texts(_ field: Int) -> [String] { bytes(field).map { BinaryValue.texts($0) } ?? [] }
}
