package import KVQuery

/// A piece of SQL with the values of its anonymous parameters (`?`), which cannot get out of step: a literal binds the
/// values that it names, and takes in other fragments with theirs.
///
///     let rows: SQLFragment = "\(condition) AND n > \(bind: last)"
package struct SQLFragment: Sendable, ExpressibleByStringInterpolation {
  package enum Binding: Sendable {
    case null
    case integer(Int64)
    case parameter(SQLSelection.Parameter)
    case counter(RowCounter)
    /// Given to the statement afterwards, at `BoundSQL.openIndex`.
    case open
  }

  package fileprivate(set) var text: String
  fileprivate var bindings: [Binding]

  /// Text of our own that has a `?` for each of the values.
  package init(_ text: String, _ bindings: [Binding] = []) {
    self.text = text
    self.bindings = bindings
  }

  package init(_ text: String, _ parameters: [SQLSelection.Parameter]) {
    self.init(text, parameters.map { .parameter($0) })
  }

  package init(stringLiteral text: String) { self.init(text) }

  package init(stringInterpolation parts: StringInterpolation) { self = parts.fragment }

  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var fragment = SQLFragment("")

    package init(literalCapacity: Int, interpolationCount: Int) {
      fragment.text.reserveCapacity(literalCapacity)
    }

    package mutating func appendLiteral(_ literal: String) { fragment.text += literal }

    /// Takes in another fragment, with its values.
    package mutating func appendInterpolation(_ part: SQLFragment) {
      fragment.text += part.text
      fragment.bindings += part.bindings
    }

    /// Puts text in as it is: names of tables and columns of our own, never a value.
    package mutating func appendInterpolation(sql text: String) { fragment.text += text }

    package mutating func appendInterpolation(bind value: Int64) { append(.integer(value)) }

    package mutating func appendInterpolation(bind value: Int) { append(.integer(Int64(value))) }

    /// Nil is NULL.
    package mutating func appendInterpolation(bind value: Int64?) {
      append(value.map { .integer($0) } ?? .null)
    }

    package mutating func appendInterpolation(bind value: Bool?) {
      append(value.map { .integer($0 ? 1 : 0) } ?? .null)
    }

    package mutating func appendInterpolation(bind text: String) {
      append(.parameter(.text(text)))
    }

    /// Nil is NULL.
    package mutating func appendInterpolation(bind text: String?) {
      append(text.map { .parameter(.text($0)) } ?? .null)
    }

    package mutating func appendInterpolation(bind value: IndexValue) {
      append(.parameter(.value(value)))
    }

    package mutating func appendInterpolation(bind matcher: Matcher) {
      append(.parameter(.matcher(matcher)))
    }

    package mutating func appendInterpolation(bind sorter: Sorter) {
      append(.parameter(.sorter(sorter)))
    }

    /// Leaves one value open, for a statement that runs several times, or for bytes that are only borrowed.
    package mutating func appendInterpolation(open: Void) { append(.open) }

    /// The value that was left open, once more. Only in the literal of a whole statement.
    package mutating func appendInterpolation(openAgain: Void) {
      fragment.text += "?\(BoundSQL(fragment).openIndex)"
    }

    package mutating func appendInterpolation(bind counter: RowCounter) {
      append(.counter(counter))
    }

    private mutating func append(_ binding: Binding) {
      fragment.text += "?"
      fragment.bindings.append(binding)
    }
  }
}

/// A fragment as a whole statement, which each connection prepares once.
package struct BoundSQL: Sendable {
  package let sql: SQL
  fileprivate let bindings: [SQLFragment.Binding]

  package init(_ fragment: SQLFragment) {
    sql = SQL.shared(fragment.text)
    bindings = fragment.bindings
  }

  private init(_ sql: SQL, _ bindings: [SQLFragment.Binding]) {
    self.sql = sql
    self.bindings = bindings
  }

  /// The same statement with the values of another query of the same shape; nil if that may take another plan.
  package func bound(to values: inout PlanValues) -> BoundSQL? {
    var bound: [SQLFragment.Binding] = []
    bound.reserveCapacity(bindings.count)
    for binding in bindings {
      guard case .parameter(let parameter) = binding else {
        bound.append(binding)
        continue
      }
      guard let parameter = values.bind(parameter) else { return nil }
      bound.append(.parameter(parameter))
    }
    return BoundSQL(sql, bound)
  }

  /// The index of the parameter that was left open; 0, which no parameter has, if there is none.
  package var openIndex: Int32 {
    let index = bindings.firstIndex { if case .open = $0 { true } else { false } }
    return index.map { Int32($0) + 1 } ?? 0
  }
}

extension Connection {
  /// A kept statement with its values.
  package func statement(_ bound: BoundSQL) throws(SQLiteError) -> Statement {
    let statement = try statement(bound.sql)
    try statement.bind(bound.bindings)
    return statement
  }

  /// The statement of a fragment, kept by its text, with its values.
  package func statement(_ fragment: SQLFragment) throws(SQLiteError) -> Statement {
    try statement(BoundSQL(fragment))
  }

  /// Runs the statement of a fragment to its end.
  package func run(_ fragment: SQLFragment) throws(SQLiteError) { try statement(fragment).run() }

  /// A statement for one use, with its values.
  package func prepare(_ fragment: SQLFragment) throws(SQLiteError) -> Statement {
    let statement = try prepare(fragment.text)
    try statement.bind(fragment.bindings)
    return statement
  }
}

extension Statement {
  fileprivate func bind(_ bindings: [SQLFragment.Binding]) throws(SQLiteError) {
    var index: Int32 = 1
    for binding in bindings {
      switch binding {
      case .null: try bindNull(at: index)
      case .open: break
      case .integer(let value): try bind(value, at: index)
      case .parameter(let parameter): try bind(parameter, at: index)
      case .counter(let counter): try bind(counter, at: index)
      }
      index += 1
    }
  }
}
