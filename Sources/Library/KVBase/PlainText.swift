extension UInt8 {
  /// Whether it is an ASCII letter or digit.
  package var isASCIILetterOrDigit: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }
}

extension StringProtocol {
  /// Whether it has ASCII letters, ASCII digits and the bytes of `others` only. So has an empty text.
  package func hasOnlyLettersDigits(and others: String) -> Bool {
    utf8.allSatisfy { $0.isASCIILetterOrDigit || others.utf8.contains($0) }
  }
}

extension Unicode.Scalar {
  /// Whether it is a control character, of ASCII or beyond it.
  package var isControl: Bool { properties.generalCategory == .control }
}

/// What the name of a device may be: clients and the server have the same rule.
package enum DeviceName {
  package static let maxBytes = 100

  /// Whether a text is one: in UTF-8, without control characters. Bytes that are no UTF-8 have become U+FFFD.
  package static func isName(_ text: String) -> Bool {
    (1...maxBytes).contains(text.utf8.count)
      && !text.unicodeScalars.contains { $0.isControl || $0.value == 0xFFFD }
  }
}
