internal import KVBase
internal import KVJSON

/// Reads predicate formats: Apple's published syntax.
///
/// Operators bind, from the loosest: OR, AND, NOT, comparisons, `+ -`, `* /`, `**`, unary minus. A
/// parenthesis may hold a predicate or an expression; which one shows only after it, so both are read by
/// the same functions, as nodes, and told apart where they are used. Nothing is ever read twice.
struct FormatParser {
  /// The result of parsing a part of a format.
  enum Node {
    case predicate(Predicate)
    case expression(Expression)
  }

  /// The largest number of parentheses, lists and calls in one another. The ranks of operators share a loop, so that a
  /// level takes few calls, and what does not lead to the next level is kept out of them (`@inline(never)`): 440 KB of
  /// stack are enough for all.
  static let maximumDepth = 100
  /// The largest number of names in a path.
  static let maximumPathLength = 100

  private var lexer: FormatLexer
  var arguments: FormatArguments
  let keys: KeyMap
  let now: Timestamp
  /// Whether comparisons become MongoDB's tests wherever there are some for them.
  private let lowers: Bool
  /// The names that `SUBQUERY`s around here have bound.
  var bound: [RecordID] = []
  private(set) var token: FormatLexer.Token
  private(set) var start: Int
  /// The number of levels around what is read; the format itself is none.
  private var depth = -1
  /// Operators and path steps of this comparison and those it is a part of: each may make the tree one level deeper.
  private var steps = 0
  private static let maxSteps = 1000

  init(
    _ text: String, _ arguments: FormatArguments, keys: KeyMap, now: Timestamp = .now(),
    lowering: Bool = true
  ) throws(QueryError) {
    lowers = lowering
    self.now = now
    lexer = FormatLexer(text)
    self.arguments = arguments
    self.keys = keys
    (token, start) = try lexer.next()
  }

  /// The predicate of a whole format.
  mutating func parse() throws(QueryError) -> Predicate {
    let predicate = try predicate()
    guard token == .end else { throw expected("AND, OR or the end") }
    guard arguments.unused == 0 else {
      throw QueryError(.syntax, "more arguments than the format uses", at: start)
    }
    return predicate
  }

  // MARK: Logic

  mutating func predicate() throws(QueryError) -> Predicate {
    let node = try disjunction()
    return try predicate(node)
  }

  @inline(never)
  private func predicate(_ node: Node) throws(QueryError) -> Predicate {
    guard case .predicate(let predicate) = node else { throw expected("a comparison operator") }
    return predicate
  }

  /// Parts joined by OR, each of which may be parts joined by AND. A single part stays what it is.
  mutating func disjunction() throws(QueryError) -> Node {
    depth += 1
    defer { depth -= 1 }
    guard depth <= FormatParser.maximumDepth else { throw tooDeep() }
    var parts: [[Predicate]] = [[]]
    var node = try negation()
    while let isOr = logicalOperator() {
      try append(node, to: &parts)
      if isOr { parts.append([]) }
      try advance()
      node = try negation()
    }
    guard parts.count > 1 || !parts[0].isEmpty else { return node }
    try append(node, to: &parts)
    return .predicate(Self.joined(parts))
  }

  /// Whether OR comes next, or AND (false); nil: neither.
  @inline(never)
  private func logicalOperator() -> Bool? {
    if isNext("OR") || isNext("||") { return true }
    return isNext("AND") || isNext("&&") ? false : nil
  }

  @inline(never)
  private func append(_ node: Node, to parts: inout [[Predicate]]) throws(QueryError) {
    parts[parts.count - 1].append(try predicate(node))
  }

  /// The alternatives of which at least one is to hold, each with the parts that are to hold together.
  @inline(never)
  private static func joined(_ parts: [[Predicate]]) -> Predicate {
    let alternatives = parts.map { $0.count == 1 ? $0[0] : Predicate.all($0) }
    return alternatives.count == 1 ? alternatives[0] : .any(alternatives)
  }

  private mutating func negation() throws(QueryError) -> Node {
    var isNegated = false
    var count = 0
    while isNext("NOT") || isNext("!") {
      isNegated.toggle()
      count += 1
      try advance()
    }
    let node = try comparison()
    guard count > 0 else { return node }
    let predicate = try predicate(node)
    return .predicate(isNegated ? predicate.formatNegated : predicate)
  }

  // MARK: Comparisons

  private mutating func comparison() throws(QueryError) -> Node {
    let outer = steps
    defer { steps = outer }
    let quantifier = try quantifier()
    let at = start
    let left = try arithmetic()
    guard let operation = try comparisonOperator() else {
      guard quantifier == nil else { throw expected("a comparison operator") }
      return left
    }
    let leftSide = try expression(left, at)
    let options = try options(of: operation)
    let rightAt = start
    let rightSide = try expression(try arithmetic(), rightAt)
    return .predicate(
      try built(
        leftSide, operation, right: rightSide, at: rightAt, options: options, quantifier: quantifier
      ))
  }

