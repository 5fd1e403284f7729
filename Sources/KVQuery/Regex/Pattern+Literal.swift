extension Pattern {
  /// The text that it looks for, and whether only at the beginning, if it is literal text and nothing else, in this very
  /// case; nil for any other expression.
  package var literalText: (text: String, isPrefix: Bool)? {
    guard options.isEmpty else { return nil }
    let special = "\\^$.|?*+()[]{}".unicodeScalars
    var rest = source.unicodeScalars[...]
    let isPrefix = rest.first == "^"
    if isPrefix { rest.removeFirst() }
    var text = ""
    while let scalar = rest.popFirst() {
      guard special.contains(scalar) else {
        text.unicodeScalars.append(scalar)
        continue
      }
      guard scalar == "\\", let escaped = rest.popFirst(), special.contains(escaped) else {
        return nil
      }
      text.unicodeScalars.append(escaped)
    }
    return text.isEmpty ? nil : (text, isPrefix)
  }
}
