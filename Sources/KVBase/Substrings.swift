extension StringProtocol {
  /// Where a text occurs first, byte by byte; nil if it does not, or is empty.
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

  /// What follows a text that this begins with; nil if it does not. Byte by byte: `hasPrefix` compares characters.
  package func dropping(prefix: String) -> SubSequence? {
    guard utf8.starts(with: prefix.utf8) else { return nil }
    return self[utf8.index(startIndex, offsetBy: prefix.utf8.count)...]
  }

  /// What precedes a text that this ends with; nil if it does not. Byte by byte.
  package func dropping(suffix: String) -> SubSequence? {
    guard utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8) else { return nil }
    return self[..<utf8.index(endIndex, offsetBy: -suffix.utf8.count)]
  }
}
