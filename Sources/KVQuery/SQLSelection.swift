/// A query as parts of an SQL statement, for a table with the columns `n` (INTEGER PRIMARY KEY, the order of
/// storage), `id` (TEXT, unique) and `body` (the entity as text).
///
/// Ids are selected by the index of `id`; everything else is evaluated natively, by two functions that
/// KVSQLite registers: `kv_match(body, ?)` gives 1 or 0, `kv_sort_key(body, ?)` a blob that sorts bytewise.
package struct SQLSelection: Sendable {
  package enum Parameter: Sendable {
    case text(String)
    case matcher(Matcher)
    case sorter(Sorter)
  }

  /// For `WHERE`; `1` for everything.
  package private(set) var condition = "1"
  /// For `ORDER BY`.
  package private(set) var order = "n"
  /// The values of the anonymous parameters (`?`) of `condition`.
  package private(set) var conditionParameters: [Parameter] = []
  /// The values of the anonymous parameters of `order`, which comes behind the condition.
  package private(set) var orderParameters: [Parameter] = []

  /// All parameters, when both parts are used.
  package var parameters: [Parameter] { conditionParameters + orderParameters }

  package init(_ query: Query) {
    if let ids = query.ids, ids.count <= SQLSelection.mostIds {
      let places = ids.map { _ in "?" }.joined(separator: ",")
      condition = ids.count == 1 ? "id=?" : "id IN (\(places))"
      conditionParameters = ids.map { .text($0) }
    } else if let matcher = query.matcher {
      condition = "kv_match(body,?)"
      conditionParameters = [.matcher(matcher)]
    }
    guard let sorter = query.sorter else { return }
    order = "kv_sort_key(body,?),id"
    orderParameters = [.sorter(sorter)]
  }

  /// More ids than this would make too long a statement.
  private static let mostIds = 500
}
