@_spi(_Unicode) internal import Swift

/// Removes differences of case and of accents from texts before they are compared or searched.
enum TextFolding {
  /// Letters that differ in case only become one.
  static func withoutCase(_ text: String) -> String {
    Array(text.utf8).withUnsafeBufferPointer { text in
      text.withFoldedCase { String(decoding: $0, as: UTF8.self) }
    }
  }

  /// Letters lose what is put on them in any script: accents, vowel points, tone marks.
  static func withoutMarks(_ text: String) -> String {
    guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
    var out = String.UnicodeScalarView()
    for scalar in text._nfd where scalar.properties.generalCategory != .nonspacingMark {
      out.append(scalar)
    }
    return String(out)
  }
}
