internal import KVBase

/// Which members a query names.
extension Query {
  /// Whether the filter and the order name nothing but members for which `isAllowed` holds. A search in all texts and a
  /// comparison of computed values name everything.
  package func namesOnly(_ isAllowed: (Path) -> Bool) -> Bool {
    filter.namesOnly(isAllowed) && sort.allSatisfy { $0.member.map(isAllowed) ?? true }
  }
}

extension Predicate {
  fileprivate func namesOnly(_ isAllowed: (Path) -> Bool) -> Bool {
    switch self {
    case .everything, .nothing: true
    case .and(let parts), .or(let parts), .nor(let parts):
      parts.allSatisfy { $0.namesOnly(isAllowed) }
    // What tests of elements name lies below the path.
    case .field(let path, _): isAllowed(path)
    case .text, .comparison: false
    }
  }
}

extension Path {
  /// Whether this path leads to a member or into it.
  package func isIn(_ member: Path) -> Bool {
    components.count >= member.components.count
      && zip(components, member.components).allSatisfy { $0.name == $1.name }
  }
}
