internal import KVJSON

/// A text as its words: letters, digits and what belongs to them, without case and accents. Nothing is stemmed,
/// so that a word means the same in every language.
enum Words {
  /// The words in their order, as UTF-8.
  static func split(_ text: UnsafeBufferPointer<UInt8>) -> [[UInt8]] {
    if text.allSatisfy({ $0 < 0x80 }) { return splitASCII(text) }
    let folded = TextFolding.withoutCase(
      TextFolding.withoutMarks(String(decoding: text, as: UTF8.self)))
    var words: [[UInt8]] = []
    var word: [UInt8] = []
    for scalar in folded.unicodeScalars {
      if isPart(scalar) {
        word.append(contentsOf: String(scalar).utf8)
      } else if !word.isEmpty {
        words.append(word)
        word = []
      }
    }
    if !word.isEmpty { words.append(word) }
    return words
  }

  static func split(_ text: String) -> [[UInt8]] {
    Array(text.utf8).withUnsafeBufferPointer { split($0) }
  }

  private static func splitASCII(_ text: UnsafeBufferPointer<UInt8>) -> [[UInt8]] {
    var words: [[UInt8]] = []
    var word: [UInt8] = []
    for byte in text {
      switch byte {
      case 0x30...0x39, 0x61...0x7A: word.append(byte)
      case 0x41...0x5A: word.append(byte | 0x20)
      default:
        guard !word.isEmpty else { continue }
        words.append(word)
        word = []
      }
    }
    if !word.isEmpty { words.append(word) }
    return words
  }

  private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .decimalNumber, .letterNumber, .otherNumber, .spacingMark, .nonspacingMark, .enclosingMark:
      true
    default: false
    }
  }
}

extension RawValue {
  /// Runs `body` with the text of each string in a value, names of members left out.
  ///
  /// `levels`: how deep it looks; entities are never deeper, unless somebody has changed the database.
  func eachText(
    levels: Int = EntityScanner.maximumDepth, _ body: (UnsafeBufferPointer<UInt8>) -> Void
  ) {
    switch kind {
    case .string: withText(body)
    case .array where levels > 0:
      _ = containsElement { element, _ in
        element.eachText(levels: levels - 1, body)
        return false
      }
    case .object where levels > 0:
      var members = TrustedMembers(scanner, at: range.lowerBound)
      while let member = members.next() {
        RawValue(scanner, member.value).eachText(levels: levels - 1, body)
      }
    case .null, .bool, .number, .array, .object: break
    }
  }

  /// Visits the texts of an entity, whose reserved members are not searched.
  func eachTextOfEntity(_ format: RecordFormat, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
    guard kind == .object else { return }
    var members = TrustedMembers(scanner, at: range.lowerBound)
    while let member = members.next() {
      guard !format.isReserved(member.name, in: scanner) else { continue }
      RawValue(scanner, member.value).eachText(body)
    }
  }

  /// Runs `body` with the text of each string at a path, elements of arrays included.
  static func eachText(
    of root: RawValue?, at path: Components, _ body: (UnsafeBufferPointer<UInt8>) -> Void
  ) {
    _ = try? any(root, at: path, expanding: true) { value in
      if let value, value.kind == .string { value.withText(body) }
      return false
    }
  }
}
