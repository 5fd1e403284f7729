internal import KVBase
internal import KVJSON

extension ScalarType {
  /// Whether a value of a valid text, not null, can stand for one of these. The formats of addresses and numbers of
  /// telephones are the backend's business.
  func accepts(_ value: Range<Int>, in scanner: ByteScanner) -> Bool {
    switch self {
    case .id, .string, .email, .json, .url, .phone, .ipAddress: scanner.isText(at: value)
    case .int: scanner.integer(value).map { Int32(exactly: $0) != nil } ?? false
    case .timestamp: scanner.integer(value) != nil
    case .float: scanner.isNumber(at: value)
    case .boolean: scanner.isBool(at: value)
    case .date: TemporalText(value, in: scanner)?.isDate ?? false
    case .time: TemporalText(value, in: scanner)?.isTime ?? false
    case .dateTime: TemporalText(value, in: scanner)?.isDateTime ?? false
    }
  }

  /// The value that a text stands for, such as that of `@default`; nil: none of these.
  func value(of text: String) -> JSONValue? {
    let value: JSONValue? =
      switch self {
      case .int, .timestamp, .float, .boolean: try? JSONValue(parsing: text)
      default: .string(text)
      }
    guard let value, !value.isNull else { return nil }
    let isAccepted = value.bytes.withBorrowedBytes { bytes in
      accepts(0..<bytes.count, in: ByteScanner(bytes))
    }
    return isAccepted ? value : nil
  }

  /// With its article, for a message.
  var description: String {
    switch self {
    case .int: "an integer of 32 bits"
    case .timestamp: "an integer: seconds since 1970"
    case .float: "a number"
    case .boolean: "true or false"
    case .date: "a date such as 2026-11-22"
    case .time: "a time such as 12:30:00.000"
    case .dateTime: "a date and time such as 2026-11-22T12:30:00.000Z"
    case .id, .string, .email, .json, .url, .phone, .ipAddress: "a string"
    }
  }
}

/// A text that may be a date or a time as AWS writes them, extended ISO 8601.
private struct TemporalText {
  private let bytes: [UInt8]
  private var offset = 0

  /// Nil for what is no text.
  init?(_ value: Range<Int>, in scanner: ByteScanner) {
    guard scanner.isText(at: value) else { return nil }
    bytes = scanner.unescaped(scanner.inside(value))
  }

  /// `2026-11-22`, with an offset to UTC or without.
  var isDate: Bool {
    var text = self
    return text.passDate() && text.passOffset(isRequired: false)
  }

  /// `12:30`, `12:30:00`, `12:30:00.000`, with an offset to UTC or without.
  var isTime: Bool {
    var text = self
    return text.passTime() && text.passOffset(isRequired: false)
  }

  /// Both, and the offset has to be there.
  var isDateTime: Bool {
    var text = self
    return text.passDate() && text.pass(UInt8(ascii: "T")) && text.passTime()
      && text.passOffset(isRequired: true)
  }

  private mutating func pass(_ byte: UInt8) -> Bool {
    guard offset < bytes.count, bytes[offset] == byte else { return false }
    offset += 1
    return true
  }

  /// That many digits, whose value is in the range.
  private mutating func passNumber(_ count: Int, _ range: ClosedRange<Int>) -> Bool {
    guard offset + count <= bytes.count else { return false }
    var value = 0
    for byte in bytes[offset..<offset + count] {
      guard byte &- 0x30 < 10 else { return false }
      value = value * 10 + Int(byte &- 0x30)
    }
    offset += count
    return range.contains(value)
  }

  private mutating func passDate() -> Bool {
    passNumber(4, 0...9999) && pass(UInt8(ascii: "-")) && passNumber(2, 1...12)
      && pass(UInt8(ascii: "-")) && passNumber(2, 1...31)
  }

  private mutating func passTime() -> Bool {
    guard passNumber(2, 0...23), pass(UInt8(ascii: ":")), passNumber(2, 0...59) else {
      return false
    }
    guard pass(UInt8(ascii: ":")) else { return true }
    guard passNumber(2, 0...59) else { return false }
    guard pass(UInt8(ascii: ".")) else { return true }
    let start = offset
    while offset < bytes.count, bytes[offset] &- 0x30 < 10 { offset += 1 }
    return (1...9).contains(offset - start)
  }

  /// `Z`, `±hh`, `±hh:mm` or `±hh:mm:ss`, to the end.
  private mutating func passOffset(isRequired: Bool) -> Bool {
    guard offset < bytes.count else { return !isRequired }
    if pass(UInt8(ascii: "Z")) { return offset == bytes.count }
    guard pass(UInt8(ascii: "+")) || pass(UInt8(ascii: "-")), passNumber(2, 0...23) else {
      return false
    }
    for _ in 0..<2 where offset < bytes.count {
      guard pass(UInt8(ascii: ":")), passNumber(2, 0...59) else { return false }
    }
    return offset == bytes.count
  }
}

extension ByteScanner {
  fileprivate func isBool(at value: Range<Int>) -> Bool {
    base[value.lowerBound] == UInt8(ascii: "t") || base[value.lowerBound] == UInt8(ascii: "f")
  }

  fileprivate func isNumber(at value: Range<Int>) -> Bool {
    base[value.lowerBound] == UInt8(ascii: "-") || base[value.lowerBound] &- 0x30 < 10
  }

  /// An integer of 64 bits, which may be written with a fraction of zero; nil for anything else.
  fileprivate func integer(_ value: Range<Int>) -> Int64? {
    guard isNumber(at: value) else { return nil }
    let text = digits(value)
    return Int64(text) ?? Double(text).flatMap { Int64(exactly: $0) }
  }
}
