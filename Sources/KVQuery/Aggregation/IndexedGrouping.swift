internal import KVJSON

/// A grouping that an ordered index answers alone: its first columns are the keys, the next one has the numbers.
///
/// Only where that gives exactly what looking at each entity gives. SQL adds integers in another order than the
/// entities have, and an index does not tell 2 from 2.0: so the keys have to be texts, the numbers integers, and
/// the sums small enough for a double. What a row shows to be otherwise is left to the other way.
package struct IndexedGrouping: Sendable {
  /// Gives rows for `add(_:to:)`; no parameters.
  package let sql: String
  /// The same from one key to the next, several times as fast while there are few of them: nil, or at most
  /// `mostLeaps + 1` rows.
  package let leaping: String?
  package static let mostLeaps = 1_000
  private let keys: Int
  private let hasNumbers: Bool

  /// Nil if no index is made for it, or not all entities are asked for.
  package init?(_ grouping: Grouping, _ query: Query, _ indexes: [UsableIndex]) {
    guard query.filter == .everything, !grouping.keys.isEmpty, grouping.paths.count <= 1 else {
      return nil
    }
    let wanted = grouping.keys + grouping.paths
    let index = indexes.first { index in
      guard case .ordered(let keys) = index.spec.kind, index.shape == .plain else { return false }
      return keys.prefix(wanted.count).map(\.path) == wanted
    }
    guard let index else { return nil }
    keys = grouping.keys.count
    hasNumbers = !grouping.paths.isEmpty
    sql = IndexedGrouping.sql(index.table, keys, hasNumbers)
    leaping = keys == 1 ? IndexedGrouping.leaping(index.table, hasNumbers) : nil
  }

  /// The sum in one pass over the index; the least and the greatest by a look at each end of a group.
  private static func sql(_ table: String, _ keys: Int, _ hasNumbers: Bool) -> String {
    let columns = (0..<keys).map { "k\($0)" }
    let list = columns.joined(separator: ",")
    guard hasNumbers else { return "SELECT \(list),count(*) FROM \(table) GROUP BY \(list)" }
    let isGroup = columns.map { "i.\($0)=g.\($0)" }.joined(separator: " AND ")
    let end = { (order: String) in
      "(SELECT k\(keys) FROM \(table) AS i WHERE \(isGroup) ORDER BY k\(keys) \(order) LIMIT 1)"
    }
    return """
      SELECT \(list),n,s,\(end("ASC")),\(end("DESC")) FROM
      (SELECT \(list),count(*) AS n,sum(k\(keys)) AS s FROM \(table) GROUP BY \(list)) AS g
      """
  }

  private static func leaping(_ table: String, _ hasNumbers: Bool) -> String {
    let part = { (what: String, order: String) in
      "(SELECT \(what) FROM \(table) AS i WHERE i.k0=g.k0\(order))"
    }
    let numbers = [
      part("sum(k1)", ""), part("k1", " ORDER BY k1 LIMIT 1"),
      part("k1", " ORDER BY k1 DESC LIMIT 1"),
    ]
    let columns = ["k0", part("count(*)", "")] + (hasNumbers ? numbers : [])
    return """
      WITH RECURSIVE g(k0) AS (SELECT min(k0) FROM \(table) UNION ALL
      SELECT (SELECT min(i.k0) FROM \(table) AS i WHERE i.k0>g.k0) FROM g WHERE k0 IS NOT NULL)
      SELECT \(columns.joined(separator: ",")) FROM g WHERE k0 IS NOT NULL LIMIT \(mostLeaps + 1)
      """
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
