internal import KVBase
internal import KVJSON

extension Expression {
  /// The value of an expression that depends on no entity; nil if it depends on one.
  var constant: JSONValue? {
    switch self {
    case .constant(let value): return value
    case .list(let elements):
      let values = elements.compactMap(\.constant)
      return values.count == elements.count ? .array(values) : nil
    case .function(let function, let arguments):
      let values = arguments.compactMap(\.constant)
      return values.count == arguments.count ? function.apply(values) : nil
    case .current, .variable, .member, .element, .aggregate, .subquery, .ternary: return nil
    }
  }

  /// The path, as MongoDB writes it, of an expression that only walks down from the entity, the same way in every
  /// entity.
  var path: Path? {
    guard let conditionalPaths, conditionalPaths.count == 1 else { return nil }
    return conditionalPaths[0].path
  }

  /// The backend's name of the member this ends in, if it is at the top of the entity.
  var lastName: String? {
    switch self {
    case .current, .variable: nil
    case .member(.current, let name): name.text
    case .member(.variable, let name): name.text
    default: ""
    }
  }
}
