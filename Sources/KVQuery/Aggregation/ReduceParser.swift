/// A piece of JavaScript, as far as reduce functions need it.
enum JavaScriptToken: Equatable {
  case name(String)
  case number(String)
  case text(String)
  /// One or two characters: `++`, `+=`, `==`, …
  case mark(String)

  /// nil for what these functions never contain: escapes in texts, other characters.
  static func read(_ source: String) -> [JavaScriptToken]? {
    guard source.utf8.count <= 10_000 else { return nil }
    var tokens: [JavaScriptToken] = []
    var rest = source[...]
    while let first = rest.first {
      if first.isWhitespace {
        rest.removeFirst()
      } else if first.isLetter || first == "_" || first == "$" {
        let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "$" }
        tokens.append(.name(String(word)))
        rest = rest.dropFirst(word.count)
      } else if first.isNumber {
        let digits = rest.prefix { $0.isNumber || $0 == "." }
        tokens.append(.number(String(digits)))
        rest = rest.dropFirst(digits.count)
      } else if first == "\"" || first == "'" {
        let inner = rest.dropFirst().prefix { $0 != first }
        guard inner.endIndex < rest.endIndex, !inner.contains("\\") else { return nil }
        tokens.append(.text(String(inner)))
        rest = rest[rest.index(after: inner.endIndex)...]
      } else if let double = ["++", "+=", "==="].first(where: rest.hasPrefix) {
        tokens.append(.mark(double))
        rest = rest.dropFirst(double.count)
      } else if let double = ["==", "!=", "&&"].first(where: rest.hasPrefix) {
        tokens.append(.mark(double))
        rest = rest.dropFirst(double.count)
      } else if "(){}[];,.=+*/?:".contains(first) {
        tokens.append(.mark(String(first)))
        rest.removeFirst()
      } else {
        return nil
      }
    }
    return tokens
  }
}

/// Reads the statements of a reduce function. Every method gives nil, with the place unspecified, for
/// what it does not know.
struct ReduceParser {
  private let tokens: [JavaScriptToken]
  private var place = 0
  private var document = ""
  private var group = ""
  /// Variables that stand for a member of the group: `var count = (out.c == undefined) ? 0 : out.c`.
  private var variables: [String: String] = [:]
  /// The field whose being a number the statements depend on.
  private var condition: String?

  init(_ tokens: [JavaScriptToken]) { self.tokens = tokens }

  /// `function(doc, out) { … }`, to the end.
  mutating func function() -> [ReduceStatement]? {
    guard take(.name("function")), take(.mark("(")), let document = name(), take(.mark(",")),
      let group = name(), take(.mark(")")), take(.mark("{")), document != group
    else { return nil }
    (self.document, self.group) = (document, group)
    var statements: [ReduceStatement] = []
    guard block(&statements) else { return nil }
    while take(.mark(";")) {}
    return place == tokens.count ? statements : nil
  }

  // MARK: Statements

  /// Behind `{`, up to and with `}`.
  private mutating func block(_ statements: inout [ReduceStatement]) -> Bool {
    while !take(.mark("}")) {
      if take(.mark(";")) { continue }
      if take(.name("if")) {
        // Conditions do not stand inside of each other.
        guard condition == nil, let field = isNumber() else { return false }
        condition = field
        defer { condition = nil }
        guard take(.mark("{")) ? block(&statements) : simple(&statements) else { return false }
        continue
      }
      guard take(.name("var")) ? variable() : simple(&statements),
        take(.mark(";")) || tokens[safe: place] == .mark("}")
      else { return false }
    }
    return true
  }

  /// One statement without a block. Under a condition it may look at nothing but what that is about.
  private mutating func simple(_ statements: inout [ReduceStatement]) -> Bool {
    guard let statement = statement() else { return false }
    if let condition, let field = statement.field, field != condition { return false }
    statements.append(statement)
    return true
  }

