package import KVJSON

extension LegacySDKFilter {
  /// The filter in MongoDB's language, from the format read once more; nil if nothing of it can be said.
  var json: JSONObject? {
    guard let values = try? FormatArguments(parsing: arguments),
      var parser = try? FormatParser(format, values, keys: keys, now: now, lowering: false),
      let written = try? parser.parse().renamed(by: renaming)
    else { return nil }
    guard restriction != .everything else { return written.original }
    return Predicate.merged([written.original, restriction.json])
  }
}

extension Query {
  /// The filter as the original client would have sent it; as we send it if the query was not made from a
  /// format, or if nothing of it can be sent at all.
  package var originalFilter: JSONObject {
    guard isRemote, let json = original?.json else { return filter.json }
    return json
  }
}

extension Predicate {
  fileprivate var original: JSONObject {
    switch self {
    case .everything, .nothing, .field, .text: json
    case .and(let parts): Predicate.merged(parts.map(\.original))
    case .or(let parts): ["$or": .array(parts.map { .object($0.original) })]
    case .nor(let parts): Predicate.negated(parts)
    case .comparison(let comparison): comparison.original
    }
  }

  /// `$not` before anything, which MongoDB knows only before operators.
  private static func negated(_ parts: [Predicate]) -> JSONObject {
    if parts.count == 1, case .comparison(let comparison) = parts[0],
      comparison.operator.isNegatedInside, let (path, test) = comparison.originalTest
    {
      return [path.text: ["$not": .object(test)]]
    }
    return ["$not": .array(parts.map { .object($0.original) })]
  }
}

extension Comparison {
  fileprivate var original: JSONObject {
    if let turned = turned { return turned.original }
    if `operator` == .between, let path = left.path, let bounds = right.constant?.arrayValue,
      bounds.count == 2
    {
      return [
        "$and": [[path.text: ["$gte": bounds[0]]], [path.text: ["$lte": bounds[1]]]]
      ]
    }
    guard let (path, test) = originalTest else { return corrected.json }
    if `operator` == .equal, let value = test["$eq"] { return [path.text: value] }
    return [path.text: .object(test)]
  }

  /// The comparison with the constant on the right side.
  private var turned: Comparison? {
    guard left.constant != nil, let mirrored = `operator`.mirrored else { return nil }
    return try? Comparison(right, mirrored, right: left.folded, options: options)
  }

  /// The filter that we send.
  private var corrected: Predicate {
    (try? Lowering.comparison(
      left, `operator`, right: right, options: options, quantifier: quantifier))
      ?? .comparison(self)
  }

  /// The operator for a path and a constant. Quantifiers and `[cd]` are forgotten.
  fileprivate var originalTest: (path: Path, test: JSONObject)? {
    guard let value = right.constant else { return nil }
    if case .aggregate(.count, let counted) = left, let path = counted.path {
      return (path, ["$size": value])
    }
    guard let path = left.path, !left.hasIndexes else { return nil }
    if let region = Region(argument: value), `operator` == .equal {
      return (path, ["$geoWithin": .object(region.json)])
    }
    return originalOperator(value).map { (path, $0) }
  }

  private func originalOperator(_ value: JSONValue) -> JSONObject? {
    switch `operator` {
    case .equal: return ["$eq": value]
    case .notEqual: return ["$ne": value]
    case .less: return ["$lt": value]
    case .lessOrEqual: return ["$lte": value]
    case .greater: return ["$gt": value]
    case .greaterOrEqual: return ["$gte": value]
    case .isIn: return ["$in": .array(value.arrayValue ?? [value])]
    case .between: return nil
    case .beginsWith: return value.stringValue.map { ["$regex": .string("^\($0)")] }
    case .contains: return value.stringValue.map { ["$regex": .string(".*\($0).*")] }
    case .endsWith: return value.stringValue.map { ["$regex": .string(".*\($0)")] }
    case .like: return value.stringValue.map { ["$regex": .string("/(\($0))/")] }
    case .matches: return value.stringValue.map { ["$regex": .string($0)] }
    }
  }
}

extension Comparison.Operator {
  /// Whether the original client puts a `$not` before the operator, and not before the whole.
  fileprivate var isNegatedInside: Bool {
    switch self {
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .isIn, .matches: true
    case .between, .beginsWith, .endsWith, .contains, .like: false
    }
  }
}

extension Expression {
  /// Whether it leads through `[n]`, which the original client cannot send.
  fileprivate var hasIndexes: Bool {
    switch self {
    case .member(let base, _): base.hasIndexes
    case .element: true
    default: false
    }
  }
}