  /// The predicate of a comparison; `position` is where its right side begins.
  @inline(never)
  private func built(
    _ left: Expression, _ operation: Comparison.Operator, right: Expression, at position: Int,
    options: Comparison.Options, quantifier: (quantifier: Comparison.Quantifier, isNegated: Bool)?
  ) throws(QueryError) -> Predicate {
    try check(right, of: operation, at: position)
    let built: Predicate
    do throws(RegexError) {
      built =
        try lowers
        ? Lowering.comparison(
          left, operation, right: right, options: options, quantifier: quantifier?.quantifier)
        : .comparison(
          Comparison(
            left, operation, right: right.folded, options: options,
            quantifier: quantifier?.quantifier))
    } catch {
      if error.isNoMemory { throw QueryError.noMemory }
      throw QueryError(
        .syntax, "\(error.message), at character \(error.position) of the expression", at: position)
    }
    // Printed, one comparison may be several in parentheses; those must be readable as well.
    guard depth + built.groupDepth <= FormatParser.maximumDepth else { throw tooDeep() }
    return quantifier?.isNegated == true ? built.formatNegated : built
  }

  private mutating func quantifier() throws(QueryError) -> (
    quantifier: Comparison.Quantifier, isNegated: Bool
  )? {
    let found: (Comparison.Quantifier, Bool)
    if isNext("ANY") || isNext("SOME") {
      found = (.any, false)
    } else if isNext("ALL") {
      found = (.all, false)
    } else if isNext("NONE") {
      found = (.any, true)
    } else {
      return nil
    }
    try advance()
    return found
  }

  private static let symbols: [String: Comparison.Operator] = [
    "=": .equal, "==": .equal, "!=": .notEqual, "<>": .notEqual, "<": .less, "<=": .lessOrEqual,
    "=<": .lessOrEqual, ">": .greater, ">=": .greaterOrEqual, "=>": .greaterOrEqual,
  ]

  private mutating func comparisonOperator() throws(QueryError) -> Comparison.Operator? {
    let found: Comparison.Operator?
    switch token {
    case .symbol(let symbol): found = FormatParser.symbols[symbol]
    case .word(let word, false): found = Comparison.Operator(rawValue: word.uppercased())
    default: found = nil
    }
    if found != nil { try advance() }
    return found
  }

  /// Refuses a constant that nothing can be compared with in this way.
  private func check(
    _ right: Expression, of operation: Comparison.Operator, at position: Int
  ) throws(QueryError) {
    let isFitting: Bool
    let wanted: String
    switch operation {
    case .between:
      wanted = "two bounds: {low, high}"
      if case .list(let bounds) = right {
        isFitting = bounds.count == 2
      } else {
        isFitting = right.constant.map { $0.arrayValue?.count == 2 } ?? true
      }
    case .beginsWith, .endsWith, .like, .matches:
      wanted = "a text"
      isFitting = right.constant.map { $0.stringValue != nil || $0.isNull } ?? true
    default: return
    }
    guard isFitting else { throw QueryError(.syntax, "expected \(wanted)", at: position) }
  }

  /// `[c]`, `[d]`, `[cd]`; `[n]` and `[l]` change nothing here: texts are always compared by code point.
  private mutating func options(
    of operation: Comparison.Operator
  ) throws(QueryError) -> Comparison.Options {
    guard isNext("[") else { return [] }
    guard operation != .between else { throw expected("two bounds: BETWEEN has no options") }
    try advance()
    guard case .word(let letters, _) = token, letters.allSatisfy({ "cdnlCDNL".contains($0) }),
      Set(letters.lowercased()).count == letters.count
    else {
      throw expected("c, d or cd")
    }
    try advance()
    try expect("]")
    var options: Comparison.Options = []
    if letters.lowercased().contains("c") { options.insert(.ignoreCase) }
    if letters.lowercased().contains("d") { options.insert(.ignoreMarks) }
    return options
  }

  // MARK: Small steps

  func expression(_ node: Node, _ position: Int) throws(QueryError) -> Expression {
    guard case .expression(let expression) = node else {
      throw QueryError(.syntax, "expected an expression, found a predicate", at: position)
    }
    return expression
  }

  mutating func countStep() throws(QueryError) {
    steps += 1
    guard steps <= FormatParser.maxSteps else { throw expected("a shorter format") }
  }

  mutating func advance() throws(QueryError) { (token, start) = try lexer.next() }

  /// Whether the next token is this symbol or this word, in any case.
  @inline(never)
  func isNext(_ text: String) -> Bool {
    switch token {
    case .symbol(let symbol): symbol == text
    case .word(let word, false): word.utf8.count == text.utf8.count && word.uppercased() == text
    default: false
    }
  }

  mutating func expect(_ symbol: String) throws(QueryError) {
    guard isNext(symbol) else { throw expected(symbol) }
    try advance()
  }

  private func tooDeep() -> QueryError {
    QueryError(
      .syntax, "the format is nested too deeply: the limit is \(Self.maximumDepth) levels",
      at: start)
  }

  func expected(_ what: String) -> QueryError { QueryError(.syntax, "expected \(what)", at: start) }
}

extension Predicate {
  /// The number of levels of parentheses that it needs as a part of another expression.
  fileprivate var groupDepth: Int {
    switch self {
    case .and(let parts), .or(let parts), .nor(let parts):
      1 + (parts.map(\.groupDepth).max() ?? 0)
    case .everything, .nothing, .field, .text, .comparison: 0
    }
  }
}
