internal import KVJSON
internal import KVQuery

/// How a query is answered, for people who wonder why it takes so long.
struct QueryPlan: Sendable {
  enum Access: String { case collection, ids, index }
  /// `exact`: all that is found is selected; `matched`: each entity that is found is matched.
  enum Filter: String { case none, exact, matched }
  /// `sorted`: what matches is sorted by its keys.
  enum Order: String { case storage, id, index, sorted }

  let access: Access
  let filter: Filter
  let order: Order
  let indexes: [String]

  /// `use`: how the indexes of the collection answer the query.
  init(_ query: Query, _ use: IndexUse?) {
    let wanted = query.walk?.query ?? query
    indexes = use?.names ?? []
    if let use {
      access = .index
      filter = wanted.filter == .everything ? .none : use.isExact ? .exact : .matched
    } else {
      access = wanted.namedIDs == nil ? .collection : .ids
      filter =
        wanted.filter == .everything
        ? .none : wanted.namedIDs?.isExact == true ? .exact : .matched
    }
    order =
      query.walk != nil ? .id : query.sorter == nil ? .storage : use?.walk != nil ? .index : .sorted
  }

  var json: JSONObject {
    [
      "access": .string(access.rawValue), "indexes": .array(indexes.map { .string($0) }),
      "filter": .string(filter.rawValue), "order": .string(order.rawValue),
    ]
  }
}

extension Query.Walk {
  /// The query for what is looked at along the walk, in whatever order.
  var query: Query { Query(rest) }
}
