/// Reads a text word by word: letters, digits and what belongs to them, folded so that equal words have equal bytes.
///
/// A character of a script without spaces between words is a word of its own, so that `東京` is found in `東京都`.
/// Where the text is not UTF-8 there is no word. Borrows the text.
struct WordReader {
  private let text: UnsafeBufferPointer<UInt8>
  private let folding: WordFolding
  private var offset = 0
  /// The word that was read last, folded, as UTF-8.
  private(set) var word: [UInt8] = []
  /// Where it stands in the text, in bytes.
  private(set) var range = 0..<0

  init(_ text: UnsafeBufferPointer<UInt8>, _ folding: WordFolding = WordFolding()) {
    self.text = text
    self.folding = folding
  }

  /// Reads the next word; false at the end of the text.
  mutating func next() -> Bool {
    word.removeAll(keepingCapacity: true)
    var start = offset
    var isComplete = false
    while offset < text.count {
      let byte = text[offset]
      if byte < 0x80 {
        guard WordReader.isLetter(byte) else {
          if !word.isEmpty { break }
          offset &+= 1
          continue
        }
        guard !isComplete else { break }
        if word.isEmpty { start = offset }
        word.append(folding.keepsCase || byte &- 0x41 >= 26 ? byte : byte | 0x20)
        offset &+= 1
        continue
      }
      let (scalar, length) = character()
      let role = scalar.map(WordFolding.role) ?? .separator
      if !word.isEmpty, WordReader.ends(role, isComplete) { break }
      if let scalar, role == .letter || role == .word {
        if word.isEmpty { start = offset }
        folding.append(scalar, to: &word)
        isComplete = role == .word
      } else if let scalar, role == .mark, !word.isEmpty, folding.keepsMarks {
        folding.append(scalar, to: &word)
      }
      offset &+= length
    }
    range = start..<offset
    return !word.isEmpty
  }

  /// Whether a character ends the word before it.
  private static func ends(_ role: WordFolding.Role, _ isComplete: Bool) -> Bool {
    switch role {
    case .separator, .word: true
    case .mark: false
    case .letter: isComplete
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26
  }

  /// The character at the offset and its length; nil for a byte that is none.
  private func character() -> (scalar: Unicode.Scalar?, length: Int) {
    let first = text[offset]
    let length = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
    guard length > 1, offset + length <= text.count else { return (nil, 1) }
    var value = UInt32(first) & (0x7F &>> UInt32(length))
    for byte in text[offset + 1..<offset + length] {
      guard byte & 0xC0 == 0x80 else { return (nil, 1) }
      value = value &<< 6 | UInt32(byte & 0x3F)
    }
    return (Unicode.Scalar(value), length)
  }
}
