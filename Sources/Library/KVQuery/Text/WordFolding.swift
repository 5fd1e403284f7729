@_spi(_Unicode) internal import Swift

/// What makes two words the same: by default neither case nor accents count.
struct WordFolding: Sendable, Equatable {
  var keepsCase = false
  var keepsMarks = false

  /// What a character is in a text that is read as words.
  enum Role {
    case separator
    /// Belongs to the word before it: an accent, a vowel point.
    case mark
    /// Belongs to the letters around it.
    case letter
    /// A word of its own, because its script puts no spaces between words.
    case word
  }

  static func role(of scalar: Unicode.Scalar) -> Role {
    switch scalar.properties.generalCategory {
    case .nonspacingMark: .mark
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .decimalNumber, .letterNumber, .otherNumber, .spacingMark, .enclosingMark:
      isWrittenWithoutSpaces(scalar) ? .word : .letter
    default: .separator
    }
  }

  /// Appends the UTF-8 of a letter or mark in the form that is compared.
  func append(_ scalar: Unicode.Scalar, to word: inout [UInt8]) {
    if self == WordFolding(), WordFolding.table.indices.contains(Int(scalar.value)) {
      word += WordFolding.table[Int(scalar.value)]
    } else if WordFolding.isPlainIdeograph(scalar) {
      word += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
    } else {
      word += computed(scalar)
    }
  }

  /// Latin, Greek, Cyrillic and their neighbours, without case and marks.
  private static let table = (0..<0x600).map { value in
    Unicode.Scalar(UInt32(value)).map { WordFolding().computed($0) } ?? []
  }

  private func computed(_ scalar: Unicode.Scalar) -> [UInt8] {
    var bytes: [UInt8] = []
    for part in String(scalar)._nfd {
      guard keepsMarks || part.properties.generalCategory != .nonspacingMark else { continue }
      let folded = keepsCase ? part : Unicode.Scalar(CaseFolding.folded(part.value)) ?? part
      bytes += UTF8.encode(folded) ?? UTF8.encodedReplacementCharacter
    }
    return bytes
  }

  private static func isPlainIdeograph(_ scalar: Unicode.Scalar) -> Bool {
    0x3400..<0xA000 ~= scalar.value
  }

  /// Thai, Lao, Burmese, Khmer, kana, and the characters of Chinese.
  private static func isWrittenWithoutSpaces(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x0E00: false
    case 0x0E00..<0x0F00, 0x1000..<0x10A0, 0x1780..<0x1800, 0x3040..<0x3100, 0x31F0..<0x3200,
      0xFF66..<0xFFA0:
      true
    default: scalar.properties.isIdeographic
    }
  }
}
