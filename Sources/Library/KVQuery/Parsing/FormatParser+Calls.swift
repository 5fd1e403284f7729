internal import KVBase
internal import KVJSON

extension FormatParser {
  static let functions: [String: Expression.Function] = [
    "sum": .sum, "count": .count, "min": .min, "max": .max, "average": .average,
    "median": .median, "mode": .mode, "stddev": .stddev, "sqrt": .sqrt,
    "ln": .ln, "log": .log, "exp": .exp, "floor": .floor, "ceiling": .ceiling, "abs": .abs,
    "trunc": .trunc, "uppercase": .uppercase, "lowercase": .lowercase, "length": .length,
  ]

  /// `SUBQUERY(collection, $name, predicate)`.
  mutating func subquery() throws(QueryError) -> Expression {
    try expect("(")
    let collection = try argument()
    try expect(",")
    guard case .variable(let text) = token else { throw expected("a variable such as $x") }
    let name = RecordID(text)
    try advance()
    try expect(",")
    bound.append(name)
    defer { bound.removeLast() }
    let predicate = try predicate()
    try expect(")")
    return .subquery(collection, variable: name, predicate)
  }

  /// `FILTER("…")`: a MongoDB filter inside a format, for what Apple's syntax has no form for.
  mutating func filter() throws(QueryError) -> Predicate {
    try expect("(")
    let at = start
    guard case .string(let text) = token else { throw expected("a filter in quotes") }
    try advance()
    try expect(")")
    do throws(QueryError) {
      return try FilterParser.parse(text, depth: FilterParser.maximumDepthInFormat)
    } catch {
      throw QueryError(.syntax, error.message, at: at)
    }
  }

  /// `TERNARY(predicate, a, b)`.
  mutating func ternary() throws(QueryError) -> Expression {
    try expect("(")
    let condition = try predicate()
    try expect(",")
    let first = try argument()
    try expect(",")
    let second = try argument()
    try expect(")")
    return .ternary(condition, first, second)
  }

  /// `now()`: the moment at which the format is read, the same wherever it stands.
  mutating func moment() throws(QueryError) -> Expression {
    try expect("(")
    try expect(")")
    return .constant(.string(now.description))
  }

  /// `CAST(expression, "type")`.
  mutating func cast() throws(QueryError) -> Expression {
    try expect("(")
    let value = try argument()
    try expect(",")
    let at = start
    guard case .string(let type) = token else { throw expected("the name of a type in quotes") }
    try advance()
    try expect(")")
    let function: Expression.Function
    switch type {
    case "NSDate": function = .date
    case "NSString": function = .string
    case "NSNumber", "NSDecimalNumber": function = .number
    default: throw QueryError(.syntax, "expected \"NSDate\", \"NSString\" or \"NSNumber\"", at: at)
    }
    let cast = Expression.function(function, [value])
    guard value.constant != nil, cast.constant == nil || cast.constant == .null else { return cast }
    throw QueryError(.syntax, "this value cannot be cast to \(type)", at: at)
  }

  mutating func call(_ function: Expression.Function) throws(QueryError) -> Expression {
    try expect("(")
    var values: [Expression] = []
    repeat {
      if !values.isEmpty { try expect(",") }
      values.append(try argument())
    } while isNext(",")
    try expect(")")
    guard function.isOverMany || values.count == 1 else { throw expected("one argument") }
    return .function(function, values)
  }

  private mutating func argument() throws(QueryError) -> Expression {
    let at = start
    return try expression(try disjunction(), at)
  }
}
