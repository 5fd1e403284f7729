extension WildcardSearch {
  /// The parts of an expression that is nothing but literal text, `.`, `.*`, `.+`, anchors at its ends, and
  /// alternatives of these.
  fileprivate enum Token: Equatable {
    case literal(Unicode.Scalar)
    case anyCharacter, anyText
    case start, end, endOrLastLineFeed
    case open, close, bar
  }

  private static let maxAlternatives = 64

  /// Reads such an expression; nil for any other, which is PCRE2's.
  convenience init?(_ source: String, _ flags: RegexFlags) {
    guard !flags.contains(.extended),
      let tokens = WildcardSearch.tokens(Array(source.unicodeScalars), flags),
      let alternatives = WildcardSearch.alternatives(tokens)
    else { return nil }
    let patterns = alternatives.compactMap { WildcardPattern($0, flags) }
    guard patterns.count == alternatives.count else { return nil }
    self.init(patterns, ignoringCase: flags.contains(.ignoreCase))
  }

  private static func tokens(_ text: [Unicode.Scalar], _ flags: RegexFlags) -> [Token]? {
    var tokens: [Token] = []
    var at = 0
    while at < text.count {
      guard let (token, length) = token(text[at...], flags) else { return nil }
      at += length
      if token == .anyCharacter, at < text.count, "*+".unicodeScalars.contains(text[at]) {
        if text[at] == "+" { tokens.append(.anyCharacter) }
        tokens.append(.anyText)
        at += 1
        // As few as possible is as good as many.
        if at < text.count, text[at] == "?" { at += 1 }
      } else {
        tokens.append(token)
      }
      // A repetition of anything else is not simple.
      if at < text.count, "*+?{".unicodeScalars.contains(text[at]) { return nil }
    }
    return tokens
  }

  /// The token at the beginning of a text, and its length.
  private static func token(
    _ text: ArraySlice<Unicode.Scalar>, _ flags: RegexFlags
  ) -> (Token, Int)? {
    let isMultiline = flags.contains(.multiline)
    let escaped = text.dropFirst().first
    switch text.first {
    case ".": return (.anyCharacter, 1)
    case "|": return (.bar, 1)
    case "^" where !isMultiline: return (.start, 1)
    case "$" where text.starts(with: Pattern.wholeEnd.unicodeScalars):
      return (.end, Pattern.wholeEnd.unicodeScalars.count)
    case "$" where !isMultiline: return (.endOrLastLineFeed, 1)
    case "(" where escaped == "?": return text.dropFirst(2).first == ":" ? (.open, 3) : nil
    case "(" where escaped != "*": return (.open, 1)
    case ")": return (.close, 1)
    case "\\": return escaped.flatMap(self.escaped).map { ($0, 2) }
    case "^", "$", "(", "[", "*", "+", "?", "{", nil: return nil
    case .some(let scalar): return (.literal(scalar), 1)
    }
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> Token? {
    switch scalar {
    case "A": return .start
    case "z": return .end
    case "Z": return .endOrLastLineFeed
    case "n": return .literal("\n")
    case "t": return .literal("\t")
    case "r": return .literal("\r")
    case "0"..."9", "a"..."z", "A"..."Z": return nil
    default: return scalar.isASCII ? .literal(scalar) : nil
    }
  }

  /// Returns each alternative together with what stands before and after the group that they are in, if they are in one.
  private static func alternatives(_ tokens: [Token]) -> [[Token]]? {
    guard tokens.contains(.open) || tokens.contains(.close) else { return split(tokens) }
    guard let open = tokens.firstIndex(of: .open), let close = tokens.lastIndex(of: .close),
      open < close
    else { return nil }
    let (before, inside, after) = (
      tokens[..<open], tokens[(open + 1)..<close], tokens[(close + 1)...]
    )
    guard !before.contains(.bar), !after.contains(.bar), !inside.contains(.open),
      !inside.contains(.close), let parts = split(Array(inside))
    else { return nil }
    return parts.map { before + $0 + after }
  }

  private static func split(_ tokens: [Token]) -> [[Token]]? {
    let parts = tokens.split(separator: .bar, omittingEmptySubsequences: false)
    return parts.count <= maxAlternatives ? parts.map { Array($0) } : nil
  }
}

extension WildcardPattern {
  /// Makes a pattern of tokens; nil if an anchor is not at its end, or a line feed beside wildcards that stand for none.
  fileprivate init?(_ tokens: [WildcardSearch.Token], _ flags: RegexFlags) {
    var tokens = tokens[...]
    if tokens.first == .start {
      isAnchored = true
      tokens.removeFirst()
    }
    if let last = tokens.last, last == .end || last == .endOrLastLineFeed {
      end = last == .end ? .end : .endOrLastLineFeed
      tokens.removeLast()
    }
    for token in tokens {
      switch token {
      case .literal(let scalar): parts[parts.count - 1].append(scalar, flags)
      case .anyCharacter: parts[parts.count - 1].appendAnyCharacter()
      case .anyText: parts.append(Part())
      case .start, .end, .endOrLastLineFeed, .open, .close, .bar: return nil
      }
    }
    dropOpenEnds()
    guard !flags.contains(.dotAll), hasWildcards else { return }
    guard !tokens.contains(.literal("\n")) else { return nil }
    staysInLine = true
  }

  /// Any text at an end that is not bound to anything says nothing.
  private mutating func dropOpenEnds() {
    if !isAnchored, parts.count > 1, parts[0].elements.isEmpty { parts.removeFirst() }
    if end == .anywhere, parts.count > 1, parts[parts.count - 1].elements.isEmpty {
      parts.removeLast()
    }
  }

  private var hasWildcards: Bool {
    parts.count > 1 || parts[0].elements.count > (parts[0].rarest == nil ? 0 : 1)
  }
}

extension WildcardPattern.Part {
  fileprivate mutating func append(_ scalar: Unicode.Scalar, _ flags: RegexFlags) {
    let isFolded = flags.contains(.ignoreCase)
    let value = isFolded ? CaseFolding.folded(scalar.value) : scalar.value
    append(Array(String(Unicode.Scalar(value) ?? scalar).utf8))
  }
}
