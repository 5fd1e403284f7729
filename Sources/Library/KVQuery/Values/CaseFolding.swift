internal import KVBase

/// Unicode's simple case folding: one form for all characters that differ in case only. PCRE2 has the same
/// classes, as far as it knows the characters.
enum CaseFolding {
  /// The form that stands for a character and those that differ from it in case only.
  static func folded(_ scalar: UInt32) -> UInt32 {
    if scalar < 0x80 { return scalar &- 0x41 < 26 ? scalar | 0x20 : scalar }
    if scalar < tableEnd { return UInt32(table[Int(scalar &- 0x80)]) }
    // Most of what East Asian texts consist of.
    if 0x2E80..<0xA640 ~= scalar || 0xAC00..<0xD7B0 ~= scalar { return scalar }
    return computed(scalar)
  }

  /// Latin, Greek, Cyrillic and their neighbours are looked up.
  private static let tableEnd: UInt32 = 0x600
  private static let table = (0x80..<tableEnd).map { UInt16(truncatingIfNeeded: computed($0)) }

  /// The lower-case form of the upper-case form, where both are one character: so sigma and final sigma, whose
  /// upper-case form is the same, are folded to one.
  private static func computed(_ scalar: UInt32) -> UInt32 {
    // The dotless i is a letter of its own, although its upper-case form is I.
    guard scalar != 0x131, let properties = Unicode.Scalar(scalar)?.properties else {
      return scalar
    }
    let upper = single(properties.uppercaseMapping) ?? scalar
    return Unicode.Scalar(upper).flatMap { single($0.properties.lowercaseMapping) } ?? upper
  }

  private static func single(_ text: String) -> UInt32? {
    let scalars = text.unicodeScalars
    return scalars.count == 1 ? scalars.first?.value : nil
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Runs `body` with this text, its case folded. Bytes that are not UTF-8 stay what they are.
  func withFoldedCase<R, E: Error>(
    _ body: (UnsafeBufferPointer<UInt8>) throws(E) -> R
  ) throws(E) -> R {
    // No character needs more than one byte and a half for one.
    try withTemporaryMemory(of: UInt8.self, capacity: 2 * count) {
      (folded) throws(E) in
      let length = foldCase(into: folded)
      return try body(UnsafeBufferPointer(rebasing: folded[..<length]))
    }
  }

  /// Returns the length of the result.
  private func foldCase(into folded: UnsafeMutableBufferPointer<UInt8>) -> Int {
    var (at, length) = (0, 0)
    while at < count {
      let byte = self[at]
      if byte < 0x80 {
        folded[length] = byte &- 0x41 < 26 ? byte | 0x20 : byte
        at &+= 1
        length &+= 1
        continue
      }
      let end = Swift.min(at &+ (byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4), count)
      if let scalar = decode(at..<end), case let other = CaseFolding.folded(scalar),
        other != scalar,
        let character = Unicode.Scalar(other)
      {
        for byte in UTF8.encode(character) ?? UTF8.encodedReplacementCharacter {
          folded[length] = byte
          length &+= 1
        }
      } else {
        for index in at..<end {
          folded[length] = self[index]
          length &+= 1
        }
      }
      at = end
    }
    return length
  }

  /// The character of several bytes; nil if they are none.
  private func decode(_ range: Range<Int>) -> UInt32? {
    var scalar = UInt32(self[range.lowerBound]) & (0x7F &>> UInt32(range.count))
    for byte in self[range].dropFirst() {
      guard byte & 0xC0 == 0x80 else { return nil }
      scalar = scalar &<< 6 | UInt32(byte & 0x3F)
    }
    return range.count > 1 ? scalar : nil
  }
}
