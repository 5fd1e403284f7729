extension RegexParser {
  /// What a backslash introduces, outside of brackets; nil if it stands for nothing.
  mutating func escape() throws(RegexError) -> RegexNode? {
    let start = place
    advance()
    guard let letter = peek else { throw error("a backslash at the end", at: start) }
    if let item = try classItem() { return .set(ScalarSet([item])) }
    switch letter {
    case "b": return assertion(.wordEdge)
    case "B": return assertion(.noWordEdge)
    case "A": return assertion(.textStart)
    case "Z": return assertion(.textEndOrLastLineEnd)
    case "z": return assertion(.textEnd)
    case "R":
      advance()
      let pair = RegexNode.sequence([
        .scalar("\r", ignoreCase: false), .scalar("\n", ignoreCase: false),
      ])
      return .atomic(.choice([pair, .set(ScalarSet([.lineEnd]))]))
    case "Q":
      advance()
      return quoted()
    case "E":
      advance()
      return nil
    case "k":
      advance()
      guard let end: Unicode.Scalar = take("<") ? ">" : take("{") ? "}" : take("'") ? "'" : nil
      else { throw error("malformed name of a group", at: start) }
      return try reference(toName: try name(endingWith: end), at: start)
    case "1"..."9":
      guard let group = number() else { break }
      return reference(to: group, at: start)
    default: break
    }
    return literal(try escapedScalar(from: start))
  }

  private mutating func assertion(_ assertion: RegexNode.Assertion) -> RegexNode {
    advance()
    return .assertion(assertion)
  }

  private mutating func quoted() -> RegexNode {
    var parts: [RegexNode] = []
    while let next = peek, !take("\\E") {
      parts.append(literal(next))
      advance()
    }
    return .sequence(parts)
  }

  /// `\d` and its kind; nil if the escape is none of them (nothing is read then).
  mutating func classItem() throws(RegexError) -> ScalarSet.Item? {
    guard let letter = peek else { return nil }
    let item: ScalarSet.Item
    switch letter {
    case "d": item = .digit
    case "D": item = .not(.digit)
    case "w": item = .word
    case "W": item = .not(.word)
    case "s": item = .space
    case "S": item = .not(.space)
    case "h": item = .horizontalSpace
    case "H": item = .not(.horizontalSpace)
    case "v": item = .lineEnd
    case "V": item = .not(.lineEnd)
    case "N": item = .not(.range(0x0A, 0x0A))
    case "p", "P": return try property(isInverted: letter == "P")
    default: return nil
    }
    advance()
    return item
  }

  private mutating func property(isInverted: Bool) throws(RegexError) -> ScalarSet.Item {
    let start = place
    advance()
    var inverted = isInverted
    var name = String.UnicodeScalarView()
    if take("{") {
      if take("^") { inverted.toggle() }
      while let next = peek, next != "}" {
        name.append(next)
        advance()
      }
      guard take("}") else { throw error("malformed property", at: start) }
    } else if let next = peek {
      name.append(next)
      advance()
    }
    guard let property = UnicodeProperty(String(name)) else {
      throw error("unknown property \(String(name))", at: start)
    }
    return inverted ? .not(.property(property)) : .property(property)
  }

  /// The one character that an escape stands for; `place` is behind the backslash.
  mutating func escapedScalar(from start: Int) throws(RegexError) -> Unicode.Scalar {
    guard let letter = peek else { throw error("a backslash at the end", at: start) }
    advance()
    switch letter {
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "f": return "\u{0C}"
    case "a": return "\u{07}"
    case "e": return "\u{1B}"
    case "0": return try scalar(digits(most: 2, radix: 8, atLeast: 0), start)
    case "c":
      guard let control = peek, control.isASCII else { throw error("malformed escape", at: start) }
      advance()
      let upper = (0x61...0x7A).contains(control.value) ? control.value - 0x20 : control.value
      return try scalar(upper ^ 0x40, start)
    case "u": return try scalar(digits(most: 4, radix: 16, atLeast: 4), start)
    case "U": return try scalar(digits(most: 8, radix: 16, atLeast: 8), start)
    case "x":
      guard take("{") else { return try scalar(digits(most: 2, radix: 16, atLeast: 0), start) }
      let code = try digits(most: 6, radix: 16, atLeast: 1)
      guard take("}") else { throw error("malformed escape", at: start) }
      return try scalar(code, start)
    default:
      let isLetterOrDigit = ScalarSet.isWord(letter.value) && letter != "_"
      guard !isLetterOrDigit else { throw error("unknown escape", at: start) }
      return letter
    }
  }

  private mutating func digits(
    most: Int, radix: Int, atLeast: Int
  ) throws(RegexError) -> UInt32 {
    var code: UInt32 = 0
    var count = 0
    while count < most, let next = peek, let digit = Character(next).hexDigitValue, digit < radix {
      code = code &* UInt32(radix) &+ UInt32(digit)
      count += 1
      advance()
    }
    guard count >= atLeast else { throw error("malformed escape") }
    return code
  }

  private func scalar(_ code: UInt32, _ start: Int) throws(RegexError) -> Unicode.Scalar {
    guard let scalar = Unicode.Scalar(code) else { throw error("no such character", at: start) }
    return scalar
  }

  // MARK: Brackets

  /// What follows an opening bracket, up to the closing one.
  mutating func bracketSet() throws(RegexError) -> ScalarSet {
    let start = place - 1
    var set = ScalarSet(inverted: take("^"), ignoreCase: flags.contains(.ignoreCase))
    var isFirst = true
    while let next = peek, next != "]" || isFirst {
      isFirst = false
      if let item = try namedClass() {
        set.items.append(item)
        continue
      }
      if next == "\\", let item = try bracketEscape() {
        set.items.append(item)
        continue
      }
      try appendRange(to: &set)
    }
    guard take("]") else { throw error("unmatched [", at: start) }
    return set
  }

  /// A class written with a backslash; nil, with nothing read, if the escape is one character.
  private mutating func bracketEscape() throws(RegexError) -> ScalarSet.Item? {
    let start = place
    advance()
    if let item = try classItem() { return item }
    place = start
    return nil
  }

  private mutating func appendRange(to set: inout ScalarSet) throws(RegexError) {
    let start = place
    let low = try bracketScalar()
    let isRange = peek == "-" && place + 1 < text.count && text[place + 1] != "]"
    guard isRange else { return set.items.append(.range(low.value, low.value)) }
    advance()
    if peek == "\\", let item = try bracketEscape() {
      // A class cannot end a range: the hyphen stands for itself.
      set.items += [.range(low.value, low.value), .range(0x2D, 0x2D), item]
      return
    }
    let high = try bracketScalar()
    guard low.value <= high.value else { throw error("the range is in the wrong order", at: start) }
    set.items.append(.range(low.value, high.value))
  }

  private mutating func bracketScalar() throws(RegexError) -> Unicode.Scalar {
    let start = place
    guard let next = peek else { throw error("unmatched [") }
    advance()
    guard next == "\\" else { return next }
    if take("b") { return "\u{08}" }
    if let digit = peek, digit.value &- 0x30 <= 7 {
      return try scalar(digits(most: 3, radix: 8, atLeast: 1), start)
    }
    return try escapedScalar(from: start)
  }

  /// `[:alpha:]` and its kind; nil if it is not one.
  private mutating func namedClass() throws(RegexError) -> ScalarSet.Item? {
    let start = place
    guard take("[:") else { return nil }
    let isInverted = take("^")
    var name = ""
    while let next = peek, next.value &- 0x61 < 26 {
      name.unicodeScalars.append(next)
      advance()
    }
    guard take(":]") else {
      place = start
      return nil
    }
    guard let items = RegexParser.namedClasses[name] else {
      throw error("unknown class \(name)", at: start)
    }
    return isInverted ? .not(.set(ScalarSet(items))) : .set(ScalarSet(items))
  }

  private static let namedClasses: [String: [ScalarSet.Item]] = [
    "alpha": [.range(0x41, 0x5A), .range(0x61, 0x7A)], "digit": [.digit], "word": [.word],
    "alnum": [.range(0x41, 0x5A), .range(0x61, 0x7A), .digit], "upper": [.range(0x41, 0x5A)],
    "lower": [.range(0x61, 0x7A)], "space": [.space], "blank": [.range(0x20, 0x20), .range(9, 9)],
    "punct": [.range(0x21, 0x2F), .range(0x3A, 0x40), .range(0x5B, 0x60), .range(0x7B, 0x7E)],
    "xdigit": [.digit, .range(0x41, 0x46), .range(0x61, 0x66)], "ascii": [.range(0, 0x7F)],
    "cntrl": [.range(0, 0x1F), .range(0x7F, 0x7F)], "graph": [.range(0x21, 0x7E)],
    "print": [.range(0x20, 0x7E)],
  ]
}
