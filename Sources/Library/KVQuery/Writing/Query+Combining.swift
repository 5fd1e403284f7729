internal import KVJSON

extension Query {
  /// The ways to combine queries.
  package enum Combination: String, Sendable {
    /// Selects what all of them select.
    case and
    /// Selects what at least one of them selects.
    case or
    /// Selects what the one query does not.
    case not
  }

  /// A query of other queries' filters, with modifiers of its own: theirs are not used.
  package init(
    _ combination: Combination, of queries: [Query], modifiers: String? = nil
  ) throws(QueryError) {
    guard let first = queries.first else {
      throw QueryError(.syntax, "There is nothing to combine.")
    }
    let filters = queries.map(\.filter)
    switch combination {
    case .and: self.init(.all(filters))
    case .or: self.init(.any(filters))
    case .not:
      guard queries.count == 1 else {
        throw QueryError(.syntax, "\"not\" needs exactly one query.")
      }
      self.init(first.filter.negated)
    }
    var left = Query.maxParts
    guard filter.fits(depth: FilterParser.maximumDepth, &left),
      FilterParser.fits(.object(filter.json), FilterParser.maximumDepth)
    else {
      throw QueryError(
        .syntax, "The combination is too deep, or has more than \(Query.maxParts) parts.")
    }
    try apply(modifiers: modifiers ?? "")
  }

  /// The largest number of parts: more only come of a combination that goes wild, `q = q and q` again and again.
  private static let maxParts = 100_000
}

extension Predicate {
  /// Whether it is no deeper and has no more parts than it may. Costs no more than the parts allowed.
  fileprivate func fits(depth: Int, _ left: inout Int) -> Bool {
    left -= 1
    guard depth > 0, left >= 0 else { return false }
    switch self {
    case .and(let parts), .or(let parts), .nor(let parts):
      return parts.allSatisfy { $0.fits(depth: depth - 1, &left) }
    case .everything, .nothing, .field, .text, .comparison: return true
    }
  }
}
