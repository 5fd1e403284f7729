extension StringProtocol {
  /// Where a text occurs first, byte by byte; nil if it does not, or is empty.
  ///
  /// In place of `firstRange(of:)`, which would bring Swift's regular expressions into the library.
  package func firstPlace(of text: String) -> Range<Index>? {
    let wanted = Array(text.utf8)
    guard let first = wanted.first else { return nil }
    var place = utf8.startIndex
    while let start = utf8[place...].firstIndex(of: first) {
      if utf8[start...].starts(with: wanted) {
        return start..<utf8.index(start, offsetBy: wanted.count)
      }
      place = utf8.index(after: start)
    }
    return nil
  }
}
