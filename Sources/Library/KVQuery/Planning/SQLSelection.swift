internal import KVJSON

/// A query as parts of an SQL statement, for a table with the columns `n` (INTEGER PRIMARY KEY, the order of
/// storage), `id` (TEXT, unique) and `body` (the entity as text).
///
/// Ids are selected by the index of `id`, other members by the index that `Planner` chooses. What no index
/// decides is evaluated natively, by two functions that KVSQLite registers: `kv_match(body, ?)` gives 1 or
/// 0, `kv_sort_key(body, ?)` a blob that sorts bytewise.
package struct SQLSelection: Sendable {
  package enum Parameter: Sendable {
    case text(String)
    case value(IndexValue)
    /// The value that a test compares with, by the number of the test among those of the filter's conjunction.
    case compared(IndexValue, test: Int)
    /// Where the values of a type begin or end.
    case typeEnd(IndexValue)
    /// The key of the only record that the filter may select.
    case key(String)
    case matcher(Matcher)
    case sorter(Sorter)

    /// The value, if it is one that an index holds.
    var indexValue: IndexValue? {
      switch self {
      case .value(let value), .compared(let value, _), .typeEnd(let value): value
      case .text, .key, .matcher, .sorter: nil
      }
    }
  }

  /// The source for `FROM`, when pages are read: the table, named `e`, or an index with the table after it, row by row.
  package private(set) var pageSource: String
  /// The condition for `WHERE` with `pageSource`; `1` for everything.
  package private(set) var pageCondition = "1"
  /// The terms for `ORDER BY` with `pageSource`.
  package private(set) var order = "e.n"
  /// The columns of the index whose order the rows of `pageSource` come in by themselves, except for ties; empty
  /// if they do not.
  package private(set) var walk: [(column: String, ascending: Bool)] = []
  /// That index alone, as a source for `FROM` with the same condition, if no row has to be looked at; nil: some have.
  package private(set) var walkSource: String?
  /// The values of the anonymous parameters (`?`) of `pageCondition`.
  package internal(set) var pageParameters: [Parameter] = []
  /// The values of the anonymous parameters of `order`, which comes after the condition.
  package internal(set) var orderParameters: [Parameter] = []

  /// The condition for `WHERE` with the table alone.
  package private(set) var condition = "1"
  package internal(set) var conditionParameters: [Parameter] = []

  /// Rows of an index alone that are all that is selected, each once; nil: the table has to be looked at.
  package internal(set) var covering: (sql: String, parameters: [Parameter])?
  /// Whether rows are found by their ids.
  package private(set) var isByIds = false
  /// The names of the indexes that are used.
  package private(set) var indexNames: [String] = []
  /// Whether all entities are looked at, to select some of them or to order them.
  package var isScan: Bool { isWhole && (!isExact || !orderParameters.isEmpty) }
  /// Whether no index says which entities may be selected.
  package var isWhole: Bool { !isByIds && indexNames.isEmpty }
  /// Whether rows come in the order in which they are stored.
  package var isInOrderOfStorage: Bool { order == "e.n" }
  /// Whether entities are selected without being looked at.
  package private(set) var isExact = true

  package init(_ query: Query, table: String, indexes: [UsableIndex] = []) {
    pageSource = "\(table) AS e"
    orderNatively(query)
    let named = query.namedIDs
    if let named, named.ids.count <= SQLSelection.fewIDs {
      select(named, query)
    } else if let access = Planner(query, indexes).choose() {
      select(access, query)
      join(access, query, table: table)
      return
    } else if let named {
      select(named, query)
    } else {
      selectNatively(query)
    }
    (pageCondition, pageParameters) = (condition, conditionParameters)
  }

  /// The number of ids above which an index of something else may leave fewer entities.
  private static let fewIDs = 500

  private mutating func orderNatively(_ query: Query) {
    guard let sorter = query.sorter else { return }
    if let byID = query.orderOfTextIDs {
      order = SQLSelection.terms([("id", byID.ascending)])
    } else {
      order = "kv_sort_key(body,?),id"
      orderParameters = [.sorter(sorter)]
    }
  }

  /// The rows of ids; where more is asked, they are looked at. All ids are one parameter, because SQLite takes a
  /// limited number of these.
  private mutating func select(_ named: Query.NamedIDs, _ query: Query) {
    isByIds = true
    if named.ids.count == 1 {
      condition = "id=?"
      conditionParameters = [.key(named.ids[0])]
    } else {
      condition = "id IN (SELECT value FROM json_each(?))"
      conditionParameters = [.text(JSONValue.array(named.ids.map { .string($0) }).text)]
    }
    if !named.isExact { selectNatively(query) }
  }

  /// Looks at the rows that are selected so far.
  private mutating func selectNatively(_ query: Query) {
    guard let matcher = query.matcher else { return }
    condition =
      condition == "1" ? "kv_match(body,?,checksum)" : "\(condition) AND kv_match(body,?,checksum)"
    conditionParameters.append(.matcher(matcher))
    isExact = false
  }

  /// The rows that an index finds; those that it is not sure of are looked at.
  private mutating func select(_ access: Access, _ query: Query) {
    let rows = access.rows
    indexNames = access.names
    condition = "n IN (\(rows.sql))"
    conditionParameters = rows.parameters
    if access.isExact {
      covering = ("SELECT DISTINCT n FROM (\(rows.sql))", rows.parameters)
      if case .range(let range) = access, range.index.shape == .plain { covering = rows }
    } else {
      selectNatively(query)
    }
    (pageCondition, pageParameters) = (condition, conditionParameters)
  }

  /// The terms for `ORDER BY`.
  package static func terms(_ columns: [(column: String, ascending: Bool)]) -> String {
    columns.map { $0.ascending ? $0.column : "\($0.column) DESC" }.joined(separator: ",")
  }

  /// Walks the index instead, where its rows come in the wanted order or can be brought into it.
  private mutating func join(_ access: Access, _ query: Query, table: String) {
    guard case .range(let range) = access, range.index.shape == .plain else { return }
    if let byColumns = range.order(query.sort), !query.sort.isEmpty {
      order = SQLSelection.terms(byColumns) + ",id"
      if range.isOrdered(by: query.sort) {
        walk = byColumns
        if isExact { walkSource = "\(range.index.table) AS x" }
      }
    } else if query.sorter == nil, range.equalColumns == range.keys.count {
      // Entities of one key follow each other as they are stored.
      order = "x.n"
    } else {
      return
    }
    orderParameters = []
    pageSource = "\(range.index.table) AS x CROSS JOIN \(table) AS e ON e.n=x.n"
    pageCondition = range.condition
    pageParameters = range.parameters
    guard !isExact, let matcher = query.matcher else { return }
    pageCondition += " AND kv_match(body,?,checksum)"
    pageParameters.append(.matcher(matcher))
  }
}
