internal import KVBase
internal import KVJSON
package import KVQuery
package import KVSync

extension CallbackRemote {
  /// Lends each record that a query's filter selects to `body`; if the backend evaluates queries, in the query's order
  /// and only its page. Gives the token of the moment from which on changes have to be asked for.
  ///
  /// Memory: one answer.
  func eachRecord(
    of query: Query, in collection: String, _ call: Call,
    _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) -> BackendMoment? {
    if let named = query.namedIDs, named.isExact, !query.isPaged {
      try eachRecord(ofIds: named.ids, in: collection, call, body)
      return nil
    }
    let matcher = Matcher(description.evaluatesQueries ? .everything : query.filter)
    var since: BackendMoment?
    var next: JSONValue = .null
    repeat {
      let request = fetchRequest(query, in: collection, after: next)
      let answer = try backend.ask(.fetch, request, call)
      // Changes during the later pages are asked for as well.
      if next.isNull { since = try answer.text("token").map { BackendMoment($0) } }
      try answer.eachRecord { (record) throws(StoreError) in
        if try matcher.selects(record) { try body(record) }
      }
      let following = try answer.value("next") ?? .null
      guard following.isNull || following != next else {
        throw .badAnswer("The backend sent the same page twice.")
      }
      next = following
    } while !next.isNull
    return since
  }

  /// Lends the records of these ids to `body`, those that there are.
  func eachRecord(
    ofIds ids: [String], in collection: String, _ call: Call,
    _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    for start in stride(from: 0, to: ids.count, by: description.idsPerRequest) {
      let part = ids[start..<min(start + description.idsPerRequest, ids.count)]
      let wanted = Set(part.map { RecordID($0) })
      let request: JSONObject = [
        "collection": .string(collection), "ids": .array(part.map { .string($0) }),
      ]
      try backend.ask(.fetchIDs, request, call).eachRecord { (record) throws(StoreError) in
        guard let id = try record.outline().id, wanted.contains(RecordID(id)) else {
          throw .badAnswer("The backend sent a record that was not asked for.")
        }
        try body(record)
      }
    }
  }

  /// The filter goes along even where the backend need not look at it: it may leave out what does not match.
  private func fetchRequest(
    _ query: Query, in collection: String, after next: JSONValue
  ) -> JSONObject {
    var request: JSONObject = ["collection": .string(collection)]
    if query.filter != .everything, query.isRemote {
      request["filter"] = .object(query.filter.json)
    }
    if description.evaluatesQueries {
      if !query.sort.isEmpty { request["sort"] = .object(query.order) }
      if query.skip > 0 { request["skip"] = .int(Int64(query.skip)) }
      if let limit = query.limit { request["limit"] = .int(Int64(limit)) }
    }
    request["pageSize"] = .int(Int64(description.pageSize))
    request["after"] = next
    return request
  }

  // MARK: Changes

  package func changes(
    of query: Query, since: BackendMoment, in collection: String, _ call: Call,
    receive: (ChangeBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer? {
    guard backend.handler.handles(.changes) else { return nil }
    var lists = ChangeLists(Matcher(query.filter))
    var token = since.text
    while true {
      let request: JSONObject = ["collection": .string(collection), "since": .string(token)]
      let answer = try backend.ask(.changes, request, call)
      if try answer.bool("unknown") { return nil }
      guard let following = try answer.text("token") else { throw .unfitMember("token", "a text") }
      try lists.add(answer)
      let hasMore = try answer.bool("more")
      guard !hasMore || !following.hasSameBytes(as: token) else {
        throw .badAnswer("The backend sent the same changes twice.")
      }
      token = following
      if !hasMore { break }
    }
    try lists.hand(to: receive)
    return ReadAnswer(startedAt: BackendMoment(token))
  }
}

/// Changes in their order, of which the last of each record counts; sorted by what they mean for a query.
private struct ChangeLists {
  private enum Change {
    case changed([UInt8])
    case left, deleted
  }

  private let matcher: Matcher
  private var changes: [RecordID: Change] = [:]

  init(_ matcher: Matcher) { self.matcher = matcher }

  mutating func add(_ answer: BackendAnswer) throws(StoreError) {
    for range in try answer.elements("changes") {
      let change = try answer.object(at: range)
      if let record = change.range("upsert") {
        let bytes = try answer.record(at: record)
        let (id, isWanted) = try bytes.withBorrowedBytes { (bytes) throws(StoreError) in
          (try bytes.outline().id, try matcher.selects(bytes))
        }
        guard let id else { throw .entityWithoutId }
        changes[RecordID(id)] = isWanted ? .changed(bytes) : .left
      } else if let id = try change.text("delete") {
        changes[RecordID(id)] = .deleted
      } else {
        throw .badAnswer("The backend sent a change that is neither \"upsert\" nor \"delete\".")
      }
    }
  }

  func hand(to receive: (ChangeBatch) throws(StoreError) -> Void) throws(StoreError) {
    var (left, deleted): ([String], [ChangeBatch.Deletion]) = ([], [])
    var output = BatchOutput()
    func save(_ records: RecordBatch) throws(StoreError) { try receive(.saved(records)) }
    for (id, change) in changes {
      switch change {
      case .changed(let record):
        try record.withBorrowedBytes { (record) throws(StoreError) in try output.add(record, save) }
      case .left: left.append(id.text)
      case .deleted: deleted.append(ChangeBatch.Deletion(id: id.text))
      }
    }
    try output.flush(save)
    if !deleted.isEmpty { try receive(.deleted(deleted)) }
    if !left.isEmpty { try receive(.left(left)) }
  }
}

extension BackendAnswer {
  /// Lends each of the records to `body`.
  fileprivate func eachRecord(
    _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    let ranges = try elements("records")
    try bytes.withBorrowedBytes { (bytes) throws(StoreError) in
      for range in ranges {
        let record = UnsafeRawBufferPointer(rebasing: bytes[range])
        guard record.first == UInt8(ascii: "{") else {
          throw .badAnswer("The backend sent a record that is no JSON object.")
        }
        try body(record)
      }
    }
  }
}

extension Query {
  fileprivate var order: JSONObject {
    JSONObject(sort.map { .init($0.path.text, .int($0.ascending ? 1 : -1)) })
  }
}

extension Matcher {
  fileprivate func selects(_ record: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    do throws(QueryError) { return try matches(record) } catch { throw StoreError(error) }
  }
}
