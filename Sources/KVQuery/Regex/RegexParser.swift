/// Reads the syntax that PCRE and ICU have in common.
struct RegexParser {
  private static let maximumDepth = 100
  private static let maximumCount = 1000
  /// How many quantifiers one atom may have, as in `a{2}{3}`.
  private static let maximumQuantifiers = 5

  var text: [Unicode.Scalar]
  var place = 0
  var flags: RegexFlags
  private var depth = 0
  private(set) var groups = 0
  private var names: [String: Int] = [:]
  /// The highest group that a back-reference names, and where.
  private var referred: (group: Int, place: Int) = (0, 0)

  init(_ source: String, _ flags: RegexFlags) {
    text = Array(source.unicodeScalars)
    self.flags = flags
  }

  /// The whole expression.
  mutating func parse() throws(RegexError) -> RegexNode {
    let node = try choice()
    guard place == text.count else { throw error("unmatched )") }
    guard referred.group <= groups else {
      throw RegexError(
        message: "reference to a group that does not exist", position: referred.place)
    }
    return node
  }

  // MARK: Structure

  private mutating func choice() throws(RegexError) -> RegexNode {
    depth += 1
    defer { depth -= 1 }
    guard depth <= RegexParser.maximumDepth else { throw error("nested too deeply") }
    let outer = flags
    defer { flags = outer }
    var branches = [try sequence()]
    while take("|") { branches.append(try sequence()) }
    return branches.count == 1 ? branches[0] : .choice(branches)
  }

  private mutating func sequence() throws(RegexError) -> RegexNode {
    var parts: [RegexNode] = []
    while true {
      skipComments()
      guard let next = peek, next != "|", next != ")" else { break }
      guard let atom = try atom() else { continue }
      parts.append(try quantified(atom))
    }
    return parts.count == 1 ? parts[0] : parts.isEmpty ? .empty : .sequence(parts)
  }

  private mutating func skipComments() {
    guard flags.contains(.extended) else { return }
    while let next = peek {
      if next == "#" {
        while let comment = peek, comment != "\n" { _ = (comment, advance()) }
      } else if next.properties.isWhitespace {
        advance()
      } else {
        return
      }
    }
  }

  private mutating func quantified(_ atom: RegexNode) throws(RegexError) -> RegexNode {
    var node = atom
    var count = 0
    while true {
      skipComments()
      let start = place
      guard let (low, high) = try bounds() else { return node }
      count += 1
      guard count <= RegexParser.maximumQuantifiers else {
        throw error("repeated too often", at: start)
      }
      if case .assertion = node { throw error("nothing to repeat", at: start) }
      let greed: RegexNode.Greed = take("?") ? .lazy : take("+") ? .possessive : .greedy
      node = .repeated(node, from: low, upTo: high, greed)
    }
  }

  private mutating func bounds() throws(RegexError) -> (Int, Int?)? {
    if take("*") { return (0, nil) }
    if take("+") { return (1, nil) }
    if take("?") { return (0, 1) }
    guard peek == "{" else { return nil }
    let start = place
    advance()
    guard let low = number() else {
      place = start
      return nil
    }
    var high: Int? = low
    if take(",") { high = number() }
    guard take("}") else {
      place = start
      return nil
    }
    guard low <= RegexParser.maximumCount, (high ?? 0) <= RegexParser.maximumCount else {
      throw error("repeated too often", at: start)
    }
    if let high, high < low { throw error("the bounds are in the wrong order", at: start) }
    return (low, high)
  }

  // MARK: Atoms

  /// One atom; nil if what was read stands for nothing (a comment, a switch of flags).
  private mutating func atom() throws(RegexError) -> RegexNode? {
    guard let next = peek else { return nil }
    switch next {
    case "(": return try group()
    case "[":
      advance()
      return .set(try bracketSet())
    case "\\": return try escape()
    case ".":
      advance()
      return .set(flags.contains(.dotAll) ? .all : .noLineFeed)
    case "^":
      advance()
      return .assertion(flags.contains(.multiline) ? .lineStart : .textStart)
    case "$":
      advance()
      return .assertion(flags.contains(.multiline) ? .lineEnd : .textEndOrLastLineEnd)
    case "*", "+", "?": throw error("nothing to repeat")
    case "{" where (try? lookAheadForBounds()) == true: throw error("nothing to repeat")
    default:
      advance()
      return literal(next)
    }
  }

