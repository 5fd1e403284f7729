internal import KVBase
internal import KVJSON
package import KVQuery
package import KVSync

extension CallbackRemote {
  // MARK: Pages

  package var firstPage: PageToken { PageToken("null") }

  /// Where a page begins is JSON of the backend's.
  package func fetch(
    _ query: Query, at token: PageToken, size: Int, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> PageAnswer {
    var request = fetchRequest(query, size, in: collection)
    request.add("after", json: token.text.utf8)
    let answer = try backend.exchange(.fetch, request.bytes, call: call)
    let next = answer.text(of: "next").map { PageToken($0) }
    let moment = try answer.text("token").map { BackendMoment($0) }
    let matcher = Matcher(
      description.evaluatesQueries ? .everything : query.filter, of: description.format)
    var count = 0
    try answer.lendRecords(description.format) { (batch) throws(StoreError) in
      let selected = try batch.filtered { (record) throws(StoreError) in
        try matcher.selects(record)
      }
      count = selected.count
      try receive(selected)
    }
    return PageAnswer(count: count, next: next, answer: ReadAnswer(startedAt: moment))
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
    request.add("pageSize", .int(Int64(size)))
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
