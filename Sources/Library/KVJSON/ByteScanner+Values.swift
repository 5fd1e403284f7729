internal import KVBase

/// What stands at a range of a validated text.
extension ByteScanner {
  package func isObject(at value: Range<Int>) -> Bool {
    base[value.lowerBound] == UInt8(ascii: "{")
  }

  package func isArray(at value: Range<Int>) -> Bool {
    base[value.lowerBound] == UInt8(ascii: "[")
  }

  package func isText(at value: Range<Int>) -> Bool {
    base[value.lowerBound] == UInt8(ascii: "\"")
  }

  package func isNull(at value: Range<Int>) -> Bool {
    base[value.lowerBound] == UInt8(ascii: "n")
  }

  /// What is between the quotes of a text.
  package func inside(_ text: Range<Int>) -> Range<Int> {
    text.lowerBound &+ 1..<text.upperBound &- 1
  }

  /// The bytes, which are borrowed like the scanner's.
  package func bytes(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: base + range.lowerBound, count: range.count)
  }

  /// The text of a number, as it is written.
  package func digits(_ number: Range<Int>) -> String {
    String(decoding: bytes(number), as: UTF8.self)
  }

  /// Whether what is between the quotes, with its escapes undone, is this text.
  package func text(_ range: Range<Int>, equals wanted: String) -> Bool {
    wanted.withBorrowedBytes { text(range, equals: $0.bindMemory(to: UInt8.self)) }
  }
}
