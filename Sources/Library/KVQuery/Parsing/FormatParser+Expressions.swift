internal import KVBase
internal import KVJSON

extension FormatParser {
  // MARK: Arithmetic

  private static let ranked: [String: (function: Expression.Function, rank: Int)] = [
    "+": (.add, 0), "-": (.subtract, 0), "*": (.multiply, 1), "/": (.divide, 1), "**": (.power, 2),
  ]

  /// Operands and operators. Those of one rank are joined from left to right, those of a higher rank first.
  mutating func arithmetic() throws(QueryError) -> Node {
    var operands: [Expression] = []
    var waiting: [(function: Expression.Function, rank: Int)] = []
    var at = start
    var node = try signed()
    while case .symbol(let symbol) = token, let found = Self.ranked[symbol] {
      try countStep()
      operands.append(try expression(node, at))
      Self.join(&operands, &waiting, from: found.rank)
      waiting.append(found)
      try advance()
      at = start
      node = try signed()
    }
    guard !waiting.isEmpty else { return node }
    operands.append(try expression(node, at))
    Self.join(&operands, &waiting, from: 0)
    return .expression(operands[0])
  }

  /// Joins the last operands as long as the operator between them has this rank or a higher one.
  private static func join(
    _ operands: inout [Expression],
    _ waiting: inout [(function: Expression.Function, rank: Int)], from rank: Int
  ) {
    while let last = waiting.last, last.rank >= rank, let right = operands.popLast(),
      let left = operands.popLast()
    {
      waiting.removeLast()
      operands.append(.function(last.function, [left, right]))
    }
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
    if let constant = Self.constant(upper) { return constant }
    guard isNext("(") else { return .expression(try key(name, at: position)) }
    switch upper {
    case "FILTER": return .predicate(try filter())
    case "SUBQUERY": return .expression(try subquery())
    case "TERNARY": return .expression(try ternary())
    case "CAST": return .expression(try cast())
    case "NOW": return .expression(try moment())
    default: return .expression(try call(try function(name, at: position)))
    }
  }

  /// What a word that is a value stands for; nil if it is not one. `word` is in upper case.
  @inline(never)
  private static func constant(_ word: String) -> Node? {
    switch word {
    case "TRUEPREDICATE": .predicate(.everything)
    case "FALSEPREDICATE": .predicate(.nothing)
    case "TRUE", "YES": .expression(.constant(.bool(true)))
    case "FALSE", "NO": .expression(.constant(.bool(false)))
    case "NIL", "NULL": .expression(.constant(.null))
    case "SELF": .expression(.current)
    default: nil
    }
  }

  @inline(never)
  private func key(_ name: String, at position: Int) throws(QueryError) -> Expression {
    try refuseReserved(name, at: position)
    return .member(.current, RecordID(keys.name(name, in: nil)))
  }

  @inline(never)
  private func function(
    _ name: String, at position: Int
  ) throws(QueryError) -> Expression.Function {
    if let function = FormatParser.functions[name.lowercased()] { return function }
    guard name.uppercased() != "RANDOM", name.uppercased() != "RANDOMN" else {
      throw QueryError(
        .syntax, "\(name) has a different value each time: use an argument instead", at: position)
    }
    try refuseReserved(name, at: position)
    throw QueryError(.syntax, "unknown function \(name)", at: position)
  }

  private func refuseReserved(_ name: String, at position: Int) throws(QueryError) {
    guard !FormatParser.reserved.contains(name.uppercased()) else {
      throw QueryError(
        .syntax, "\(name) is a reserved word; write #\(name) for a key", at: position)
    }
  }

  private static let reserved: Set<String> = [
    "AND", "OR", "IN", "NOT", "ALL", "ANY", "SOME", "NONE", "LIKE", "CASEINSENSITIVE", "CI",
    "MATCHES",
    "CONTAINS", "BEGINSWITH", "ENDSWITH", "BETWEEN", "ANYKEY", "SUBQUERY", "CAST", "TERNARY",
    "FIRST", "LAST", "SIZE", "FETCH",
  ]
}
