internal import KVBase
internal import KVJSON

/// A path, as MongoDB writes it, on which an expression walks down from the entity, and what has to hold of the
/// entity for that.
///
/// A member of an array is that member of each element, in a predicate format as in MongoDB; then `a.b[0]` is the `b` of
/// the first element, `a.0.b`, and `a.b.@count` the size of `a`. MongoDB has no path that does both: which one it is
/// depends on whether `a` is an array.
struct Route {
  var conditions: [Predicate] = []
  private var components: [String] = []
  /// The number of components up to the last index: arrays before that are indexed.
  private var indexed = 0

  /// Longer ways through members have too many routes.
  private static let maxMembers = 4

  var path: Path { Path(components.joined(separator: ".")) }

  fileprivate func member(_ name: String) -> Route {
    var route = self
    route.components.append(name)
    return route
  }

  fileprivate func element(_ index: Int64) -> Route {
    var route = member(String(index))
    route.indexed = route.components.count
    return route
  }

  /// The routes to the first array on this way, each with the members that lead on inside of its elements; nil if
  /// there are too many.
  fileprivate var toFirstArray: [(route: Route, rest: ArraySlice<String>)]? {
    let members = components.count - indexed
    guard members > 1 else { return [(self, [])] }
    guard members <= Route.maxMembers else { return nil }
    var none: [Predicate] = []
    return (indexed + 1...components.count).map { end in
      var route = Route(
        conditions: conditions, components: Array(components[..<end]), indexed: indexed)
      let isArray = Test.type([.array])
      route.conditions += none
      if end < components.count { route.conditions.append(.field(route.path, [isArray])) }
      none.append(.field(route.path, [.not([isArray])]))
      return (route, components[end...])
    }
  }
}

extension Expression {
  /// The routes of an expression that only walks down from the entity; nil of any other.
  var routes: [Route]? {
    switch self {
    case .current: [Route()]
    case .member(let base, let name):
      name.isComponent(first: base == .current)
        ? base.routes?.map { $0.member(name.text) } : nil
    case .element(let base, .first): base.routes(toElement: 0)
    case .element(let base, .number(let number)):
      number.constant?.intValue.flatMap { base.routes(toElement: $0) }
    default: nil
    }
  }

  private func routes(toElement index: Int64) -> [Route]? {
    guard let routes, routes.count == 1, self != .current else { return nil }
    return routes[0].toFirstArray?.map { first in
      first.rest.reduce(first.route.element(index)) { $0.member($1) }
    }
  }

  /// The route to the array whose elements the collection has that this leads to.
  var routesToCount: [Route]? {
    guard let routes, routes.count == 1, self != .current else { return nil }
    return routes[0].toFirstArray?.map(\.route)
  }
}

extension [Route] {
  /// A predicate that holds where one does at the end of the route that an entity has; nil if it has no form.
  func predicate(_ atEnd: (Path) -> Predicate?) -> Predicate? {
    var parts: [Predicate] = []
    for route in self {
      guard let predicate = atEnd(route.path) else { return nil }
      parts.append(.all(route.conditions + [predicate]))
    }
    return .any(parts)
  }
}

extension RecordID {
  /// Whether a path can have it between its dots. No filter can name a member with a NUL in its name, or one at the
  /// top that would be taken for an operator.
  fileprivate func isComponent(first isFirst: Bool) -> Bool {
    !text.isEmpty && !text.utf8.contains { $0 == UInt8(ascii: ".") || $0 == 0 }
      && !(isFirst && text.starts(with: "$"))
  }
}
