internal import KVCollation

extension Predicate {
  /// Whether MongoDB's language has a form for it.
  package var isRemote: Bool { isRemote(withCollations: false) }

  fileprivate func isRemote(withCollations: Bool) -> Bool {
    switch self {
    case .everything, .nothing: true
    case .field(_, let tests): tests.allSatisfy { $0.isRemote(withCollations: withCollations) }
    case .and(let parts), .or(let parts), .nor(let parts):
      parts.allSatisfy { $0.isRemote(withCollations: withCollations) }
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
  fileprivate var isRemote: Bool { isRemote(withCollations: false) }

  fileprivate func isRemote(withCollations: Bool) -> Bool {
    switch self {
    case .text: false
    case .collated(_, let test): withCollations && test.isRemote
    case .not(let tests), .allElements(let tests), .elementValue(let tests):
      tests.allSatisfy { $0.isRemote(withCollations: withCollations) }
    case .element(let predicate): predicate.isRemote(withCollations: withCollations)
    default: true
    }
  }
}

extension Query {
  /// Whether a backend can answer it whole, except for what is computed.
  package var isRemote: Bool { isRemote(withCollations: false) }

  /// The same for a backend that knows orders by language, as only our server does.
  package func isRemote(withCollations: Bool) -> Bool {
    filter.isRemote(withCollations: withCollations)
      && sort.allSatisfy { $0.meta == nil && (withCollations || $0.collation == nil) }
  }

  /// The version of the weights that orders by language have here. A backend with another one has other orders.
  package static var collationVersion: Int { Int(Collation.version) }

  /// The query to send to a backend when `isRemote` is false: everything the query may select, whole and in
  /// no order. The filter, order, page and projection are then applied locally.
  package var remoteSuperset: Query {
    isRemote ? self : Query(filter.remoteSuperset)
  }
}
