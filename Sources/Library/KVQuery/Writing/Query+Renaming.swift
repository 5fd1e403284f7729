internal import KVBase

extension Query {
  /// The query in the backend's names, if it was made in the application's own. Those of a filter's
  /// inner objects (`$elemMatch`, `SUBQUERY`) are not the application's, only those at the top are.
  package func renamed(by keys: KeyMap) -> Query {
    guard !keys.isEmpty else { return self }
    var query = self
    query.filter = filter.renamed(by: keys)
    query.original = original?.renamed(by: keys)
    query.sort = sort.map { $0.renamed(keys.renamed) }
    query.fields = fields.map(keys.renamed)
    query.computed = computed.map { $0.renamed(keys.renamed) }
    return query
  }
}

extension Predicate {
  func renamed(by keys: KeyMap) -> Predicate {
    switch self {
    case .everything, .nothing, .text: return self
    case .and(let parts): return .and(parts.map { $0.renamed(by: keys) })
    case .or(let parts): return .or(parts.map { $0.renamed(by: keys) })
    case .nor(let parts): return .nor(parts.map { $0.renamed(by: keys) })
    case .field(let path, let tests): return .field(keys.renamed(path), tests)
    case .comparison(var comparison):
      comparison.left = comparison.left.renamed(by: keys)
      comparison.right = comparison.right.renamed(by: keys)
      return .comparison(comparison)
    }
  }
}

extension Expression {
  fileprivate func renamed(by keys: KeyMap) -> Expression {
    switch self {
    case .constant, .current, .variable: self
    case .member(.current, let name):
      .member(.current, keys[name.text].map { RecordID($0) } ?? name)
    case .member(let base, let name): .member(base.renamed(by: keys), name)
    case .element(let base, .number(let index)):
      .element(base.renamed(by: keys), .number(index.renamed(by: keys)))
    case .element(let base, let index): .element(base.renamed(by: keys), index)
    case .aggregate(let aggregate, let base): .aggregate(aggregate, base.renamed(by: keys))
    case .function(let function, let arguments):
      .function(function, arguments.map { $0.renamed(by: keys) })
    case .list(let elements): .list(elements.map { $0.renamed(by: keys) })
    case .subquery(let base, let variable, let predicate):
      .subquery(base.renamed(by: keys), variable: variable, predicate.renamed(by: keys))
    case .ternary(let condition, let first, let second):
      .ternary(
        condition.renamed(by: keys), first.renamed(by: keys), second.renamed(by: keys))
    }
  }
}
