package import KVBase
package import KVCollation
package import KVJSON

/// One side of a comparison in a predicate format.
package indirect enum Expression: Sendable, Equatable {
  case constant(JSONValue)
  /// The object that the predicate is held against (`SELF`).
  case current
  /// A variable of a `SUBQUERY`.
  case variable(RecordID)
  /// A member; of an array, that member of each element.
  case member(Expression, RecordID)
  /// `[n]`, `[first]`, `[last]`.
  case element(Expression, Index)
  /// `@count` and its kind, over a collection.
  case aggregate(Aggregate, Expression)
  /// Arithmetic and named functions.
  case function(Function, [Expression])
  /// `{a, b}`.
  case list([Expression])
  /// `SUBQUERY(collection, $x, predicate)`: the elements the predicate selects.
  case subquery(Expression, variable: RecordID, Predicate)
  /// `TERNARY(predicate, a, b)`.
  case ternary(Predicate, Expression, Expression)

  package enum Index: Sendable, Equatable {
    case first, last
    case number(Expression)
  }

  package enum Aggregate: String, Sendable {
    case count, sum, min, max, avg
  }

  package enum Function: String, Sendable {
    case add, subtract, multiply, divide, power, negate
    case sum, count, min, max, average, median, mode
    /// The standard deviation of all values, not of a sample.
    case stddev
    case sqrt, ln, log, exp, floor, ceiling, abs, trunc
    case uppercase, lowercase, length
    /// Converts to a date's text: seconds since 2001, or a text that is a date.
    case date
    case string, number
  }
}

/// Two expressions and how they are to relate. What Apple documents for `NSPredicate`: nil, missing and
/// null are alike and equal to nothing else; nothing is greater or smaller than nil.
package struct Comparison: Sendable, Equatable {
  package enum Operator: String, Sendable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    case between = "BETWEEN"
    case isIn = "IN"
    case beginsWith = "BEGINSWITH"
    case endsWith = "ENDSWITH"
    case contains = "CONTAINS"
    case like = "LIKE"
    case matches = "MATCHES"

    /// The relation with its sides exchanged; nil if there is none.
    var mirrored: Operator? {
      switch self {
      case .equal, .notEqual: self
      case .less: .greater
      case .lessOrEqual: .greaterOrEqual
      case .greater: .less
      case .greaterOrEqual: .lessOrEqual
      case .between, .isIn, .beginsWith, .endsWith, .contains, .like, .matches: nil
      }
    }
  }

  /// Whether one element of the left side is enough, or all have to comply.
  package enum Quantifier: String, Sendable {
    case any = "ANY"
    case all = "ALL"
  }

  /// `[c]` ignores case, `[d]` ignores marks such as accents.
  package struct Options: OptionSet, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    package static let ignoreCase = Options(rawValue: 1)
    package static let ignoreMarks = Options(rawValue: 2)
  }

  package var left: Expression
  package var `operator`: Operator
  package var right: Expression
  package var options: Options
  package var quantifier: Quantifier?
  /// The order that `==` to `IN` compare texts in; nil: by code point. Parts of texts are compared as they are.
  package var collation: Collation?
  /// The expression of `MATCHES` or `LIKE` when it is a constant, compiled.
  let pattern: Pattern?

  /// Throws if the right side is a regular expression that cannot be understood.
  init(
    _ left: Expression, _ operation: Operator, right: Expression, options: Options = [],
    quantifier: Quantifier? = nil
  ) throws(RegexError) {
    self.left = left
    self.operator = operation
    self.right = right
    self.options = options
    self.quantifier = quantifier
    if operation == .like || operation == .matches, case .constant(.string(let text)) = right {
      pattern = try Comparison.pattern(operation, text, options: options)
    } else {
      pattern = nil
    }
  }

  /// `MATCHES` and `LIKE` cover the whole text.
  static func pattern(
    _ operation: Operator, _ text: String, options: Options
  ) throws(RegexError) -> Pattern {
    try Pattern.checkLength(of: text)
    let text = options.contains(.ignoreMarks) ? TextFolding.withoutMarks(text) : text
    let flags = options.contains(.ignoreCase) ? "i" : ""
    if operation == .like {
      return try Pattern("^" + wildcards(text) + Pattern.wholeEnd, options: flags + "s")
    }
    do throws(RegexError) {
      return try Pattern("^(?:" + text + ")" + Pattern.wholeEnd, options: flags)
    } catch {
      if error.isNoMemory { throw error }
      throw RegexError(message: error.message, position: max(0, error.position - 4))
    }
  }

  /// The text of `LIKE` as an expression: `*` is any text, `?` any character, a backslash escapes.
  static func wildcards(_ text: String) -> String {
    var out = ""
    var isEscaped = false
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\" where !isEscaped:
        isEscaped = true
        continue
      case "*" where !isEscaped: out += ".*"
      case "?" where !isEscaped: out += "."
      default: out += Pattern.escaping(String(scalar))
      }
      isEscaped = false
    }
    return isEscaped ? out + #"\\"# : out
  }
}