  /// Behind `if`: `(doc.a != null && typeof doc.a.b === "number")`; gives `a.b`.
  private mutating func isNumber() -> String? {
    guard take(.mark("(")) else { return nil }
    var parents: [String] = []
    while !take(.name("typeof")) {
      guard let parent = field(), take(.mark("!=")), take(.name("null")), take(.mark("&&")) else {
        return nil
      }
      parents.append(parent)
    }
    guard let field = field(), take(.mark("===")) || take(.mark("==")), take(.text("number")),
      take(.mark(")")), parents.allSatisfy({ field.hasPrefix($0 + ".") })
    else { return nil }
    return field
  }

  private mutating func variable() -> Bool {
    guard let variable = name(), take(.mark("=")) else { return false }
    let hasParentheses = take(.mark("("))
    guard let member = member(), take(.mark("==")) || take(.mark("===")), take(.name("undefined"))
    else { return false }
    if hasParentheses, !take(.mark(")")) { return false }
    guard take(.mark("?")), take(.number("0")), take(.mark(":")), self.member() == member else {
      return false
    }
    variables[variable] = member
    return true
  }

  private mutating func statement() -> ReduceStatement? {
    guard let target = member() else { return nil }
    if take(.mark("++")) { return .increment(target, of: condition) }
    if take(.mark("+=")) {
      if take(.number("1")) { return .increment(target, of: condition) }
      return field().map { .add(target, field: $0) }
    }
    guard take(.mark("=")) else { return nil }
    if take(.name("Math")) { return extreme(target) }
    if take(.mark("(")) { return mean(target) }
    guard let left = counter() else { return nil }
    if take(.mark("/")) { return counter().map { .divide(target, sum: left, count: $0) } }
    guard left == target, take(.mark("+")) else { return nil }
    if take(.number("1")) { return .increment(target, of: condition) }
    return field().map { .add(target, field: $0) }
  }

  /// Behind `out.a = Math`.
  private mutating func extreme(_ target: String) -> ReduceStatement? {
    guard take(.mark(".")), let function = name(), function == "min" || function == "max",
      take(.mark("("))
    else { return nil }
    var found: String?
    if member() == target {
      guard take(.mark(",")) else { return nil }
      found = field()
    } else {
      found = field()
      guard take(.mark(",")), member() == target else { return nil }
    }
    guard let found, take(.mark(")")) else { return nil }
    return .extreme(target, field: found, isMinimum: function == "min")
  }

  /// Behind `out.a = (`.
  private mutating func mean(_ target: String) -> ReduceStatement? {
    guard member() == target, take(.mark("*")), let count = counter(), take(.mark("+")),
      let found = field(), take(.mark(")")), take(.mark("/")), take(.mark("(")),
      counter() == count, take(.mark("+")), take(.number("1")), take(.mark(")"))
    else { return nil }
    return .mean(target, field: found, count: count)
  }

  // MARK: Operands

  /// A member of the group, or a variable that stands for one.
  private mutating func counter() -> String? {
    if case .name(let name)? = tokens[safe: place], let member = variables[name] {
      place += 1
      return member
    }
    return member()
  }

  /// `out.a` or `out["a"]`.
  private mutating func member() -> String? {
    let start = place
    if let path = path(of: group), !path.contains(".") { return path }
    place = start
    return nil
  }

  /// `doc.a.b` or `doc["a.b"]`.
  private mutating func field() -> String? {
    let start = place
    if let path = path(of: document) { return path }
    place = start
    return nil
  }

  private mutating func path(of object: String) -> String? {
    guard take(.name(object)) else { return nil }
    var parts: [String] = []
    while true {
      if take(.mark(".")) {
        guard let name = name() else { return nil }
        parts.append(name)
      } else if take(.mark("[")) {
        guard case .text(let text)? = tokens[safe: place], !text.isEmpty else { return nil }
        place += 1
        guard take(.mark("]")) else { return nil }
        parts.append(text)
      } else {
        return parts.isEmpty ? nil : parts.joined(separator: ".")
      }
    }
  }

  private mutating func name() -> String? {
    guard case .name(let name)? = tokens[safe: place] else { return nil }
    place += 1
    return name
  }

  private mutating func take(_ token: JavaScriptToken) -> Bool {
    guard tokens[safe: place] == token else { return false }
    place += 1
    return true
  }
}

extension Array {
  /// nil behind the end.
  fileprivate subscript(safe place: Int) -> Element? { place < count ? self[place] : nil }
}
