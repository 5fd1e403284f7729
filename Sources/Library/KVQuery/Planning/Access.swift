internal import KVBase

/// An index as the planner sees it.
package struct UsableIndex: Sendable, Equatable {
  package let spec: IndexSpec
  /// Its table, with the columns `k0`, `k1`… of the keys and `n`, ordered by all of them; safe in SQL.
  package let table: String
  package let shape: IndexShape

  package init(_ spec: IndexSpec, table: String, shape: IndexShape) {
    self.spec = spec
    self.table = table
    self.shape = shape
  }

  /// The table of its totals, with the columns `k0`… of all keys but the last, `n`, `integers` and `s`.
  var totals: String { UsableIndex.totals(of: table) }

  package static func totals(of table: String) -> String { "\(table)_totals" }
}

/// A way to find the rows that a filter may select without looking at all of them.
indirect enum Access: Sendable {
  case range(RangeAccess)
  /// The rows that an index of words or points finds.
  case table(TableAccess)
  /// The rows that any of these finds.
  case union([Access])

  /// Whether all that is found is selected. Else each has to be looked at.
  var isExact: Bool {
    switch self {
    case .range(let range): range.isExact
    case .table: false
    case .union(let parts): parts.allSatisfy(\.isExact)
    }
  }

  /// Its estimated selectivity: a rule of thumb, because nothing is known about the values.
  var score: Int {
    switch self {
    case .range(let range): range.score
    case .table(let table): table.score
    case .union(let parts): (parts.map(\.score).min() ?? 0) - 10
    }
  }

  /// Whether SQLite can compile a statement of this: it takes 500 SELECTs in a compound one, and 32,766 parameters.
  var fitsIntoStatement: Bool { size.selects <= 400 && size.parameters <= 30_000 }

  private var size: (selects: Int, parameters: Int) {
    switch self {
    case .range(let range): (1, range.parameters.count)
    case .table(let table): (1, table.parameters.count)
    case .union(let parts):
      parts.map(\.size).reduce((0, 0)) { ($0.0 + $1.selects, $0.1 + $1.parameters) }
    }
  }

  /// A SELECT of the row numbers, and its parameters.
  var rows: (sql: String, parameters: [SQLSelection.Parameter]) {
    switch self {
    case .range(let range):
      return ("SELECT n FROM \(range.index.table) WHERE \(range.condition)", range.parameters)
    case .table(let table):
      return (
        "SELECT \(table.row) AS n FROM \(table.index.table) WHERE \(table.condition)",
        table.parameters
      )
    case .union(let parts):
      let all = parts.map(\.rows)
      return (all.map(\.sql).joined(separator: " UNION "), all.flatMap(\.parameters))
    }
  }

  /// The names of the indexes, each once.
  var names: [String] {
    switch self {
    case .range(let range): return [range.index.spec.name]
    case .table(let table): return [table.index.spec.name]
    case .union(let parts):
      var seen: Set<RecordID> = []
      return parts.flatMap(\.names).filter { seen.insert(RecordID($0)).inserted }
    }
  }
}

/// A part of an index of words or points. The rows it finds have to be checked.
struct TableAccess: Sendable {
  let index: UsableIndex
  /// The column with the row number.
  let row: String
  let condition: String
  let parameters: [SQLSelection.Parameter]
  let score: Int

  /// FTS5's table; nil if it cannot tell what may match.
  static func words(_ search: TextSearch, _ index: UsableIndex) -> Access? {
    let language = index.spec.language
    let hasStems = language != .none && language == search.options.language
    guard let expression = search.expression(stems: hasStems) else { return nil }
    return .table(
      TableAccess(
        index: index, row: "rowid", condition: "\(index.table) MATCH ?",
        parameters: [.text(expression)], score: 70))
  }

  /// R*Tree's table.
  static func boxes(_ boxes: [MapBox], _ index: UsableIndex) -> Access {
    let parts = boxes.map { box in
      Access.table(
        TableAccess(
          index: index, row: "n", condition: "w<=? AND e>=? AND s<=? AND t>=?",
          parameters: [box.east, box.west, box.north, box.south].map { .value(.double($0)) },
          score: 60))
    }
    return parts.count == 1 ? parts[0] : .union(parts)
  }
}

/// A part of an ordered index: conditions on its first columns.
struct RangeAccess: Sendable {
  let index: UsableIndex
  let keys: [IndexSpec.Key]
  /// The conditions of the columns, from the first on without gaps.
  let conditions: [[KeyCondition]]
  let isExact: Bool

  /// The number of columns, from the first on, that have one value only.
  var equalColumns: Int {
    conditions.prefix { $0.contains { $0.form == .equality } }.count
  }

  var score: Int {
    // Where all columns have one value, the rows come as they are stored.
    conditions.reduce(equalColumns == keys.count ? 1 : 0) { score, column in
      if column.contains(where: { $0.form == .equality }) { return score + 100 }
      if column.contains(where: { $0.form == .membership }) { return score + 80 }
      return score + (column.count > 1 ? 50 : 40)
    }
  }

  /// The condition for `WHERE`. Columns of an index have names of their own: `k0`, `k1`…
  var condition: String {
    let parts = conditions.enumerated().flatMap { index, column in
      column.map { $0.sql(on: "k\(index)") }
    }
    return parts.isEmpty ? "1" : parts.joined(separator: " AND ")
  }

  var parameters: [SQLSelection.Parameter] {
    conditions.flatMap { $0.flatMap(\.bindings) }
  }

  /// The member that a sort key is of; nil if the index has another order of texts.
  private func member(of key: Query.SortKey) -> Path? {
    key.indexedMember(in: index.spec.collation)
  }

  /// Sort keys as columns of the index; nil if it has not all of them, or entities come more than once.
  func order(_ sort: [Query.SortKey]) -> [(column: String, ascending: Bool)]? {
    guard index.shape == .plain else { return nil }
    var terms: [(column: String, ascending: Bool)] = []
    for key in sort {
      guard let index = keys.firstIndex(where: { $0.path == member(of: key) }) else { return nil }
      terms.append(("k\(index)", key.ascending))
    }
    return terms
  }

  /// Whether its rows come in the order of sort keys by themselves.
  func isOrdered(by sort: [Query.SortKey]) -> Bool {
    guard index.shape == .plain else { return false }
    var columns = keys.dropFirst(equalColumns)[...]
    var isForward: Bool?
    // What has one value only may stand anywhere in the order.
    let fixed = keys.prefix(equalColumns)
    for key in sort where !fixed.contains(where: { $0.path == member(of: key) }) {
      guard let column = columns.popFirst(), column.path == member(of: key) else { return false }
      let forward = column.ascending == key.ascending
      guard isForward ?? forward == forward else { return false }
      isForward = forward
    }
    return true
  }
}
