internal import Glibc
internal import KVCollation
internal import KVJSON

/// Values as bytes that sort, byte by byte, as the values do: by type (null, numbers, strings, objects,
/// arrays, booleans), then within the type. Strings by code point; objects member by member as written.
///
///     null    10
///     number  20, the double with its bits turned so that they sort, what an integer has beyond it
///     string  30, the text with 00 as 00 FF, 00 00
///     object  40, for each member: type, name, value; 00
///     array   50, the elements; 00
///     bool    60, 00 or 01
enum ValueEncoding {
  /// Below null: what MongoDB sorts an empty array as.
  static let emptyArray: UInt8 = 0x08

  /// `collation`: texts have their keys in it instead of their bytes.
  static func append(_ value: RawValue, to out: inout [UInt8], _ collation: Collation? = nil) {
    var left = value.range.count
    append(value, to: &out, levels: EntityScanner.maximumDepth, left: &left, collation)
  }

  /// `levels`: how deep it looks. `left`: at how many values: each has a byte of its own at least. Entities never have more of
  /// either, unless the database was changed from outside: then the same bytes may belong to many values.
  private static func append(
    _ value: RawValue, to out: inout [UInt8], levels: Int, left: inout Int, _ collation: Collation?
  ) {
    left -= 1
    let kind = value.kind
    out.append(kind.rawValue)
    switch kind {
    case .null: break
    case .bool: out.append(value.bool ? 1 : 0)
    case .number: append(value.number, to: &out)
    case .string:
      value.withText { text in collation.withKey(of: text) { append(text: $0, to: &out) } }
    case .object where levels == 0, .array where levels == 0: out.append(0)
    case .object: appendMembers(value, to: &out, levels: levels, left: &left, collation)
    case .array:
      _ = value.containsElement { element, _ in
        guard left > 0 else { return true }
        append(element, to: &out, levels: levels - 1, left: &left, collation)
        return false
      }
      out.append(0)
    }
  }

  static func append(_ value: JSONValue, to out: inout [UInt8], _ collation: Collation? = nil) {
    let kind = value.kind
    out.append(kind.rawValue)
    switch value {
    case .null: break
    case .bool(let value): out.append(value ? 1 : 0)
    case .int(let value): append(Number.int(value), to: &out)
    case .double(let value): append(Number.double(value), to: &out)
    case .string(let value):
      Array(value.utf8).withUnsafeBufferPointer { text in
        collation.withKey(of: text) { append(text: $0, to: &out) }
      }
    case .array(let elements):
      for element in elements { append(element, to: &out, collation) }
      out.append(0)
    case .object(let object):
      for member in object.members {
        out.append(member.value.kind.rawValue)
        Array(member.name.utf8).withUnsafeBufferPointer { append(text: $0, to: &out) }
        append(member.value, to: &out, collation)
      }
      out.append(0)
    }
  }

  private static func appendMembers(
    _ value: RawValue, to out: inout [UInt8], levels: Int, left: inout Int, _ collation: Collation?
  ) {
    let scanner = value.scanner
    var members = TrustedMembers(scanner, at: value.range.lowerBound)
    while left > 0, let member = members.next() {
      let inner = RawValue(scanner, member.value)
      out.append(inner.kind.rawValue)
      let quoted = member.name.lowerBound &- 1..<member.name.upperBound &+ 1
      RawValue(scanner, quoted).withText { append(text: $0, to: &out) }
      append(inner, to: &out, levels: levels - 1, left: &left, collation)
    }
    out.append(0)
  }

  private static func append(_ number: Number, to out: inout [UInt8]) {
    let (double, rest) = number.split
    let bits = double.bitPattern
    let sortable = bits >> 63 == 1 ? ~bits : bits | 1 << 63
    for shift in stride(from: 56 as UInt64, through: 0, by: -8) {
      out.append(UInt8(truncatingIfNeeded: sortable >> shift))
    }
    let offset = UInt16(bitPattern: rest) ^ 0x8000
    out.append(UInt8(truncatingIfNeeded: offset >> 8))
    out.append(UInt8(truncatingIfNeeded: offset))
  }

  static func append(text: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) {
    if text.contains(0) {
      for byte in text {
        out.append(byte)
        if byte == 0 { out.append(0xFF) }
      }
    } else {
      out.append(contentsOf: text)
    }
    out.append(0)
    out.append(0)
  }

  /// Negative, 0 or positive, as `memcmp`; a beginning of the other is smaller.
  static func compare(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>)
    -> Int
  {
    if let a = left.baseAddress, let b = right.baseAddress {
      let order = memcmp(a, b, min(left.count, right.count))
      if order != 0 { return Int(order) }
    }
    return left.count &- right.count
  }

  static func compare(_ left: [UInt8], _ right: [UInt8]) -> Int {
    left.withUnsafeBufferPointer { a in right.withUnsafeBufferPointer { b in compare(a, b) } }
  }
}

extension JSONValue {
  var kind: RawValue.Kind {
    switch self {
    case .null: .null
    case .bool: .bool
    case .int, .double: .number
    case .string: .string
    case .array: .array
    case .object: .object
    }
  }
}
