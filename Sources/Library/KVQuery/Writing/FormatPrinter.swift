internal import KVBase
package import KVJSON

/// Writes predicates as format text which reads back as the same predicate.
///
/// Names are written with `#`, or in `["…"]`, so that none is taken for a reserved word or mapped again. Objects and
/// negative numbers become arguments (`%@`). What Apple's syntax has no form for is written as `FILTER("…")`, around
/// a MongoDB filter.
struct FormatPrinter {
  private(set) var arguments: [JSONValue] = []

  /// The precedence of what is written, as the parser's ranks of operators: it stands without parentheses
  /// wherever that rank or a looser one is asked for. So nothing is nested deeper than it was written.
  private enum Rank: Int, Comparable {
    case disjunction, conjunction, negation, comparison, sum, product, power, sign, operand

    static func < (left: Rank, right: Rank) -> Bool { left.rawValue < right.rawValue }

    var tighter: Rank { Rank(rawValue: rawValue + 1) ?? .operand }
  }

  mutating func text(_ predicate: Predicate) -> String { ranked(predicate).text }

  private mutating func text(_ predicate: Predicate, _ rank: Rank) -> String {
    let ranked = ranked(predicate)
    return ranked.rank >= rank ? ranked.text : "(\(ranked.text))"
  }

  private mutating func ranked(_ predicate: Predicate) -> (text: String, rank: Rank) {
    switch predicate {
    case .everything: ("TRUEPREDICATE", .comparison)
    case .nothing: ("FALSEPREDICATE", .comparison)
    case .and(let parts) where parts.count > 1:
      (joined(parts, " AND ", rank: .conjunction), .conjunction)
    case .or(let parts) where parts.count > 1:
      (joined(parts, " OR ", rank: .disjunction), .disjunction)
    case .nor(let parts) where parts.count == 1 && parts[0].formatNegated == predicate:
      ("NOT \(text(parts[0], .comparison))", .negation)
    case .comparison(let comparison):
      comparison.collation == nil ? (text(comparison), .comparison) : filter(predicate)
    case .field(let path, let tests): field(path, tests) ?? filter(predicate)
    case .and, .or, .nor, .text: filter(predicate)
    }
  }

  private mutating func joined(_ parts: [Predicate], _ word: String, rank: Rank) -> String {
    var texts: [String] = []
    for part in parts { texts.append(text(part, rank.tighter)) }
    return texts.joined(separator: word)
  }

  private mutating func filter(_ predicate: Predicate) -> (text: String, rank: Rank) {
    ("FILTER(\(quoted(predicate.json.text)))", .comparison)
  }

  // MARK: Tests

  /// Writes tests of a path; nil if Apple's syntax has no such test, or the path holds other characters.
  private mutating func field(_ path: Path, _ tests: [Test]) -> (text: String, rank: Rank)? {
    guard tests.count == 1, path.components.allSatisfy({ isPlain($0.text) }),
      !tests[0].isOfRegion
    else { return nil }
    let key = path.components.map { name($0.text) }.joined(separator: ".")
    switch tests[0] {
    case .equal(let value): return ("\(key) == \(text(value))", .comparison)
    case .notEqual(let value): return ("\(key) != \(text(value))", .comparison)
    case .compare(let comparison, let value):
      return ("\(key) \(comparison.symbol) \(text(value))", .comparison)
    case .isIn(let values): return ("\(key) IN \(text(.array(values)))", .comparison)
    // Read again, two negations of a test would be none.
    case .not(let inner) where inner.count == 1 && !inner[0].isNegation:
      return field(path, inner).map { ("NOT \($0.text)", .negation) }
    default: return nil
    }
  }

  private mutating func text(_ comparison: Comparison) -> String {
    let quantified = comparison.quantifier.map { $0.rawValue + " " } ?? ""
    let options = comparison.options
    let letters =
      (options.contains(.ignoreCase) ? "c" : "") + (options.contains(.ignoreMarks) ? "d" : "")
    let suffix = letters.isEmpty ? "" : "[\(letters)]"
    let left = text(comparison.left)
    return "\(quantified)\(left) \(comparison.operator.rawValue)\(suffix) \(text(comparison.right))"
  }

  // MARK: Expressions

  private mutating func text(_ expression: Expression) -> String {
    switch expression {
    case .constant(let value): return text(value)
    case .current: return "SELF"
    case .variable(let name): return variable(name)
    case .member(let base, let name): return text(base, name.text)
    case .element(let base, .first): return "\(whole(base))[FIRST]"
    case .element(let base, .last): return "\(whole(base))[LAST]"
    case .element(let base, .number(let number)):
      let array = whole(base)
      return "\(array)[\(text(number))]"
    case .aggregate(let aggregate, let base): return text(aggregate, base)
    case .function(let function, let arguments): return ranked(function, arguments).text
    case .list(let elements): return "{\(text(elements))}"
    case .subquery(let base, let name, let predicate):
      let collection = text(base)
      return "SUBQUERY(\(collection), \(variable(name)), \(text(predicate)))"
    case .ternary(let condition, let first, let second):
      let choice = text(condition)
      return "TERNARY(\(choice), \(text([first, second])))"
    }
  }

  private mutating func text(_ expressions: [Expression]) -> String {
    var texts: [String] = []
    for expression in expressions { texts.append(text(expression)) }
    return texts.joined(separator: ", ")
  }

  private mutating func text(_ base: Expression, _ member: String) -> String {
    guard isPlain(member) else { return "\(whole(base))[\(quoted(member))]" }
    return base == .current ? name(member) : "\(whole(base)).\(name(member))"
  }

