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
