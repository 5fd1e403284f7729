extension Predicate {
  /// Whether MongoDB's language has a form for it.
  package var isRemote: Bool {
    switch self {
    case .everything, .nothing: true
    case .field(_, let tests): tests.allSatisfy(\.isRemote)
    case .and(let parts), .or(let parts), .nor(let parts): parts.allSatisfy(\.isRemote)
    // MongoDB's `$text` needs an index there, and stems: it would find something else.
    case .text, .comparison: false
    }
  }

  /// The narrowest predicate that MongoDB's language has a form for and that selects all this selects:
  /// what to fetch when the rest has to be decided locally.
  package var remoteSuperset: Predicate {
    guard !isRemote else { return self }
    switch self {
    case .and(let parts):
      let kept = parts.map(\.remoteSuperset).filter { $0 != .everything }
      return kept.isEmpty ? .everything : kept.count == 1 ? kept[0] : .and(kept)
    case .or(let parts):
      let wide = parts.map(\.remoteSuperset)
      return wide.contains(.everything) ? .everything : .or(wide)
    case .nor(let parts):
      // None of the parts holds, so at least none of those that can be asked remotely.
      let asked = parts.filter(\.isRemote)
      return asked.isEmpty ? .everything : .nor(asked)
    case .field(let path, let tests):
      let asked = tests.filter(\.isRemote)
      return asked.isEmpty ? .everything : .field(path, asked)
    case .everything, .nothing, .text, .comparison: return .everything
    }
  }
}

extension Test {
  /// Whether a test can be said in the backend's language.
  fileprivate var isRemote: Bool {
    switch self {
    // No backend but our server has orders by language.
    case .text, .collated: false
    case .not(let tests), .allElements(let tests), .elementValue(let tests):
      tests.allSatisfy(\.isRemote)
    case .element(let predicate): predicate.isRemote
    default: true
    }
  }
}

extension Query {
  /// Whether a backend can answer it whole, but for what is computed.
  package var isRemote: Bool {
    filter.isRemote && sort.allSatisfy { $0.meta == nil && $0.collation == nil }
  }

  /// The query to send to a backend when `isRemote` is false: everything the query may select, whole and in
  /// no order. The filter, order, page and projection are then applied locally.
  package var remoteSuperset: Query {
    isRemote ? self : Query(filter.remoteSuperset)
  }
}
