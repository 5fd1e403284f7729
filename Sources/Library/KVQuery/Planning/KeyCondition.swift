internal import KVCollation
internal import KVJSON

/// A test of a path as a condition on a column of an index.
struct KeyCondition: Sendable {
  enum Form: Sendable, Equatable {
    /// Equal to one value.
    case equality
    /// Equal to one of several values.
    case membership
    /// Between two bounds, or on one side of one.
    case range
  }

  let form: Form
  /// `@` stands for the column, `?` for each parameter.
  let sql: String
  let parameters: [IndexValue]
  /// Whether the test holds for whatever meets the condition; else it holds for some of it.
  let isExact: Bool
  /// The number of the test among those of the filter's conjunction, if the first parameter is the value that it compares
  /// with, and the others depend on the type of that value only.
  private(set) var number: Int?

  /// What no key meets: none is NULL.
  private static let never = "@ IS NULL"
  /// The largest number of values in one statement.
  private static let maxValues = 500

  /// Translates a test; nil if no index with this order of texts helps with it. `number`: its place in the filter's
  /// conjunction, if it has one there.
  init?(_ test: Test, number: Int?, in collation: Collation?) {
    let (order, comparison) = test.uncollated
    // What compares no text means the same in every order.
    guard order.hasOrder(of: collation) || (order == nil && !test.comparesTexts) else { return nil }
    self.init(comparison, collation)
    switch comparison {
    case .equal, .compare: self.number = number
    default: break
    }
  }

  private init?(_ test: Test, _ collation: Collation?) {
    switch test {
    case .equal(let value):
      guard let value = IndexValue(value, collation) else { return nil }
      self.init(.equality, "@=?", parameters: [value])
    case .isIn(let values):
      let keys = values.compactMap { IndexValue($0, collation) }
      guard keys.count == values.count, keys.count <= KeyCondition.maxValues else { return nil }
      let placeholders = keys.map { _ in "?" }.joined(separator: ",")
      let sql = keys.isEmpty ? KeyCondition.never : "@ IN (\(placeholders))"
      self.init(.membership, sql, parameters: keys)
    case .compare(let comparison, let value): self.init(comparison, value, in: collation)
    case .regex(let pattern):
      guard let prefix = pattern.prefix else { return nil }
      self.init(
        .range, "@>=? AND @<?",
        parameters: [.text(prefix), .text(KeyCondition.successor(of: prefix))], isExact: false)
    case .notEqual, .notIn, .exists, .type, .size, .all, .allElements, .mod, .element,
      .elementValue, .near, .within, .text, .not, .collated:
      return nil
    }
  }

  private init(
    _ form: Form, _ sql: String, parameters: [IndexValue], isExact: Bool = true
  ) {
    self.form = form
    self.sql = sql
    self.parameters = parameters
    self.isExact = isExact
  }

  /// Comparisons hold within one type: the other side is bounded by where the type ends.
  private init?(_ comparison: Test.Comparison, _ value: JSONValue, in collation: Collation?) {
    guard let key = IndexValue(value, collation) else { return nil }
    let isCollated = collation != nil
    switch (key, comparison) {
    case (.null, .lessOrEqual), (.null, .greaterOrEqual):
      self.init(.equality, "@=?", parameters: [.null])
    case (.null, _): self.init(.membership, KeyCondition.never, parameters: [])
    case (_, .less), (_, .lessOrEqual):
      let sign = comparison == .less ? "<" : "<="
      // Null is where numbers end, and none of them.
      let end = value.kind == .number ? "@>?" : "@>=?"
      self.init(
        .range, "@\(sign)? AND \(end)",
        parameters: [key, KeyCondition.start(of: value.kind, isCollated)])
    case (_, .greater), (_, .greaterOrEqual):
      let sign = comparison == .greater ? ">" : ">="
      self.init(
        .range, "@\(sign)? AND @<?",
        parameters: [key, KeyCondition.end(of: value.kind, isCollated)])
    }
  }

  private static func start(of kind: RawValue.Kind, _ isCollated: Bool) -> IndexValue {
    switch kind {
    case .null, .number: .null
    case .string: isCollated ? .blob([kind.rawValue]) : .text([])
    case .object, .array, .bool: .blob([kind.rawValue])
    }
  }

  private static func end(of kind: RawValue.Kind, _ isCollated: Bool) -> IndexValue {
    switch kind {
    case .null, .number: start(of: .string, isCollated)
    case .string: isCollated ? .blob([kind.rawValue + 1]) : .blob([])
    case .object, .array, .bool: .blob([kind.rawValue + 1])
    }
  }

  /// The first text after all that begin with `prefix`. No UTF-8 has a byte above F4, so there is one.
  private static func successor(of prefix: [UInt8]) -> [UInt8] {
    var end = prefix
    if let last = end.popLast() { end.append(last &+ 1) }
    return end
  }

  /// The values of the parameters, with where they come from.
  var bindings: [SQLSelection.Parameter] {
    guard let number else { return parameters.map { .value($0) } }
    return parameters.enumerated().map { index, value in
      index == 0 ? .compared(value, test: number) : .typeEnd(value)
    }
  }

  func sql(on column: String) -> String {
    sql.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
      .map { String(Substring($0)) }.joined(separator: column)
  }
}

extension Pattern {
  /// The text that every match begins with, at the beginning of the value; nil if that can not be told.
  var prefix: [UInt8]? {
    guard options.isEmpty || options == "s", source.utf8.first == UInt8(ascii: "^") else {
      return nil
    }
    // With an alternative, the anchor may belong to one side only.
    var rest = source.unicodeScalars.dropFirst()
    guard !rest.contains("|") else { return nil }
    var literal: [Unicode.Scalar] = []
    scan: while let scalar = rest.popFirst() {
      switch scalar {
      case "*", "?", "{":
        // The letter before may be missing.
        _ = literal.popLast()
        break scan
      case "\\":
        guard let escaped = rest.popFirst(), Pattern.isPunctuation(escaped) else { break scan }
        literal.append(escaped)
      case "a"..."z", "A"..."Z", "0"..."9", " ", "_", "-", ",", ":", ";", "/", "@", "'", "\"", "%",
        "&", "=", "<", ">", "~", "!":
        literal.append(scalar)
      default:
        guard scalar.value >= 0x80 else { break scan }
        literal.append(scalar)
      }
    }
    return literal.isEmpty ? nil : literal.flatMap { Array(String($0).utf8) }
  }

  /// The characters that stand for themselves after a backslash.
  private static func isPunctuation(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "!"..."/", ":"..."@", "["..."`", "{"..."~": true
    default: false
    }
  }
}
