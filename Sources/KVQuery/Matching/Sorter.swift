internal import KVJSON

/// An order, prepared to be applied to many entities. Immutable; safe from any thread.
///
/// As MongoDB orders: null and missing first, then numbers, strings (by code point), objects, arrays,
/// booleans; an array counts as its smallest element, descending as its largest.
package final class Sorter: Sendable {
  private let keys: [Query.SortKey]
  /// Ordered by the distance from a place instead.
  private let nearest: (path: Path, center: GeoPoint)?

  package init(_ keys: [Query.SortKey]) {
    self.keys = keys
    nearest = nil
  }

  init(nearest: (path: Path, center: GeoPoint)) {
    keys = []
    self.nearest = nearest
  }

  /// Bytes that sort as the entities do. Entities that the order leaves equal have equal keys: compare
  /// their keys then.
  package func key(of entity: UnsafeRawBufferPointer) -> [UInt8] {
    let scanner = ByteScanner(entity)
    let start = scanner.skipSpace(0)
    let isObject = start < scanner.end && scanner.base[start] == UInt8(ascii: "{")
    let root = isObject ? RawValue(scanner, start..<scanner.end) : nil
    var out: [UInt8] = []
    out.reserveCapacity(32)
    if let nearest {
      ValueEncoding.append(.double(Sorter.distance(root, nearest)), to: &out)
    }
    for key in keys {
      let part = Sorter.extreme(of: root, at: key.path.components[...], smallest: key.ascending)
      if key.ascending {
        out.append(contentsOf: part)
      } else {
        for byte in part { out.append(~byte) }
      }
    }
    return out
  }

  /// The angle to the nearest place at the path; infinite without one.
  private static func distance(
    _ root: RawValue?, _ nearest: (path: Path, center: GeoPoint)
  ) -> Double {
    var smallest = Double.infinity
    _ = try? RawValue.any(root, at: nearest.path.components[...], expanding: true) { value in
      if let point = value.flatMap({ GeoPoint($0) }) {
        smallest = min(smallest, nearest.center.angle(to: point))
      }
      return false
    }
    return smallest
  }

  package func key(of entity: [UInt8]) -> [UInt8] {
    entity.withUnsafeBytes { key(of: $0) }
  }

  /// The encoding of the smallest or largest value at a path.
  private static func extreme(
    of root: RawValue?, at path: RawValue.Components, smallest: Bool
  ) -> [UInt8] {
    var best: [UInt8]?
    RawValue.visit(root, at: path) { found in
      var encoded: [UInt8] = []
      switch found {
      case .value(let value): ValueEncoding.append(value, to: &encoded)
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
    guard sort.isEmpty else { return Sorter(sort) }
    return filter.nearest.map { Sorter(nearest: $0) }
  }
}
