internal import KVBase
internal import KVJSON

/// A path, as MongoDB writes it, on which an expression walks down from the entity, and what has to hold of the
/// entity for that.
///
/// A member of an array is that member of each element, in a predicate format as in MongoDB; then `a.b[0]` is the `b` of
/// the first element, `a.0.b`, and `a.b.@count` the size of `a`. MongoDB has no path that does both: which one it is
/// depends on whether `a` is an array.
struct ConditionalPath {
  var conditions: [Predicate] = []
  private var components: [String] = []
  /// The number of components up to the last index: arrays before that are indexed.
  private var indexed = 0

  /// Longer ways through members have too many paths.
  private static let maxMembers = 4

  var path: Path { Path(components.joined(separator: ".")) }

  /// Whether it leads through an element of an array.
  var isIndexed: Bool { indexed > 0 }

  fileprivate func member(_ name: String) -> ConditionalPath {
    var longer = self
    longer.components.append(name)
    return longer
  }

  fileprivate func element(_ index: Int64) -> ConditionalPath {
    var longer = member(String(index))
    longer.indexed = longer.components.count
    return longer
  }

  /// The paths to the first array on this way, each with the members that lead on inside of its elements; nil if
  /// there are too many.
  fileprivate var toFirstArray: [(path: ConditionalPath, rest: ArraySlice<String>)]? {
    let members = components.count - indexed
    guard members > 1 else { return [(self, [])] }
    guard members <= ConditionalPath.maxMembers else { return nil }
    var none: [Predicate] = []
    return (indexed + 1...components.count).map { end in
      var path = ConditionalPath(
        conditions: conditions, components: Array(components[..<end]), indexed: indexed)
      let isArray = Test.type([.array])
      path.conditions += none
      if end < components.count {
        path.conditions.append(.field(path.path, [isArray]))
      }
      none.append(.field(path.path, [.not([isArray])]))
      return (path, components[end...])
    }
  }
}

extension Expression {
  /// The paths of an expression that only walks down from the entity; nil of any other.
  var conditionalPaths: [ConditionalPath]? {
    switch self {
    case .current: [ConditionalPath()]
    case .member(let base, let name):
      name.isComponent(first: base == .current)
        ? base.conditionalPaths?.map { $0.member(name.text) } : nil
    case .element(let base, .first): base.conditionalPaths(toElement: 0)
    case .element(let base, .number(let number)):
      number.constant?.intValue.flatMap { base.conditionalPaths(toElement: $0) }
    default: nil
    }
  }

  private func conditionalPaths(toElement index: Int64) -> [ConditionalPath]? {
    guard let paths = conditionalPaths, paths.count == 1, self != .current else { return nil }
    return paths[0].toFirstArray?.map { first in
      first.rest.reduce(first.path.element(index)) { $0.member($1) }
    }
  }

  /// The paths to the array whose elements the collection has that this leads to.
  var pathsToCount: [ConditionalPath]? {
    guard let paths = conditionalPaths, paths.count == 1, self != .current else { return nil }
    return paths[0].toFirstArray?.map(\.path)
  }
}

extension [ConditionalPath] {
  /// A predicate that holds where one does at the end of the path that an entity has; nil if it has no form.
  func predicate(_ atEnd: (Path) -> Predicate?) -> Predicate? {
    var parts: [Predicate] = []
    for one in self {
      guard let predicate = atEnd(one.path) else { return nil }
      parts.append(.all(one.conditions + [predicate]))
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
