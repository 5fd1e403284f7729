extension StringProtocol {
  /// Returns the range of the first occurrence of a text, compared byte by byte; nil if there is none, or the text is
  /// empty.
  ///
  /// Instead of `firstRange(of:)`, which would bring Swift's regular expressions into the library.
  package func firstRange(ofText text: String) -> Range<Index>? {
    let wanted = Array(text.utf8)
    guard let first = wanted.first else { return nil }
    var position = utf8.startIndex
    while let start = utf8[position...].firstIndex(of: first) {
      if utf8[start...].starts(with: wanted) {
        return start..<utf8.index(start, offsetBy: wanted.count)
      }
      position = utf8.index(after: start)
    }
    return nil
  }

  /// Returns the rest after a prefix; nil if this does not begin with it. Byte by byte: `hasPrefix` compares
  /// characters.
  package func dropping(prefix: String) -> SubSequence? {
    guard utf8.starts(with: prefix.utf8) else { return nil }
    return self[utf8.index(startIndex, offsetBy: prefix.utf8.count)...]
  }

  /// Returns the rest before a suffix; nil if this does not end with it. Byte by byte.
  package func dropping(suffix: String) -> SubSequence? {
    guard utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) else { return nil }
    return self[..<utf8.index(endIndex, offsetBy: -suffix.utf8.count)]
  }
}
