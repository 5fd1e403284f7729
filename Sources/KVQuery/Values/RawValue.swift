internal import KVJSON

/// A value inside an entity's bytes, which were validated when they were stored. Nothing is decoded
/// before it is asked for. Borrowed.
struct RawValue {
  /// The types that are compared with each other, in MongoDB's order.
  enum Kind: UInt8, Sendable {
    case null = 0x10
    case number = 0x20
    case string = 0x30
    case object = 0x40
    case array = 0x50
    case bool = 0x60
  }

  let scanner: ByteScanner
  let range: Range<Int>

  @inline(__always)
  init(_ scanner: ByteScanner, _ range: Range<Int>) {
    self.scanner = scanner
    self.range = range
  }

  @inline(__always)
  var first: UInt8 { scanner.base[range.lowerBound] }

  @inline(__always)
  var kind: Kind {
    switch first {
    case UInt8(ascii: "\""): .string
    case UInt8(ascii: "{"): .object
    case UInt8(ascii: "["): .array
    case UInt8(ascii: "t"), UInt8(ascii: "f"): .bool
    case UInt8(ascii: "n"): .null
    default: .number
    }
  }

  var number: Number { Number(scanner, range) }
  var bool: Bool { first == UInt8(ascii: "t") }

  /// Runs `body` with a string's UTF-8, escapes undone; empty for a string that does not end.
  @inline(__always)
  func withText<R, E: Error>(
    _ body: (UnsafeBufferPointer<UInt8>) throws(E) -> R
  ) throws(E) -> R {
    let inner = range.lowerBound &+ 1..<max(range.lowerBound &+ 1, range.upperBound &- 1)
    guard scanner.hasEscapes(inner) else {
      return try body(
        UnsafeBufferPointer(start: scanner.base + inner.lowerBound, count: inner.count))
    }
    return try scanner.unescaped(inner).withUnsafeBufferPointer(body)
  }

  /// The member of an object: the first one of that name.
  func member(_ name: [UInt8]) -> RawValue? {
    var members = TrustedMembers(scanner, at: range.lowerBound)
    return name.withUnsafeBufferPointer { wanted in
      while let member = members.next() {
        if scanner.text(member.name, equals: wanted) { return RawValue(scanner, member.value) }
      }
      return nil
    }
  }

  /// Whether `test` holds for some element of an array.
  @inline(__always)
  func containsElement<E: Error>(
    where test: (RawValue, Int) throws(E) -> Bool
  ) throws(E) -> Bool {
    var elements = TrustedElements(scanner, at: range.lowerBound)
    var index = 0
    while let element = elements.next() {
      if try test(RawValue(scanner, element), index) { return true }
      index &+= 1
    }
    return false
  }

  var elementCount: Int {
    var elements = TrustedElements(scanner, at: range.lowerBound)
    var count = 0
    while elements.next() != nil { count &+= 1 }
    return count
  }
}

extension RawValue {
  /// The value of a whole entity; nil if the bytes are no object.
  init?(entity bytes: UnsafeRawBufferPointer) {
    let scanner = ByteScanner(bytes)
    let start = scanner.skipSpace(0)
    guard start < scanner.end, scanner.base[start] == UInt8(ascii: "{") else { return nil }
    self.init(scanner, start..<scanner.end)
  }
}
