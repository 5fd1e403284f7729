package import KVCollation
package import KVJSON

/// A condition on an entity: the tree of every query, whatever it was written in.
package indirect enum Predicate: Sendable, Equatable {
  /// Every entity.
  case everything
  /// No entity.
  case nothing
  /// All parts hold. At least one.
  case and([Predicate])
  /// Holds if some part does. Has at least one part.
  case or([Predicate])
  /// No part holds. At least one.
  case nor([Predicate])
  /// All tests of what is at a path hold, each on its own.
  case field(Path, [Test])
  /// The texts of the entity, wherever they are, have these words.
  case text(TextSearch)
  /// A comparison that MongoDB's language has no form for. Decided locally.
  case comparison(Comparison)

  /// The conjunction of these parts, without those that are always true.
  static func all(_ parts: [Predicate]) -> Predicate {
    let kept = parts.filter { $0 != .everything }
    if kept.contains(.nothing) { return .nothing }
    return kept.isEmpty ? .everything : kept.count == 1 ? kept[0] : .and(kept)
  }

  /// Returns the disjunction, without parts that say nothing.
  static func any(_ parts: [Predicate]) -> Predicate {
    let kept = parts.filter { $0 != .nothing }
    if kept.contains(.everything) { return .everything }
    return kept.isEmpty ? .nothing : kept.count == 1 ? kept[0] : .or(kept)
  }

  /// A predicate that holds where both do.
  package func and(_ other: Predicate) -> Predicate {
    switch (self, other) {
    case (.everything, _): other
    case (_, .everything): self
    default: .and([self, other])
    }
  }

  /// A predicate that holds where this one does not.
  package var negated: Predicate {
    switch self {
    case .everything: .nothing
    case .nothing: .everything
    case .nor(let parts) where parts.count == 1: parts[0]
    default: .nor([self])
    }
  }

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

  /// The nearness that entities are ordered by if no other order is asked for: the point that all of them have
  /// to be near to.
  var nearest: NearestPlace? {
    switch self {
    case .field(let path, let tests):
      for case .near(let nearness) in tests {
        return NearestPlace(path: path, center: nearness.center)
      }
      return nil
    case .and(let parts):
      for part in parts { if let found = part.nearest { return found } }
      return nil
    case .everything, .nothing, .or, .nor, .text, .comparison: return nil
    }
  }
}

/// A condition on what is at a path. As MongoDB's manual has it: a condition that a scalar can meet is met
/// by an array one of whose elements meets it; comparisons hold within one type only; null stands for
/// null and for missing.
package indirect enum Test: Sendable, Equatable {
  package enum Comparison: String, Sendable {
    case less = "$lt"
    case lessOrEqual = "$lte"
    case greater = "$gt"
    case greaterOrEqual = "$gte"
  }

  case equal(JSONValue)
  case notEqual(JSONValue)
  case compare(Comparison, JSONValue)
  case isIn([JSONValue])
  case notIn([JSONValue])
  case exists(Bool)
  case type([ValueType])
  case size(Int64)
  /// Equal to, or containing, each of these.
  case all([JSONValue])
  /// Holds if each of these (`element` or `elementValue`) holds, for whichever element: `$all` of `$elemMatch`.
  case allElements([Test])
  /// Divided by `divisor` (not 0), both without their fractions, leaves `remainder`.
  case mod(divisor: Int64, remainder: Int64)
  case regex(Pattern)
  /// An array with an element (an object) that the predicate selects.
  case element(Predicate)
  /// An array with an element that passes all tests itself.
  case elementValue([Test])
  /// A place close to another.
  case near(Nearness)
  /// A place inside a region.
  case within(Region)
  /// The texts there have these words.
  case text(TextSearch)
  /// Holds if not all of these do. Has at least one test.
  case not([Test])
  /// A comparison of values with texts (`equal` to `notIn`, `all`), which are compared as a language does.
  case collated(Collation, Test)
}

/// The types that `$type` knows by name, with their numbers.
package enum ValueType: String, Sendable, CaseIterable {
  case double, string, object, array, binData, undefined, objectId, bool, date, null, regex, int,
    long
  case timestamp, decimal, minKey, maxKey, number

  /// The number; nil for `number`, which stands for several.
  package var code: Int64? {
    switch self {
    case .double: 1
    case .string: 2
    case .object: 3
    case .array: 4
    case .binData: 5
    case .undefined: 6
    case .objectId: 7
    case .bool: 8
    case .date: 9
    case .null: 10
    case .regex: 11
    case .int: 16
    case .timestamp: 17
    case .long: 18
    case .decimal: 19
    case .minKey: -1
    case .maxKey: 127
    case .number: nil
    }
  }
}
