internal import KVJSON

/// A grouping that an ordered index answers alone: its first columns are the keys, the next one has the numbers.
///
/// Only where that gives exactly what looking at each entity gives. SQL adds integers in another order than the
/// entities have, and an index does not tell 2 from 2.0: so the keys have to be texts, the numbers integers, and
/// the sums small enough for a double. What a row shows to be otherwise is left to the other way.
package struct IndexedGrouping: Sendable {
  /// Gives rows for `add(_:to:)`; no parameters.
  package let sql: String
  private let keys: Int
  private let hasNumbers: Bool

  /// Nil if no index is made for it, or not all entities are asked for.
  package init?(_ grouping: Grouping, _ query: Query, _ indexes: [UsableIndex]) {
    guard query.filter == .everything, !grouping.keys.isEmpty, grouping.paths.count <= 1 else {
      return nil
    }
    let wanted = grouping.keys + grouping.paths
    let usable = indexes.filter { index in
      guard case .ordered(let keys) = index.spec.kind, index.shape == .plain else { return false }
      return keys.prefix(wanted.count).map(\.path) == wanted
    }
    let keys = grouping.keys.count
    (self.keys, hasNumbers) = (keys, !grouping.paths.isEmpty)
    if let index = usable.first(where: { $0.spec.hasTotals && $0.spec.paths.count == keys + 1 }) {
      sql = IndexedGrouping.totals(index, keys, hasNumbers)
    } else if let index = usable.first {
      sql = IndexedGrouping.sums(index.table, keys, hasNumbers)
    } else {
      return nil
    }
  }

  /// The sum in one pass over the index; the least and the greatest by a look at each end of a group.
  private static func sums(_ table: String, _ keys: Int, _ hasNumbers: Bool) -> String {
    let list = columns(keys)
    guard hasNumbers else { return "SELECT \(list),count(*) FROM \(table) GROUP BY \(list)" }
    let sums = "SELECT \(list),count(*) AS n,sum(k\(keys)) AS s FROM \(table) GROUP BY \(list)"
    return "SELECT \(list),n,s,\(ends(table, keys)) FROM (\(sums)) AS g"
  }

  /// A row for each group. A sum is none where not all that was added are integers.
  private static func totals(_ index: UsableIndex, _ keys: Int, _ hasNumbers: Bool) -> String {
    let list = columns(keys)
    let numbers = ",CASE integers WHEN n THEN s END,\(ends(index.table, keys))"
    return "SELECT \(list),n\(hasNumbers ? numbers : "") FROM \(index.totals) AS g"
  }

  private static func columns(_ keys: Int) -> String {
    (0..<keys).map { "k\($0)" }.joined(separator: ",")
  }

  /// The least and the greatest number of the group `g`.
  private static func ends(_ table: String, _ keys: Int) -> String {
    let isGroup = (0..<keys).map { "i.k\($0)=g.k\($0)" }.joined(separator: " AND ")
    return ["ASC", "DESC"].map { order in
      "(SELECT k\(keys) FROM \(table) AS i WHERE \(isGroup) ORDER BY k\(keys) \(order) LIMIT 1)"
    }.joined(separator: ",")
  }

  /// How many columns a row has.
  package var columns: Int { keys + (hasNumbers ? 4 : 1) }

  /// Adds the group of a row; false if the index can not tell for certain.
  package func add(_ row: [IndexValue], to groups: inout Groups) -> Bool {
    var key: [JSONValue] = []
    for value in row.prefix(keys) {
      guard case .text(let bytes) = value else { return false }
      key.append(.string(String(decoding: bytes, as: UTF8.self)))
    }
    guard row.count == columns, case .int(let count) = row[keys] else { return false }
    guard hasNumbers else {
      groups.add(key, count: count, nil)
      return true
    }
    guard case .int(let sum) = row[keys + 1], case .int(let least) = row[keys + 2],
      case .int(let greatest) = row[keys + 3],
      Double(max(least.magnitude, greatest.magnitude)) * Double(count) < 0x1p53
    else { return false }
    groups.add(key, count: count, Tally(count: count, sum: sum, least, greatest))
    return true
  }
}
