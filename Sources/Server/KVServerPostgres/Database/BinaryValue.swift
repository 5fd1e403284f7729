/// Reads values in PostgreSQL's binary format.
enum BinaryValue {
  /// A number of 4 or 8 bytes with its sign.
  static func integer(_ bytes: Slice<UnsafeRawBufferPointer>) -> Int64 {
    let value = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return bytes.count == 4 ? Int64(Int32(truncatingIfNeeded: value)) : Int64(bitPattern: value)
  }

  /// An array of texts; NULL has none.
  static func texts(_ bytes: UnsafeRawBufferPointer) -> [String] {
    // Dimensions, whether there are NULLs, the type; then length and lower bound.
    guard bytes.count >= 20 else { return [] }
    let count = Int(integer(bytes[12..<16]))
    var (texts, offset): ([String], Int) = ([], 20)
    while texts.count < count, offset + 4 <= bytes.count {
      let length = Int(integer(bytes[offset..<offset + 4]))
      offset += 4
      guard length >= 0, offset + length <= bytes.count else { break }
      texts.append(String(decoding: bytes[offset..<offset + length], as: UTF8.self))
      offset += length
    }
    return texts
  }
}