  /// The expressions that a path can be written after: that of `@sum` goes on, and an operator binds more loosely.
  private mutating func whole(_ expression: Expression) -> String {
    switch expression {
    case .aggregate(let aggregate, _) where aggregate != .count: "(\(text(expression)))"
    default: text(expression, .operand)
    }
  }

  private mutating func text(_ expression: Expression, _ rank: Rank) -> String {
    guard case .function(let function, let arguments) = expression else { return text(expression) }
    let ranked = ranked(function, arguments)
    return ranked.rank >= rank ? ranked.text : "(\(ranked.text))"
  }

  /// `@sum` and its kind stand before the member that is summed.
  private mutating func text(_ aggregate: Expression.Aggregate, _ base: Expression) -> String {
    let (collection, member): (Expression, String)
    switch base {
    case _ where aggregate == .count: (collection, member) = (base, "")
    case .member(let inner, let last) where isPlain(last.text):
      (collection, member) = (inner, "." + name(last.text))
    default: (collection, member) = (base, ".self")
    }
    let prefix = collection == .current ? "" : whole(collection) + "."
    return "\(prefix)@\(aggregate.rawValue)\(member)"
  }

  /// Operators of one rank are read from left to right: only after one is another of its rank in parentheses.
  private mutating func ranked(
    _ function: Expression.Function, _ arguments: [Expression]
  ) -> (text: String, rank: Rank) {
    let operators: [Expression.Function: (String, Rank)] = [
      .add: ("+", .sum), .subtract: ("-", .sum), .multiply: ("*", .product),
      .divide: ("/", .product), .power: ("**", .power),
    ]
    if let (symbol, rank) = operators[function], arguments.count == 2 {
      let left = text(arguments[0], rank)
      return ("\(left) \(symbol) \(text(arguments[1], rank.tighter))", rank)
    }
    if function == .negate, arguments.count == 1 {
      return ("-\(text(arguments[0], .operand))", .sign)
    }
    let inner = text(arguments)
    return switch function {
    case .date: ("CAST(\(inner), \"NSDate\")", .operand)
    case .string: ("CAST(\(inner), \"NSString\")", .operand)
    case .number: ("CAST(\(inner), \"NSNumber\")", .operand)
    default: ("\(function.rawValue)(\(inner))", .operand)
    }
  }

  // MARK: Names and constants

  private func name(_ name: String) -> String { "#" + word(name) }

  private func variable(_ name: RecordID) -> String { "$" + word(name.text) }

  /// A name after its mark: a per cent sign is written twice, and what is no letter by its number.
  private func word(_ name: String) -> String {
    var out = String.UnicodeScalarView()
    for scalar in name.unicodeScalars {
      if scalar == "%" {
        out.append(contentsOf: "%%".unicodeScalars)
      } else if scalar.isASCII, !Self.isWord(UInt8(truncatingIfNeeded: scalar.value)) {
        let digits = String(scalar.value, radix: 16)
        out.append(contentsOf: ("\\x" + (digits.utf8.count < 2 ? "0" : "") + digits).unicodeScalars)
      } else {
        out.append(scalar)
      }
    }
    return String(out)
  }

  private func isPlain(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy { $0 >= 0x80 || Self.isWord($0) || $0 == 0x25 }
  }

  /// An ASCII letter, a digit or the underscore.
  private static func isWord(_ byte: UInt8) -> Bool {
    (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || byte == 0x5F
  }

  private mutating func text(_ value: JSONValue) -> String {
    switch value {
    case .null: return "nil"
    case .bool(let flag): return flag ? "TRUE" : "FALSE"
    case .int(let number) where number >= 0: return String(number)
    case .double(let number) where number.sign == .plus: return number.description
    case .string(let text): return quoted(text)
    // Arrays in arrays need not be as few as levels of a format.
    case .array(let elements) where !elements.contains { $0.arrayValue != nil }:
      var texts: [String] = []
      for element in elements { texts.append(text(element)) }
      return "{\(texts.joined(separator: ", "))}"
    case .int, .double, .array, .object:
      arguments.append(value)
      return "%@"
    }
  }

  private func quoted(_ text: String) -> String {
    var out = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      // In C a text ends there.
      guard scalar != "\0" else {
        out.append(contentsOf: "\\x00".unicodeScalars)
        continue
      }
      if scalar == "\"" || scalar == "\\" { out.append("\\") }
      out.append(scalar)
    }
    return "\"\(String(out))\""
  }
}

extension Test {
  fileprivate var isNegation: Bool { if case .not = self { true } else { false } }

  /// Whether it compares with an object that a format would take for a region.
  fileprivate var isOfRegion: Bool {
    switch self {
    case .equal(let value), .notEqual(let value): Region(argument: value) != nil
    case .isIn(let values): values.contains { Region(argument: $0) != nil }
    default: false
    }
  }
}

extension Path.Component {
  fileprivate var text: String { String(decoding: name, as: UTF8.self) }
}

extension Test.Comparison {
  fileprivate var symbol: String {
    switch self {
    case .less: "<"
    case .lessOrEqual: "<="
    case .greater: ">"
    case .greaterOrEqual: ">="
    }
  }
}

extension Query {
  /// `{"format":…,"arguments":[…]}`: the filter as a predicate format.
  package var formatText: String {
    let (text, arguments) = filter.format
    return JSONValue.object(["format": .string(text), "arguments": .array(arguments)]).text
  }
}

extension Predicate {
  /// The predicate as format text, and the values of the `%` conversions in it.
  package var format: (text: String, arguments: [JSONValue]) {
    var printer = FormatPrinter()
    let text = printer.text(self)
    return (text, printer.arguments)
  }
}