  private func lookAheadForBounds() throws(RegexError) -> Bool {
    var copy = self
    return try copy.bounds() != nil
  }

  func literal(_ scalar: Unicode.Scalar) -> RegexNode {
    .scalar(scalar, ignoreCase: flags.contains(.ignoreCase))
  }

  private mutating func group() throws(RegexError) -> RegexNode? {
    let start = place
    advance()
    guard take("?") else { return try capture(nil, from: start) }
    if take("#") {
      while let next = peek, next != ")" { _ = (next, advance()) }
      guard take(")") else { throw error("unmatched (", at: start) }
      return nil
    }
    if take(":") { return try close(choice(), from: start) }
    if take(">") { return .atomic(try close(choice(), from: start)) }
    if take("=") { return .look(try close(choice(), from: start), ahead: true, negative: false) }
    if take("!") { return .look(try close(choice(), from: start), ahead: true, negative: true) }
    if take("<=") { return .look(try close(choice(), from: start), ahead: false, negative: false) }
    if take("<!") { return .look(try close(choice(), from: start), ahead: false, negative: true) }
    if take("P<") || take("<") { return try capture(try name(endingWith: ">"), from: start) }
    if take("'") { return try capture(try name(endingWith: "'"), from: start) }
    return try switched(from: start)
  }

  private mutating func capture(_ name: String?, from start: Int) throws(RegexError) -> RegexNode {
    groups += 1
    let number = groups
    if let name {
      guard names[name] == nil else { throw error("two groups of one name", at: start) }
      names[name] = number
    }
    return .capture(number, try close(choice(), from: start))
  }

  private mutating func close(
    _ node: RegexNode, from start: Int
  ) throws(RegexError) -> RegexNode {
    guard take(")") else { throw error("unmatched (", at: start) }
    return node
  }

  /// `(?i)`, `(?i-m)`, `(?i:…)`.
  private mutating func switched(from start: Int) throws(RegexError) -> RegexNode? {
    var switched = flags
    var isOn = true
    while let next = peek, next != ")", next != ":" {
      if next == "-" {
        isOn = false
      } else if let flag = RegexFlags(letter: next) {
        if isOn { switched.formUnion(flag) } else { switched.subtract(flag) }
      } else {
        throw error("unknown kind of group", at: start)
      }
      advance()
    }
    if take(")") {
      flags = switched
      return nil
    }
    guard take(":") else { throw error("unmatched (", at: start) }
    let outer = flags
    flags = switched
    defer { flags = outer }
    return try close(choice(), from: start)
  }

  mutating func name(endingWith end: Unicode.Scalar) throws(RegexError) -> String {
    let start = place
    var name = String.UnicodeScalarView()
    while let next = peek, next != end {
      guard ScalarSet.isWord(next.value) else {
        throw error("malformed name of a group", at: start)
      }
      name.append(next)
      advance()
    }
    guard take(end), !name.isEmpty else { throw error("malformed name of a group", at: start) }
    return String(name)
  }

  mutating func reference(to group: Int, at start: Int) -> RegexNode {
    if group > referred.group { referred = (group, start) }
    return .backreference(group, ignoreCase: flags.contains(.ignoreCase))
  }

  mutating func reference(toName name: String, at start: Int) throws(RegexError) -> RegexNode {
    guard let group = names[name] else { throw error("unknown group \(name)", at: start) }
    return reference(to: group, at: start)
  }

  // MARK: Small steps

  var peek: Unicode.Scalar? { place < text.count ? text[place] : nil }

  mutating func advance() { place += 1 }

  mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard peek == scalar else { return false }
    advance()
    return true
  }

  mutating func take(_ word: String) -> Bool {
    let scalars = Array(word.unicodeScalars)
    guard text.dropFirst(place).starts(with: scalars) else { return false }
    place += scalars.count
    return true
  }

  mutating func number() -> Int? {
    var value: Int?
    while let digit = peek, digit.value &- 0x30 <= 9 {
      value = min((value ?? 0) * 10 + Int(digit.value - 0x30), 1_000_000)
      advance()
    }
    return value
  }

  func error(_ message: String, at position: Int? = nil) -> RegexError {
    RegexError(message: message, position: position ?? place)
  }
}
