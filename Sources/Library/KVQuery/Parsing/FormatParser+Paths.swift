internal import KVBase
internal import KVJSON

extension FormatParser {
  /// An operand and what is asked of it: `.name`, `.@count`, `[0]`, `["name"]`.
  mutating func postfixed() throws(QueryError) -> Node {
    let at = start
    var node = try operand()
    while isNext(".") || isNext("[") {
      try countStep()
      let base = try expression(node, at)
      guard !base.isScalar else { throw expected("an operator: a value has no members") }
      let isIndex = isNext("[")
      try advance()
      node = .expression(isIndex ? try index(of: base) : try member(of: base))
    }
    return node
  }

  // MARK: Names

  private mutating func member(of base: Expression) throws(QueryError) -> Expression {
    switch token {
    case .symbol("@"):
      try advance()
      return try collectionOperator(over: base)
    case .word(let name, let isEscaped):
      try advance()
      return isEscaped ? .member(base, RecordID(name)) : member(name, of: base)
    case .argument("K"): return try keyPathArgument(of: base)
    default: throw expected("a name")
    }
  }

  /// A name that may stand for another one; `self` is what it is asked of, as in key-value coding.
  private func member(_ name: String, of base: Expression) -> Expression {
    guard name != "self", name != "SELF" else { return base }
    return .member(base, RecordID(keys.name(name, in: base.lastName)))
  }

  /// The path that the argument of a `%K` names; its components are read like written ones.
  mutating func keyPathArgument(of base: Expression) throws(QueryError) -> Expression {
    let at = start
    let text = try arguments.next(for: "K", at: at).stringValue ?? ""
    try advance()
    let components = text.parts(between: ".").map(String.init)
    guard components.count <= FormatParser.maximumPathLength, !components.contains("") else {
      throw QueryError(.syntax, "the argument must be the name of a key", at: at)
    }
    for _ in components { try countStep() }
    guard let path = path(components[...], of: base) else {
      throw QueryError(.syntax, "the argument must be a key path: \(Self.operators)", at: at)
    }
    return path
  }

  /// Reads a path of `%K`; nil if there is a collection operator in it that is not known, or that has no path after it.
  private func path(_ components: ArraySlice<String>, of base: Expression) -> Expression? {
    guard let first = components.first else { return base }
    let rest = components.dropFirst()
    guard first.utf8.first == UInt8(ascii: "@") else {
      return path(rest, of: member(first, of: base))
    }
    guard let aggregate = Expression.Aggregate(rawValue: String(first.dropFirst())) else {
      return nil
    }
    if aggregate == .count { return path(rest, of: .aggregate(.count, base)) }
    return rest.isEmpty ? nil : path(rest, of: base).map { .aggregate(aggregate, $0) }
  }

  // MARK: Collections

  private static let operators = "@count, or @sum, @min, @max or @avg and a path such as self"

  /// Reads what follows `@`: `count`, or `sum` and its kind with the path of what is added.
  mutating func collectionOperator(over base: Expression) throws(QueryError) -> Expression {
    guard case .word(let name, _) = token, let aggregate = Expression.Aggregate(rawValue: name)
    else { throw expected(Self.operators) }
    try advance()
    guard aggregate != .count else { return .aggregate(.count, base) }
    guard isNext(".") else {
      throw expected("a path: .@\(name).self applies to the elements of the array")
    }
    var path = base
    while isNext(".") {
      try countStep()
      try advance()
      path = try member(of: path)
    }
    return .aggregate(aggregate, path)
  }

  /// Reads what follows `[`: an index into an array, or the name of a member.
  private mutating func index(of base: Expression) throws(QueryError) -> Expression {
    let result: Expression
    if isNext("FIRST") {
      result = .element(base, .first)
      try advance()
    } else if isNext("LAST") {
      result = .element(base, .last)
      try advance()
    } else if isNext("SIZE") {
      result = .aggregate(.count, base)
      try advance()
    } else {
      try refuseOptions()
      let at = start
      result = try element(try expression(try disjunction(), at), of: base, at: at)
    }
    try expect("]")
    return result
  }

  /// `name [c] LIKE …`: the options of an operator in front of it, where they would be an index.
  private func refuseOptions() throws(QueryError) {
    guard ["C", "D", "CD", "DC"].contains(where: isNext) else { return }
    throw expected("an index: options stand after the operator, as in LIKE[c]; write #c for a key")
  }

  private func element(
    _ index: Expression, of base: Expression, at position: Int
  ) throws(QueryError) -> Expression {
    switch index.constant {
    case nil: return .element(base, .number(index))
    case .string(let name)?: return .member(base, RecordID(name))
    case .int(let number)? where number >= 0: return .element(base, .number(index))
    default:
      throw QueryError(
        .syntax, "expected an index from 0 on, FIRST, LAST, SIZE, or a name in quotes", at: position
      )
    }
  }
}

extension Expression {
  /// Whether it is a value that consists of no others.
  fileprivate var isScalar: Bool {
    guard case .constant(let value) = self else { return false }
    return value.arrayValue == nil && value.objectValue == nil
  }
}
