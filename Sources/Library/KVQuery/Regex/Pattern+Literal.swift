extension Pattern {
  /// The text that it looks for, and whether only at the beginning, if it is literal text and nothing else, in this very
  /// case; nil for any other expression.
  package var literalText: (text: String, isPrefix: Bool)? {
    guard options.isEmpty else { return nil }
    let special = "\\^$.|?*+()[]{}".unicodeScalars
    var rest = source.unicodeScalars[...]
    let isPrefix = rest.first == "^"
    // As an expression is searched for, `.*` before the text or behind it says nothing.
    if isPrefix {
      rest.removeFirst()
    } else if rest.starts(with: Self.anything) {
      rest.removeFirst(2)
    }
    var text = ""
    while let scalar = rest.popFirst() {
      if scalar == ".", rest.elementsEqual("*".unicodeScalars) { break }
      guard special.contains(scalar) else {
        text.unicodeScalars.append(scalar)
        continue
      }
      guard scalar == "\\", let escaped = rest.popFirst(),
        special.contains(escaped) || escaped == "#"
      else {
        return nil
      }
      text.unicodeScalars.append(escaped)
    }
    return text.isEmpty ? nil : (text, isPrefix)
  }

  private static let anything = ".*".unicodeScalars
}
