internal import KVBase

/// How indexes answer a query, for a store that keeps each of them in a table of rows `(k0, k1…, n)`: the same choice that the
/// client library makes, as pieces of SQL that any database understands.
package struct IndexUse: Sendable {
  /// A statement or a condition with a `?` for each of its values.
  package struct Fragment: Sendable {
    package let sql: String
    package let values: [IndexValue]
  }

  /// An index whose columns are the order that the query asks for, up to ties.
  package struct Walk: Sendable {
    package let table: String
    /// The condition for its rows; nil: all.
    package let condition: Fragment?
    /// The terms for `ORDER BY`.
    package let terms: String
  }

  /// A SELECT of the numbers of all rows that may be selected; nil: every row may be.
  package let rows: Fragment?
  /// Whether all of these are selected: then none has to be matched.
  package let isExact: Bool
  /// The names of the indexes.
  package let names: [String]
  package private(set) var walk: Walk?

  /// Nil: no index helps. `longestBound`: of a value that may bound a range, in bytes of its key; a store that keeps long keys
  /// cut has their order only up to there.
  package init?(_ query: Query, _ indexes: [UsableIndex], longestBound: Int = .max) {
    if let named = query.namedIDs, named.ids.count <= IndexUse.fewIDs { return nil }
    guard let access = Planner(query, indexes).choose() else { return nil }
    let found = access.rows
    let values = found.parameters.compactMap { parameter -> IndexValue? in
      parameter.indexValue
    }
    guard values.count == found.parameters.count, access.hasBounds(within: longestBound) else {
      return nil
    }
    isExact = access.isExact
    names = access.names
    walk = IndexUse.walk(access, query)
    rows = access.isUnconditional ? nil : Fragment(sql: found.sql, values: values)
  }

  /// The number of ids above which an index of something else may leave fewer entities.
  private static let fewIDs = 500

  /// Whether an index of this name is used.
  package func uses(_ name: String) -> Bool { names.contains { $0.hasSameBytes(as: name) } }

  /// The same without the order of an index.
  package func withoutWalk() -> IndexUse {
    var use = self
    use.walk = nil
    return use
  }

  private static func walk(_ access: Access, _ query: Query) -> Walk? {
    guard case .range(let range) = access, !query.sort.isEmpty, let terms = range.order(query.sort)
    else { return nil }
    let values = range.conditions.flatMap { $0.flatMap(\.parameters) }
    return Walk(
      table: range.index.table,
      condition: access.isUnconditional ? nil : Fragment(sql: range.condition, values: values),
      terms: SQLSelection.terms(terms))
  }
}

extension Access {
  /// Whether it is an index as a whole.
  fileprivate var isUnconditional: Bool {
    if case .range(let range) = self { range.conditions.isEmpty } else { false }
  }

  /// Whether no range ends in a value that is longer than this.
  fileprivate func hasBounds(within limit: Int) -> Bool {
    switch self {
    case .range(let range):
      range.conditions.joined().allSatisfy { condition in
        condition.form != .range || condition.parameters.allSatisfy { $0.key.count <= limit }
      }
    case .table: true
    case .union(let parts): parts.allSatisfy { $0.hasBounds(within: limit) }
    }
  }
}
