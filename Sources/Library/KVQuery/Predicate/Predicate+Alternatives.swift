internal import KVJSON

extension Predicate {
  /// Alternatives in a form that takes less to evaluate: what a path may be equal to, alternative by alternative,
  /// becomes one list of values, which is looked up instead of gone through.
  static func merged(alternatives: [Predicate]) -> [Predicate] {
    var merged: [Predicate] = []
    var values: [[JSONValue]] = []
    var indexes: [Path: Int] = [:]
    // Those that stand for several alternatives.
    var joined: Set<Int> = []
    for part in alternatives.flatMap(\.alternatives) {
      guard let (path, accepted) = part.acceptedValues else {
        merged.append(part)
        values.append([])
        continue
      }
      if let index = indexes[path] {
        values[index] += accepted
        joined.insert(index)
      } else {
        indexes[path] = merged.count
        merged.append(part)
        values.append(accepted)
      }
    }
    for (path, index) in indexes where joined.contains(index) {
      merged[index] = .field(path, [.isIn(values[index])])
    }
    return merged
  }

  private var alternatives: [Predicate] {
    if case .or(let parts) = self { parts.flatMap(\.alternatives) } else { [self] }
  }

  /// The only path that is looked at and the values one of which has to be there, if this is all that is asked.
  private var acceptedValues: (Path, [JSONValue])? {
    guard case .field(let path, let tests) = self, tests.count == 1 else { return nil }
    switch tests[0] {
    case .equal(let value): return (path, [value])
    case .isIn(let values): return (path, values)
    default: return nil
    }
  }
}
