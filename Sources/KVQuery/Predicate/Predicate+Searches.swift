extension Predicate {
  /// The searches that may be why an entity is selected: none that is negated, or about elements of an array.
  var searches: [PlacedSearch] {
    switch self {
    case .text(let search): [PlacedSearch(search: search, path: nil)]
    case .field(let path, let tests):
      tests.compactMap { test in
        if case .text(let search) = test { PlacedSearch(search: search, path: path) } else { nil }
      }
    case .and(let parts), .or(let parts): parts.flatMap(\.searches)
    case .everything, .nothing, .nor, .comparison: []
    }
  }
}
