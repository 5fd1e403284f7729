internal import KVBase
internal import KVJSON
package import KVQuery

/// A backend that is read page by page, each of which says where the next one begins. What a query says beyond its filter
/// is decided here, unless the backend evaluates queries itself.
package protocol PagewiseRemote: Remote {
  /// Where the first page begins.
  var firstPage: PageToken { get }

  /// How many records a page is asked for.
  var pageSize: Int { get }

  /// Whether pages come in a query's order, and have only what its skip and limit leave.
  var evaluatesQueries: Bool { get }

  /// Hands over what a query's filter selects of one page.
  func fetch(
    _ query: Query, at token: PageToken, size: Int, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> PageAnswer
}

extension PagewiseRemote {
  // MARK: Pages

  /// One part. The number of records is not known before the end.
  package func pages(
    of query: Query, _ wish: PageWish, in collection: String, call: Call
  ) throws(StoreError) -> Pages {
    Pages(starts: [firstPage], wish)
  }

  package func page(
    at token: PageToken, of query: Query, wish: PageWish, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> PageAnswer {
    try next(
      query, at: token, size: min(wish.size, pageSize), in: collection, call, receive: receive)
  }

  /// One page. Throws `.proto` for a page that leads to itself.
  private func next(
    _ query: Query, at token: PageToken, size: Int, in collection: String, _ call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> PageAnswer {
    let page = try fetch(
      query, at: token, size: size, in: collection, call: call, receive: receive)
    guard page.next != token else { throw .badAnswer("The backend sent the same page twice.") }
    return page
  }

  /// Hands over what a query's filter selects, page by page; if the backend evaluates queries, in the query's order and
  /// only its page. Memory: one answer.
  private func eachPage(
    of query: Query, in collection: String, _ call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    if let named = query.of(format(of: collection)).namedIDs, named.isExact, !query.isPaged {
      var seen: Set<RecordID> = []
      let ids = named.ids.filter { seen.insert(RecordID($0)).inserted }
      return try find(all: ids, in: collection, call: call, receive: receive)
    }
    var token = firstPage
    var whole: ReadAnswer?
    while true {
      let page = try next(query, at: token, size: pageSize, in: collection, call, receive: receive)
      whole.append(page.answer)
      guard let following = page.next else { return whole ?? page.answer }
      token = following
    }
  }

  /// Any number of ids, as many requests as that needs.
  private func find(
    all ids: [String], in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    var whole: ReadAnswer?
    for some in ids.chunks(of: limits.idsPerQuery) {
      whole.append(try find(ids: Array(some), in: collection, call: call, receive: receive))
    }
    return whole ?? ReadAnswer()
  }

  // MARK: Queries

  /// Page by page; held in memory only where the backend does not evaluate queries and records have to be put in order,
  /// cut or projected here.
  package func find(
    _ query: Query, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    guard needsFinishing(query) else {
      return try eachPage(of: query, in: collection, call, receive: receive)
    }
    let format = format(of: collection)
    var records: [[UInt8]] = []
    var deletions: [ChangeBatch.Deletion] = []
    let answer = try eachPage(of: query, in: collection, call) { (batch) in
      records += batch.outlines.map { Array(batch.record($0)) }
      deletions += batch.deletions
    }
    try RecordBatch.lend(
      shown(records, query.of(format)).jsonArray(or: StoreError.noMemory), format,
      deletions: deletions, to: receive)
    return answer
  }

  package func find(
    id: String, in collection: String, call: Call
  ) throws(StoreError) -> [UInt8] {
    var found: [UInt8]?
    _ = try find(ids: [id], in: collection, call: call) { batch in
      found = batch.outlines.first.map { Array(batch.record($0)) }
    }
    guard let found else { throw StoreError(.notFound, "There is no entity of this id.") }
    return found
  }

  package func count(
    _ query: Query, in collection: String, call: Call
  ) throws(StoreError) -> CountAnswer {
    var count = 0
    let answer = try eachPage(of: query.selection, in: collection, call) { count += $0.count }
    return CountAnswer(count: count, startedAt: answer.startedAt)
  }

  /// Whether records have to be put in order, cut or projected here.
  private func needsFinishing(_ query: Query) -> Bool {
    if evaluatesQueries { return !query.fields.isEmpty }
    return !query.fields.isEmpty || query.isPaged || !query.sort.isEmpty
  }

  private func shown(_ records: [[UInt8]], _ query: Query) -> [[UInt8]] {
    guard evaluatesQueries else { return query.shown(records) }
    guard let projection = query.projection else { return records }
    return records.map { projection.apply(to: $0) }
  }

  // MARK: Deleting

  package var removesByReading: Bool { true }

  /// Reads what matches, and deletes it one by one: where the backend keeps conditions, only what has not changed since,
  /// and where it evaluates them, only what still matches. What has changed is looked at again.
  package func remove(
    _ query: Query, in collection: String, call: Call
  ) throws(StoreError) -> Int {
    let removal = MatchingRemoval(self, query.selection, in: collection, call: call)
    var writes: [RemoteWrite] = []
    _ = try eachPage(of: query.selection, in: collection, call) { (batch) throws(StoreError) in
      writes += try removal.deletions(of: batch)
    }
    var removed = 0
    for _ in 0..<MatchingRemoval.maxAttempts where !writes.isEmpty {
      var changed: [String] = []
      removed += try removal.send(writes, changed: &changed)
      writes = []
      for some in changed.chunks(of: limits.idsPerQuery) {
        _ = try find(ids: Array(some), in: collection, call: call) { (batch) throws(StoreError) in
          writes += try removal.deletions(of: batch)
        }
      }
    }
    guard writes.isEmpty else {
      throw StoreError(.conflict, "Others keep changing what is to be removed.")
    }
    return removed
  }
}
