extension ByteScanner {
  /// The text with `.0` after each integer of more than 64 bits. What is not valid JSON stays so.
  func markingLargeIntegers() -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(end + 16)
    var at = 0
    while at < end {
      let next = endOfToken(at)
      out.append(contentsOf: UnsafeBufferPointer(start: base + at, count: next - at))
      if isLargeInteger(at..<next) { out += [UInt8(ascii: "."), UInt8(ascii: "0")] }
      at = next
    }
    return out
  }

  /// The position after the string or the number that starts at `position`, else after one byte.
  private func endOfToken(_ position: Int) -> Int {
    switch base[position] {
    case UInt8(ascii: "\""): passString(position)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): passScalar(position)
    default: position + 1
    }
  }

  private func isLargeInteger(_ range: Range<Int>) -> Bool {
    // 64 bits hold everything of up to 18 digits.
    guard range.count > 18, base[range.lowerBound] != UInt8(ascii: "\"") else { return false }
    let text = UnsafeBufferPointer(start: base + range.lowerBound, count: range.count)
    return text.allSatisfy { $0 == UInt8(ascii: "-") || $0 &- 0x30 <= 9 }
      && Int64(String(decoding: text, as: UTF8.self)) == nil
  }
}
