internal import KVBase
internal import KVJSON

extension FormatParser {
  // MARK: Arithmetic

  mutating func sum() throws(QueryError) -> Node {
    try leftward(["+": .add, "-": .subtract]) { parser throws(QueryError) in try parser.product() }
  }

  private mutating func product() throws(QueryError) -> Node {
    try leftward(["*": .multiply, "/": .divide]) { parser throws(QueryError) in
      try parser.power()
    }
  }

  private mutating func power() throws(QueryError) -> Node {
    try leftward(["**": .power]) { parser throws(QueryError) in try parser.signed() }
  }

  /// Operators of one strength, from left to right.
  private mutating func leftward(
    _ functions: [String: Expression.Function],
    _ part: (inout FormatParser) throws(QueryError) -> Node
  ) throws(QueryError) -> Node {
    let at = start
    var node = try part(&self)
    while case .symbol(let symbol) = token, let function = functions[symbol] {
      try countStep()
      try advance()
      let rightAt = start
      let right = try expression(try part(&self), rightAt)
      node = .expression(.function(function, [try expression(node, at), right]))
    }
    return node
  }

  private mutating func signed() throws(QueryError) -> Node {
    var isNegative = false
    while isNext("-") {
      isNegative.toggle()
      try advance()
    }
    let at = start
    let node = try postfixed()
    return isNegative ? .expression(.function(.negate, [try expression(node, at)])) : node
  }

  // MARK: Operands

  mutating func operand() throws(QueryError) -> Node {
    switch token {
    case .number(let value):
      try advance()
      return .expression(.constant(value))
    case .string(let text):
      try advance()
      return .expression(.constant(.string(text)))
    case .argument("K"): return .expression(try keyPathArgument(of: .current))
    case .argument(let letter):
      let value = try arguments.next(for: letter, at: start)
      try advance()
      return .expression(.constant(value))
    case .variable(let name): return .expression(try variable(name))
    case .word(let name, true):
      try advance()
      return .expression(.member(.current, RecordID(name)))
    case .word(let name, false): return try word(name)
    case .symbol("("): return try parenthesized()
    case .symbol("{"): return .expression(try list())
    case .symbol("@"):
      try advance()
      return .expression(try collectionOperator(over: .current))
    case .symbol, .end: throw expected("a key, a value or a parenthesis")
    }
  }

  private mutating func parenthesized() throws(QueryError) -> Node {
    try expect("(")
    let node = try disjunction()
    try expect(")")
    return node
  }

  private mutating func list() throws(QueryError) -> Expression {
    try expect("{")
    var elements: [Expression] = []
    while !isNext("}") {
      if !elements.isEmpty { try expect(",") }
      let at = start
      elements.append(try expression(try disjunction(), at))
    }
    try expect("}")
    return .list(elements)
  }

  private mutating func variable(_ name: String) throws(QueryError) -> Expression {
    if bound.contains(RecordID(name)) {
      try advance()
      return .variable(RecordID(name))
    }
    guard let value = arguments.variable(name) else {
      throw QueryError(.syntax, "the variable $\(name) has no value", at: start)
    }
    try advance()
    return .constant(value)
  }

  private mutating func word(_ name: String) throws(QueryError) -> Node {
    let position = start
    let upper = name.uppercased()
    try advance()
    switch upper {
    case "TRUEPREDICATE": return .predicate(.everything)
    case "FALSEPREDICATE": return .predicate(.nothing)
    case "TRUE", "YES": return .expression(.constant(.bool(true)))
    case "FALSE", "NO": return .expression(.constant(.bool(false)))
    case "NIL", "NULL": return .expression(.constant(.null))
    case "SELF": return .expression(.current)
    case "FILTER" where isNext("("): return .predicate(try filter())
    case "SUBQUERY" where isNext("("): return .expression(try subquery())
    case "TERNARY" where isNext("("): return .expression(try ternary())
    case "CAST" where isNext("("): return .expression(try cast())
    case "NOW" where isNext("("): return .expression(try moment())
    case "RANDOM" where isNext("("), "RANDOMN" where isNext("("):
      throw QueryError(
        .syntax, "\(name) has a different value each time: use an argument instead",
        at: position)
    default: break
    }
    if isNext("("), let function = FormatParser.functions[name.lowercased()] {
      return .expression(try call(function))
    }
    guard !FormatParser.reserved.contains(upper) else {
      throw QueryError(
        .syntax, "\(name) is a reserved word; write #\(name) for a key", at: position)
    }
    guard !isNext("(") else { throw QueryError(.syntax, "unknown function \(name)", at: position) }
    return .expression(.member(.current, RecordID(keys.name(name, in: nil))))
  }

  private static let reserved: Set<String> = [
    "AND", "OR", "IN", "NOT", "ALL", "ANY", "SOME", "NONE", "LIKE", "CASEINSENSITIVE", "CI",
    "MATCHES",
    "CONTAINS", "BEGINSWITH", "ENDSWITH", "BETWEEN", "ANYKEY", "SUBQUERY", "CAST", "TERNARY",
    "FIRST", "LAST", "SIZE", "FETCH",
  ]
}
