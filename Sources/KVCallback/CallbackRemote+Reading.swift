internal import KVBase
internal import KVJSON
package import KVQuery
package import KVSync

extension CallbackRemote {
  // MARK: Pages

  /// One part: where a page begins the backend says. How many records there are nobody knows before the end.
  package func pages(
    of query: Query, _ wish: PageWish, in collection: String, call: Call
  ) throws(StoreError) -> Pages {
    Pages(starts: [PageToken("null")], wish)
  }

  package func page(
    at token: PageToken, of query: Query, wish: PageWish, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> PageAnswer {
    let page = try fetch(
      query, after: token, size: wish.size, in: collection, call, receive: receive)
    return PageAnswer(count: page.count, next: page.next, answer: page.answer)
  }

  /// Hands over what a query's filter selects, page by page; if the backend evaluates queries, in the query's order and
  /// only its page. Memory: one answer.
  func eachPage(
    of query: Query, in collection: String, _ call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    if let named = query.of(format).namedIDs, named.isExact, !query.isPaged {
      var seen: Set<RecordID> = []
      let ids = named.ids.filter { seen.insert(RecordID($0)).inserted }
      return try find(ids, in: collection, call: call, receive: receive)
    }
    var next = PageToken("null")
    var first: ReadAnswer?
    while true {
      let page = try fetch(
        query, after: next, size: description.pageSize, in: collection, call, receive: receive)
      first = first ?? page.answer
      // Changes during the later pages are asked for as well.
      guard let following = page.next else { return first ?? page.answer }
      next = following
    }
  }

  /// Any number of ids, as many requests as that needs.
  private func find(
    _ ids: [String], in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    for some in ids.chunks(of: description.idsPerRequest) {
      _ = try find(ids: Array(some), in: collection, call: call, receive: receive)
    }
    return ReadAnswer()
  }

  /// Where a page begins is JSON of the backend's.
  private func fetch(
    _ query: Query, after token: PageToken, size: Int, in collection: String, _ call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> (count: Int, next: PageToken?, answer: ReadAnswer) {
    var request = fetchRequest(query, size, in: collection)
    request.add("after", json: token.text.utf8)
    let answer = try backend.exchange(.fetch, request.bytes, call: call)
    let next = answer.text(of: "next").map { PageToken($0) }
    guard next != token else { throw .badAnswer("The backend sent the same page twice.") }
    let moment = try answer.text("token").map { BackendMoment($0) }
    let matcher = Matcher(
      description.evaluatesQueries ? .everything : query.filter, of: format)
    var count = 0
    try answer.lendRecords(format) { (batch) throws(StoreError) in
      let selected = try batch.filtered { (record) throws(StoreError) in
        try matcher.selects(record)
      }
      count = selected.count
      try receive(selected)
    }
    return (count, next, ReadAnswer(startedAt: moment))
  }

  /// The filter goes along even where the backend need not look at it: it may leave out what does not match.
  private func fetchRequest(
    _ query: Query, _ size: Int, in collection: String
  ) -> JSONObjectWriter {
    var request = JSONObjectWriter()
    request.add("collection", .string(collection))
    if query.filter != .everything, query.isRemote {
      request.add("filter", .object(query.filter.json))
    }
    if description.evaluatesQueries {
      if !query.sort.isEmpty { request.add("sort", .object(query.order)) }
      if query.skip > 0 { request.add("skip", .int(Int64(query.skip))) }
      if let limit = query.limit { request.add("limit", .int(Int64(limit))) }
    }
    request.add("pageSize", .int(Int64(min(size, description.pageSize))))
    return request
  }

  // MARK: Changes

  package func changes(
    of query: Query, since: BackendMoment, in collection: String, call: Call,
    receive: (ChangeBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer? {
    guard backend.handler.handles(.changes) else { return nil }
    var changes = ChangeCollector(description, query.filter)
    var token = since.text
    while true {
      let request: JSONObject = ["collection": .string(collection), "since": .string(token)]
      let answer = try backend.exchange(.changes, JSONValue.object(request).bytes, call: call)
      if try answer.bool("unknown") { return nil }
      guard let following = try answer.text("token") else { throw .unfitMember("token", "a text") }
      try changes.add(answer)
      guard try answer.bool("more") else {
        try changes.deliver(to: receive)
        return ReadAnswer(startedAt: BackendMoment(following))
      }
      guard !following.hasSameBytes(as: token) else {
        throw .badAnswer("The backend sent the same changes twice.")
      }
      // More than may be held at once: reading everything goes page by page.
      guard changes.byteCount <= description.maxAnswerBytes else { return nil }
      token = following
    }
  }
}

extension Query {
  fileprivate var order: JSONObject {
    JSONObject(sort.map { .init($0.path.text, .int($0.ascending ? 1 : -1)) })
  }
}
