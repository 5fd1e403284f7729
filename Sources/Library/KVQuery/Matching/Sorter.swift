internal import KVCollation
internal import KVJSON

/// An order, prepared to be applied to many entities. Immutable; safe from any thread.
///
/// As MongoDB orders: null and missing first, then numbers, strings (by code point or collation), objects, arrays,
/// booleans; an array counts as its smallest element, descending as its largest.
package final class Sorter: Sendable {
  private enum Key: Sendable {
    case member(Path, ascending: Bool, Collation?)
    case distance(NearestPlace)
    case score(TextScore)
  }

  private let keys: [Key]

  package convenience init(_ keys: [Query.SortKey]) { self.init(keys, by: .everything, .default) }

  /// `filter`: for what is computed; a key that it does not provide leaves all equal.
  init(_ keys: [Query.SortKey], by filter: Predicate, _ format: RecordFormat) {
    self.keys = keys.compactMap { key -> Key? in
      switch key.meta {
      case nil: .member(key.path, ascending: key.ascending, key.collation)
      case .textScore: .score(TextScore(searches: filter.searches, format: format))
      case .geoNearDistance: filter.nearest.map { .distance($0) }
      }
    }
  }

  init(nearest: NearestPlace) { keys = [.distance(nearest)] }

  /// Bytes that sort as the entities do. Entities that the order leaves equal have equal keys: compare
  /// their keys then.
  package func key(of entity: UnsafeRawBufferPointer) -> [UInt8] {
    let root = RawValue(entity: entity)
    var out: [UInt8] = []
    out.reserveCapacity(32)
    for key in keys {
      switch key {
      case .member(let path, let ascending, let collation):
        let part = Sorter.extreme(
          of: root, at: path.components[...], smallest: ascending, collation)
        if ascending { out += part } else { for byte in part { out.append(~byte) } }
      case .distance(let nearest):
        ValueEncoding.append(.double(nearest.angle(to: root)), to: &out)
      case .score(let score):
        ValueEncoding.append(.double(-score.score(of: root)), to: &out)
      }
    }
    return out
  }

  package func key(of entity: [UInt8]) -> [UInt8] {
    entity.withUnsafeBytes { key(of: $0) }
  }

  /// The encoding of the smallest or largest value at a path.
  private static func extreme(
    of root: RawValue?, at path: RawValue.Components, smallest: Bool, _ collation: Collation?
  ) -> [UInt8] {
    var best: [UInt8]?
    RawValue.visit(root, at: path) { found in
      var encoded: [UInt8] = []
      switch found {
      case .value(let value): ValueEncoding.append(value, to: &encoded, collation)
      case .emptyArray: encoded.append(ValueEncoding.emptyArray)
      case .missing: encoded.append(RawValue.Kind.null.rawValue)
      }
      guard let known = best else {
        best = encoded
        return
      }
      let order = ValueEncoding.compare(encoded, known)
      if smallest ? order < 0 : order > 0 { best = encoded }
    }
    return best ?? []
  }
}

extension Query {
  /// The sorter of the query; nil: the order of storage. Without an order of its own, a query for what is
  /// near a place is ordered by the distance.
  package var sorter: Sorter? {
    guard sort.isEmpty else { return Sorter(sort, by: filter, format) }
    return filter.nearest.map { Sorter(nearest: $0) }
  }
}
