/// Literal text with wildcards: parts that follow each other with any text in between.
struct WildcardPattern: Sendable {
  /// A part that matches without a gap: literal text and single characters.
  struct Part: Sendable {
    enum Element: Sendable {
      case literal([UInt8])
      case anyCharacter
    }

    private(set) var elements: [Element] = []
    /// The index of the longest literal, which is searched for first; nil: there is none.
    private(set) var rarest: Int?

    mutating func append(_ bytes: [UInt8]) {
      if case .literal(let before)? = elements.last {
        elements[elements.count - 1] = .literal(before + bytes)
      } else {
        elements.append(.literal(bytes))
      }
      let last = elements.count - 1
      if length(last) > (rarest.map(length) ?? 0) { rarest = last }
    }

    mutating func appendAnyCharacter() { elements.append(.anyCharacter) }

    private func length(_ element: Int) -> Int {
      if case .literal(let bytes) = elements[element] { bytes.count } else { 0 }
    }
  }

  /// The position at which a match has to end.
  enum End: Sendable {
    case anywhere
    /// A match ends at the end of the text.
    case end
    /// There, or before a line feed that is the end of the text: what `$` means.
    case endOrLastLineFeed
  }

  /// The text that this is all of, without wildcards; nil: it is more.
  var literal: [UInt8]? {
    guard parts.count == 1, parts[0].elements.count <= 1 else { return nil }
    guard let element = parts[0].elements.first else { return [] }
    if case .literal(let bytes) = element { return bytes }
    return nil
  }

  /// The parts, at least one.
  var parts = [Part()]
  /// Whether a match has to start where the text does.
  var isAnchored = false
  var end = End.anywhere
  /// Whether a match lies within one line, because a wildcard stands for no line feed.
  var staysInLine = false
}
