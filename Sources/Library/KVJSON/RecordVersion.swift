internal import KVBase

/// The version of a record, as its backend wrote it: a text of which nothing is known but its bytes. Whether one is older
/// than another, the backend's format says; see `VersionOrder`.
package struct RecordVersion: Hashable, Sendable, CustomStringConvertible {
  package let text: String

  package init(_ text: String) { self.text = text }

  package static func == (left: RecordVersion, right: RecordVersion) -> Bool {
    left.text.hasSameBytes(as: right.text)
  }

  package func hash(into hasher: inout Hasher) { RecordID(text).hash(into: &hasher) }

  package var description: String { text }
}

/// The order of a backend's versions of one record.
package enum VersionOrder: Sendable, Equatable, BitwiseCopyable {
  /// Ordered as texts, byte by byte: such as times in one notation.
  case text
  /// Ordered as integers of any size.
  case integer
  /// Not known: two versions are the same, or they differ.
  case unordered

  /// Whether a version is known to be older than another one.
  package func isOlder(_ version: RecordVersion, than other: RecordVersion) -> Bool {
    switch self {
    case .text: return RecordID(version.text) < RecordID(other.text)
    case .integer:
      guard let version = Digits(version.text), let other = Digits(other.text) else { return false }
      return version < other
    case .unordered: return false
    }
  }

  /// The newer of two versions; of two in no order, the second.
  package func newer(_ first: RecordVersion, _ second: RecordVersion) -> RecordVersion {
    isOlder(second, than: first) ? first : second
  }
}

/// An integer of any size, as its decimal digits.
private struct Digits: Comparable {
  let isNegative: Bool
  /// Without leading zeros; empty for 0.
  let digits: Substring.UTF8View

  /// Reads an integer of any size; nil for any other text.
  init?(_ text: String) {
    let utf8 = text.utf8
    let hasSign = utf8.first == UInt8(ascii: "-")
    let all = hasSign ? utf8.dropFirst() : utf8[...]
    guard !all.isEmpty, all.allSatisfy({ $0 &- 0x30 <= 9 }) else { return nil }
    digits = all.drop { $0 == UInt8(ascii: "0") }
    isNegative = hasSign && !digits.isEmpty
  }

  static func == (left: Digits, right: Digits) -> Bool {
    left.isNegative == right.isNegative && left.digits.elementsEqual(right.digits)
  }

  static func < (left: Digits, right: Digits) -> Bool {
    guard left.isNegative == right.isNegative else { return left.isNegative }
    return left.isNegative ? isSmaller(right, left) : isSmaller(left, right)
  }

  private static func isSmaller(_ left: Digits, _ right: Digits) -> Bool {
    left.digits.count == right.digits.count
      ? left.digits.lexicographicallyPrecedes(right.digits)
      : left.digits.count < right.digits.count
  }
}
