internal import KVJSON
internal import KVQuery

/// The rows of groups as a query with a condition, an order and a page shows them.
struct GroupRows {
  let having: Matcher?
  let query: Query

  init(having: Predicate?, _ query: Query) {
    self.having = having.map { Matcher($0) }
    self.query = query
  }

  /// The rows as JSON texts. `groups` are ordered by their keys, and so are rows that the query's order leaves equal.
  func rows(of groups: [JSONObject]) throws(StoreError) -> [[UInt8]] {
    let sorter = Sorter(query.sort)
    var rows: [(text: [UInt8], key: [UInt8])] = []
    for group in groups {
      let nested = JSONValue.object(Self.nested(group)).bytes
      guard try matches(nested) else { continue }
      rows.append((JSONValue.object(group).bytes, sorter.key(of: nested)))
    }
    let order = rows.indices.sorted { left, right in
      let (left, right) = ((rows[left].key, left), (rows[right].key, right))
      return left.0 == right.0 ? left.1 < right.1 : left.0.lexicographicallyPrecedes(right.0)
    }
    return order.dropFirst(query.skip).prefix(query.limit ?? .max).map { rows[$0].text }
  }

  private func matches(_ row: [UInt8]) throws(StoreError) -> Bool {
    do throws(QueryError) { return try having?.matches(row) ?? true } catch {
      throw StoreError(error)
    }
  }

  /// The row with objects in place of dotted names, as paths lead through it.
  private static func nested(_ row: JSONObject) -> JSONObject {
    guard row.members.contains(where: { $0.name.utf8.contains(UInt8(ascii: ".")) }) else {
      return row
    }
    var nested = JSONObject()
    for member in row.members {
      insert(
        member.value, at: member.name.split(separator: ".").map(String.init)[...], into: &nested)
    }
    return nested
  }

  private static func insert(
    _ value: JSONValue, at path: ArraySlice<String>, into object: inout JSONObject
  ) {
    guard let name = path.first else { return }
    guard path.count > 1 else {
      object[name] = value
      return
    }
    var inner = object[name]?.objectValue ?? JSONObject()
    insert(value, at: path.dropFirst(), into: &inner)
    object[name] = .object(inner)
  }
}
