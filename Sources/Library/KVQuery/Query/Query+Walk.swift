internal import KVJSON

extension Query {
  /// A query as a walk along the ids, which are texts: from after one, up to another, over what `rest` selects.
  package struct Walk: Sendable, Equatable {
    package var after: String?
    /// The last id, included; nil: no end.
    package var last: String?
    package var rest: Predicate
  }

  /// The walk that the query is; nil if its order is another. Reading page by page asks this, and an
  /// index of the ids answers it without looking at what is not on the page.
  package var walk: Walk? {
    guard sort == [SortKey(.id)] else { return nil }
    var walk = Walk(rest: .everything)
    var rest: [Predicate] = []
    for part in parts {
      guard case .field(.id, let tests) = part else {
        rest.append(part)
        continue
      }
      let left = tests.filter { !walk.narrow(by: $0) }
      if !left.isEmpty { rest.append(.field(.id, left)) }
    }
    walk.rest = .all(rest)
    return walk
  }

  private var parts: [Predicate] {
    if case .and(let parts) = filter { parts } else { [filter] }
  }
}

extension Query.Walk {
  /// Makes a bound of a test, if it is one and there is none yet.
  fileprivate mutating func narrow(by test: Test) -> Bool {
    switch test {
    case .compare(.greater, .string(let id)) where after == nil: after = id
    case .compare(.lessOrEqual, .string(let id)) where last == nil: last = id
    default: return false
    }
    return true
  }
}
