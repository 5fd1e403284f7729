internal import KVBase
internal import KVJSON
internal import KVQuery

/// Queries that name more ids than one request may have, whose address has room for some hundred: the ids are asked for
/// in parts, and what else the filter asks for is decided here.
extension LocalFilteringRemote {
  /// The ids that a query names, each once, if they are too many for one request.
  func longIDList(of query: Query, in collection: String) -> Query.NamedIDs? {
    guard var named = query.of(format(of: collection)).namedIDs,
      named.ids.count > limits.idsPerQuery
    else { return nil }
    var seen: Set<RecordID> = []
    named.ids = named.ids.filter { seen.insert(RecordID($0)).inserted }
    return named
  }

  /// Queries for these ids alone, each of which is one request.
  func queries(for ids: [String], in collection: String) -> [Query] {
    let format = format(of: collection)
    return ids.chunks(of: limits.idsPerQuery).map { Query(.keys(Array($0), format)).of(format) }
  }

  /// Hands over what a query selects that names these ids, in any order. Memory: one batch.
  func find(
    _ named: Query.NamedIDs, of query: Query, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    let matcher = named.isExact ? nil : Matcher(query.filter, of: format(of: collection))
    var whole: ReadAnswer?
    for some in named.ids.chunks(of: limits.idsPerQuery) {
      let answer = try find(ids: Array(some), in: collection, call: call) {
        (batch) throws(StoreError) in
        try receive(
          matcher.map { (matcher) throws(StoreError) in try batch.matching(matcher) } ?? batch)
      }
      whole.append(answer)
    }
    return whole ?? ReadAnswer()
  }

  func count(
    _ ids: [String], in collection: String, call: Call
  ) throws(StoreError) -> CountAnswer {
    var sum = CountAnswer(count: 0, startedAt: nil)
    for query in queries(for: ids, in: collection) {
      let answer = try count(query, in: collection, call: call)
      sum.count += answer.count
      sum.startedAt = sum.startedAt ?? answer.startedAt
    }
    return sum
  }

  func remove(_ ids: [String], in collection: String, call: Call) throws(StoreError) -> Int {
    var removed = 0
    for query in queries(for: ids, in: collection) {
      removed += try remove(query, in: collection, call: call)
    }
    return removed
  }

  /// Reads a page of as many ids as it is to have records; its token is the index of the first.
  func page(
    at token: PageToken, of query: Query, naming named: Query.NamedIDs, size: Int,
    in collection: String, call: Call, receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> PageAnswer {
    let rest = named.ids.dropFirst(max(0, Int(token.text) ?? 0))
    let some = rest.prefix(max(1, size))
    var count = 0
    var page = named
    page.ids = Array(some)
    let answer = try find(page, of: query, in: collection, call: call) {
      (batch) throws(StoreError) in
      count += batch.count
      try receive(batch)
    }
    let next = some.count < rest.count ? PageToken(String(some.endIndex)) : nil
    return PageAnswer(count: count, next: next, answer: answer)
  }
}
