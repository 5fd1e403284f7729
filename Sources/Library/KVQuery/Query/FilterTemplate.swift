internal import KVBase
internal import KVJSON

/// The text of a filter without its constants, and these: filters of one text have one `QueryShape`.
///
/// It is made in one pass, without parsing: a text that is no filter has a template too, but no shape.
struct FilterTemplate {
  /// What stands in place of a constant. No JSON has such bytes.
  private enum Mark {
    static let text: UInt8 = 1
    static let number: UInt8 = 2
  }

  /// More are not worth it.
  private static let maxConstants = 16

  private(set) var text = ""
  private(set) var constants: [JSONValue] = []

  /// Nil for a text without constants, with too many of them, or with one that takes more than a look: escapes, long
  /// integers.
  init?(_ filter: String) {
    var rest: [UInt8] = []
    rest.reserveCapacity(filter.utf8.count)
    guard filter.withBorrowedBytes({ read($0, into: &rest) }), !constants.isEmpty else {
      return nil
    }
    text = String(decoding: rest, as: UTF8.self)
  }

  private mutating func read(_ bytes: UnsafeRawBufferPointer, into text: inout [UInt8]) -> Bool {
    var at = 0
    while at < bytes.count {
      let byte = bytes[at]
      switch byte {
      case UInt8(ascii: "\""):
        guard let end = Self.endOfText(bytes, at + 1) else { return false }
        if Self.isName(bytes, endingAt: end) {
          text.append(contentsOf: bytes[at..<end])
        } else {
          guard constants.count < Self.maxConstants else { return false }
          constants.append(.string(String(decoding: bytes[at + 1..<end - 1], as: UTF8.self)))
          text.append(Mark.text)
        }
        at = end
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        guard constants.count < Self.maxConstants, let number = Self.number(bytes, &at) else {
          return false
        }
        constants.append(number)
        text.append(Mark.number)
      default:
        guard byte > Mark.number else { return false }
        text.append(byte)
        at += 1
      }
    }
    return true
  }

  /// The position behind the quotation mark; nil for a text with escapes or control characters.
  private static func endOfText(_ bytes: UnsafeRawBufferPointer, _ start: Int) -> Int? {
    var at = start
    while at < bytes.count {
      let byte = bytes[at]
      at += 1
      if byte == UInt8(ascii: "\"") { return at }
      if byte == UInt8(ascii: "\\") || byte < 0x20 { return nil }
    }
    return nil
  }

  private static func isName(_ bytes: UnsafeRawBufferPointer, endingAt end: Int) -> Bool {
    var at = end
    while at < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[at]) { at += 1 }
    return at < bytes.count && bytes[at] == UInt8(ascii: ":")
  }

  /// Reads a number as JSON writes it, and goes behind it; nil for anything else, and for integers of more than 18 digits.
  private static func number(_ bytes: UnsafeRawBufferPointer, _ at: inout Int) -> JSONValue? {
    let start = at
    let isNegative = bytes[at] == UInt8(ascii: "-")
    if isNegative { at += 1 }
    let first = at
    var value: Int64 = 0
    while let digit = digit(bytes, at), at - first < 18 {
      value = value * 10 + Int64(digit)
      at += 1
    }
    guard at > first, digit(bytes, at) == nil, at - first == 1 || bytes[first] != 0x30 else {
      return nil
    }
    guard at < bytes.count, [0x2E, 0x45, 0x65].contains(bytes[at]) else {
      return .int(isNegative ? -value : value)
    }
    if bytes[at] == UInt8(ascii: ".") {
      at += 1
      guard passDigits(bytes, &at) else { return nil }
    }
    if at < bytes.count, bytes[at] | 0x20 == UInt8(ascii: "e") {
      at += 1
      if at < bytes.count, [0x2B, 0x2D].contains(bytes[at]) { at += 1 }
      guard passDigits(bytes, &at) else { return nil }
    }
    guard let number = Double(String(decoding: bytes[start..<at], as: UTF8.self)), number.isFinite
    else { return nil }
    return .double(number)
  }

  private static func digit(_ bytes: UnsafeRawBufferPointer, _ at: Int) -> UInt8? {
    guard at < bytes.count, bytes[at] &- 0x30 <= 9 else { return nil }
    return bytes[at] &- 0x30
  }

  /// Goes behind one digit or more; false if there is none.
  private static func passDigits(_ bytes: UnsafeRawBufferPointer, _ at: inout Int) -> Bool {
    let start = at
    while digit(bytes, at) != nil { at += 1 }
    return at > start
  }
}
