internal import CScan
internal import Glibc
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

  /// Whether another value is written in the same way.
  func hasSameBytes(as other: RawValue) -> Bool {
    range.count == other.range.count
      && memcmp(
        scanner.base + range.lowerBound, other.scanner.base + other.range.lowerBound, range.count)
        == 0
  }

  /// The member of an object: the first one of that name.
  func member(_ name: [UInt8]) -> RawValue? {
    name.withUnsafeBufferPointer { wanted in
      var found = kv_span()
      if !wanted.isEmpty,
        find(kv_member_name(bytes: wanted.baseAddress, length: wanted.count), &found)
      {
        guard found.end > 0 else { return nil }
        return RawValue(scanner, Range(uncheckedBounds: (found.start, found.end)))
      }
      // The name is empty, or one in the object has escapes.
      var members = TrustedMembers(scanner, at: range.lowerBound)
      while let member = members.next() {
        if scanner.text(member.name, equals: wanted) { return RawValue(scanner, member.value) }
      }
      return nil
    }
  }

  /// False if it takes more to find the member; 0 is where it ends if there is none.
  private func find(_ name: kv_member_name, _ found: inout kv_span) -> Bool {
    withUnsafePointer(to: name) { name in
      var names = kv_names(names: name, count: 1, slots: nil, mask: 0, seed: 0)
      return kv_find_members(scanner.base, range.lowerBound, range.upperBound, &names, &found) == 0
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
