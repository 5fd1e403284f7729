internal import KVJSON

/// A grouping that an ordered index answers alone: its first columns are the keys, the next one has the numbers.
///
/// Only where that gives exactly what looking at each entity gives: a key that is an object is kept in a form that does
/// not give it back, and is left to the other way.
package struct IndexedGrouping: Sendable {
  /// The kinds of rows that `sql` returns; each begins with the keys.
  package enum Rows: Sendable {
    /// A group: how many entities it has.
    case counts
    /// A group: how many entities and numbers it has, their sum as the index keeps it, the least and the greatest one
    /// or NULL twice.
    case totals
    /// An entity: its value. Those of one group come together.
    case values
  }

  /// The statement; it has no parameters.
  package let sql: String
  package let rows: Rows
  /// The number of key columns.
  package let keys: Int
  /// The name of the index.
  package let index: String

  /// Plans a grouping by an index alone; nil if no index is made for it, or not all entities are selected.
  package init?(_ grouping: Grouping, _ query: Query, indexes: [UsableIndex]) {
    guard grouping.isIndexable(query) else { return nil }
    let wanted = grouping.keys + grouping.paths
    let usable = indexes.filter { index in
      guard case .ordered(let keys) = index.spec.kind, index.shape == .plain,
        index.spec.collation == nil
      else { return false }
      return keys.prefix(wanted.count).map(\.path) == wanted
    }
    guard let first = usable.first else { return nil }
    keys = grouping.keys.count
    let list = IndexedGrouping.columns(keys)
    let count = keys + 1
    let withTotals = usable.first { $0.spec.hasTotals && $0.spec.paths.count == count }
    index = (withTotals ?? first).spec.name
    if let index = withTotals {
      rows = .totals
      let ends = grouping.hasExtremes ? IndexedGrouping.ends(index.table, keys) : "NULL,NULL"
      sql = "SELECT \(list),n,numbers,s,\(ends) FROM \(index.totals) AS g"
    } else if grouping.paths.isEmpty {
      rows = .counts
      sql = "SELECT \(list),count(*) FROM \(first.table) GROUP BY \(list)"
    } else {
      rows = .values
      sql = "SELECT \(list),k\(keys) FROM \(first.table)"
    }
  }

  private static func columns(_ keys: Int) -> String {
    (0..<keys).map { "k\($0)" }.joined(separator: ",")
  }

  /// The least and the greatest number of the group `g`, by a look at each end of it.
  private static func ends(_ table: String, _ keys: Int) -> String {
    let isGroup = (0..<keys).map { "i.k\($0)=g.k\($0)" }.joined(separator: " AND ")
    return ["ASC", "DESC"].map { order in
      """
      (SELECT k\(keys) FROM \(table) AS i WHERE \(isGroup) AND \(IndexValue.isNumber("k\(keys)"))
        ORDER BY k\(keys) \(order) LIMIT 1)
      """
    }.joined(separator: ",")
  }

  /// Adds what a row says that is a group; false if the index can not tell for certain.
  package func add(_ row: [IndexValue], to groups: inout Groups) -> Bool {
    guard let key = key(row.prefix(keys)), case .int(let count) = row[keys] else { return false }
    guard rows == .totals else {
      groups.add(key, count: count, tally: nil)
      return true
    }
    guard case .int(let numbers) = row[keys + 1], let sum = ExactSum(kept: row[keys + 2]) else {
      return false
    }
    let tally = Tally(
      count: numbers, sum, least: Number(row[keys + 3]), greatest: Number(row[keys + 4]))
    groups.add(key, count: count, tally: tally)
    return true
  }

  /// The number of columns in a row.
  package var columns: Int {
    switch rows {
    case .counts, .values: keys + 1
    case .totals: keys + 5
    }
  }

  /// The entities of one group, as their values come.
  package struct Run: Sendable {
    package let key: [IndexValue]
    private(set) fileprivate var count: Int64 = 0
    private(set) fileprivate var tally = Tally()

    package init(_ key: [IndexValue]) { self.key = key }

    package mutating func add(_ value: IndexValue) {
      count += 1
      if let number = Number(value) { tally.add(number) }
    }
  }

  /// Adds a group; false if the index can not tell for certain.
  package func add(_ run: Run, to groups: inout Groups) -> Bool {
    guard let key = key(run.key[...]) else { return false }
    groups.add(key, count: run.count, tally: run.tally)
    return true
  }

  private func key(_ values: ArraySlice<IndexValue>) -> [JSONValue]? {
    var key: [JSONValue] = []
    for value in values {
      guard let json = value.json else { return nil }
      key.append(json)
    }
    return key
  }
}

extension Grouping {
  /// The index that would answer it alone; nil: none does.
  package func wantedIndex(_ query: Query) -> IndexSpec? {
    guard isIndexable(query), !keys.contains(where: { query.format.isReserved($0.top.text) }) else {
      return nil
    }
    let members = (keys + paths).map { IndexSpec.Key(path: $0, ascending: true) }
    return IndexSpec(automatic: members, hasTotals: !paths.isEmpty)
  }

  fileprivate func isIndexable(_ query: Query) -> Bool {
    query.filter == .everything && !keys.isEmpty && paths.count <= 1 && !isCollated
  }

  fileprivate var hasExtremes: Bool {
    members.contains { member in
      switch member.aggregate {
      case .minimum, .maximum: true
      case .count, .numbers, .sum, .average: false
      }
    }
  }
}

extension Number {
  /// The number of an index value; nil for any other value.
  fileprivate init?(_ value: IndexValue) {
    switch value {
    case .int(let number): self = .int(number)
    case .double(let number) where number != IndexValue.lowest: self = .double(number)
    case .null, .double, .text, .blob: return nil
    }
  }
}
