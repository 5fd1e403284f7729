/// Reads the statements of a reduce function. Every method gives nil or false, with the offset unspecified, for
/// what it does not know.
struct ReduceParser {
  /// Deeper parentheses are refused: the parser calls itself.
  private static let maximumDepth = 50

  private let tokens: [JavaScriptToken]
  private var offset = 0
  private var depth = 0
  private var document: [UInt8] = []
  private var group: [UInt8] = []
  /// Variables that stand for a member of the group: `var count = (out.c == undefined) ? 0 : out.c`.
  private var variables: [[UInt8]: [UInt8]] = [:]
  /// The field whose being a number the statements depend on.
  private var condition: [UInt8]?

  init(_ tokens: [JavaScriptToken]) { self.tokens = tokens }

  /// `function(doc, out) { … }`, to the end.
  mutating func function() -> [ReduceStatement]? {
    guard consume(.name("function")), consume("("), let document = name(), consume(","),
      let group = name(),
      consume(")"), consume("{"), document != group
    else { return nil }
    (self.document, self.group) = (document, group)
    var statements: [ReduceStatement] = []
    guard block(&statements) else { return nil }
    while consume(";") {}
    return offset == tokens.count ? statements : nil
  }

  // MARK: Statements

  /// Reads a block after its `{`, with its `}`.
  private mutating func block(_ statements: inout [ReduceStatement]) -> Bool {
    while !consume("}") {
      if consume(";") { continue }
      if consume(.name("return")) { return result() }
      if consume(.name("if")) {
        // Conditions do not stand inside of each other.
        guard condition == nil, let field = isNumber() else { return false }
        condition = field
        defer { condition = nil }
        guard consume("{") ? block(&statements) : simple(&statements) else { return false }
        continue
      }
      guard consume(.name("var")) ? variable() : simple(&statements), consume(";") || isNext("}")
      else { return false }
    }
    return true
  }

  /// Reads what follows `return`: the group itself, at the end of the function.
  private mutating func result() -> Bool {
    guard condition == nil, consume(.name(group)) else { return false }
    while consume(";") {}
    return consume("}")
  }

  /// Reads one statement without a block. Under a condition it may look at nothing but what that is about.
  private mutating func simple(_ statements: inout [ReduceStatement]) -> Bool {
    guard let expression = statement(),
      let steps = ReduceStatement.steps(of: expression, condition: condition)
    else { return false }
    for step in steps {
      if let condition, let field = step.field, field != condition { return false }
      // What stood for the member stands for what it was before.
      variables = variables.filter { $0.value != step.target }
    }
    statements += steps
    return true
  }

  /// Reads the condition of `if`: `(doc.a != null && typeof doc.a.b === "number")`. Returns `a.b`.
  private mutating func isNumber() -> [UInt8]? {
    guard consume("(") else { return nil }
    var parents: [[UInt8]] = []
    while !consume(.name("typeof")) {
      guard let parent = path(of: document), consume("!="), consume(.name("null")), consume("&&")
      else {
        return nil
      }
      parents.append(parent)
    }
    guard let field = path(of: document), consume("===") || consume("=="),
      consume(.text(Array("number".utf8))), consume(")"),
      parents.allSatisfy({ field.starts(with: $0 + [UInt8(ascii: ".")]) })
    else { return nil }
    return field
  }

  /// Reads what follows `var`.
  private mutating func variable() -> Bool {
    guard let variable = name(), consume("=") else { return false }
    let hasParentheses = consume("(")
    guard let member = member(), consume("==") || consume("==="), consume(.name("undefined"))
    else { return false }
    if hasParentheses, !consume(")") { return false }
    guard consume("?"), consume(.number(0)), consume(":"), self.member() == member else {
      return false
    }
    variables[variable] = member
    return true
  }

  private mutating func statement() -> JavaScriptExpression? {
    let expression = expression()
    guard consume("++") else { return expression }
    guard case .member(let name)? = expression else { return nil }
    return .assignment(name, .sum(.member(name), .number(1)))
  }

  // MARK: Expressions

  private mutating func expression() -> JavaScriptExpression? {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.maximumDepth else { return nil }
    let start = offset
    if let target = member() {
      if consume("=") { return expression().map { .assignment(target, $0) } }
      if consume("+=") {
        return expression().map { .assignment(target, .sum(.member(target), $0)) }
      }
    }
    offset = start
    return sum()
  }

  private mutating func sum() -> JavaScriptExpression? {
    guard var left = product() else { return nil }
    while consume("+") {
      guard let right = product() else { return nil }
      left = .sum(left, right)
    }
    return left
  }

  private mutating func product() -> JavaScriptExpression? {
    guard var left = operand() else { return nil }
    while true {
      if consume("*") {
        guard let right = operand() else { return nil }
        left = .product(left, right)
      } else if consume("/") {
        guard let right = operand() else { return nil }
        left = .quotient(left, right)
      } else {
        return left
      }
    }
  }

  private mutating func operand() -> JavaScriptExpression? {
    if consume("(") {
      guard let inner = expression(), consume(")") else { return nil }
      return inner
    }
    if consume("++") { return member().map { .assignment($0, .sum(.member($0), .number(1))) } }
    if consume(.name("Math")) { return extreme() }
    if case .number(let value)? = next {
      offset += 1
      return .number(value)
    }
    if let member = member() { return .member(member) }
    if case .name(let name)? = next, let member = variables[name] {
      offset += 1
      return .member(member)
    }
    return path(of: document).map { .field($0) }
  }

  /// Reads what follows `Math`. One release of the Android SDK calls the functions by names that a tool gave them.
  private mutating func extreme() -> JavaScriptExpression? {
    guard consume("."), let function = name() else { return nil }
    let isMinimum = function.starts(with: "min".utf8)
    let isKnown = ["min", "max", "minBlocking", "maxBlocking"].contains {
      function == Array($0.utf8)
    }
    guard isKnown, consume("("), let left = expression(), consume(","), let right = expression(),
      consume(")")
    else { return nil }
    return .extreme(left, right, isMinimum: isMinimum)
  }

  // MARK: Names

  /// `out.a` or `out["a"]`.
  private mutating func member() -> [UInt8]? {
    let start = offset
    if let path = path(of: group), !path.contains(UInt8(ascii: ".")) { return path }
    offset = start
    return nil
  }

  /// Reads the path after an object: `.a.b` or `["a.b"]`.
  private mutating func path(of object: [UInt8]) -> [UInt8]? {
    guard consume(.name(object)) else { return nil }
    var parts: [[UInt8]] = []
    while true {
      if consume(".") {
        guard let name = name() else { return nil }
        parts.append(name)
      } else if consume("[") {
        guard case .text(let text)? = next, !text.isEmpty else { return nil }
        offset += 1
        guard consume("]") else { return nil }
        parts.append(text)
      } else {
        return parts.isEmpty ? nil : Array(parts.joined(separator: [UInt8(ascii: ".")]))
      }
    }
  }

  private mutating func name() -> [UInt8]? {
    guard case .name(let name)? = next else { return nil }
    offset += 1
    return name
  }

  private var next: JavaScriptToken? { offset < tokens.count ? tokens[offset] : nil }

  private func isNext(_ mark: String) -> Bool { next == .mark(mark) }

  private mutating func consume(_ mark: String) -> Bool { consume(.mark(mark)) }

  private mutating func consume(_ token: JavaScriptToken) -> Bool {
    guard next == token else { return false }
    offset += 1
    return true
  }
}
