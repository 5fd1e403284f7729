package import KVJSON
package import KVQuery

/// A backend, as far as synchronising needs to know it: what is read and written, not how it travels.
///
/// Every method blocks its thread until the answer is complete and may be called from any thread. It ends with
/// `.timeout` at the call's deadline, and with `.cancelled` soon after the call was cancelled. The error of a failure says
/// what may be expected of another attempt: see `FailureClass`. Nothing is repeated here: the layers around do that.
///
/// What answers in batches hands each to `receive`, on the calling thread, as it arrives; a batch is some hundred
/// kilobytes, so that memory stays flat. If `receive` throws, the transfer stops and that error comes out.
package protocol Remote: AnyObject, Sendable {
  /// What one request may have. May change while the backend gets known.
  var limits: RemoteLimits { get }

  /// How the records of a collection are laid out; always the same.
  func format(of collection: String) -> RecordFormat

  /// Whether it is known to keep the conditions of writes. One that does not ignores them.
  var keepsConditions: Bool { get }

  /// Whether it recognises a write that is sent again by its token, and carries it out once: see `Call.tokens`.
  var keepsTokens: Bool { get }

  /// Whether it carries out operators on what it has, once for each token: see `RemoteWrite.change`.
  func carriesOutOperators(in collection: String) -> Bool

  /// Whether it decides itself whether a record matches a filter that a write demands: see `RemoteCondition.matches`.
  var evaluatesConditions: Bool { get }

  /// Throws `.unsupported` if a write cannot demand this filter of a record.
  func check(condition: Predicate, in collection: String) throws(StoreError)

  /// Whether it is known to compare and order texts by language, with the weights that are used here: see
  /// `Query.isRemote(withCollations:)`. Should an answer show that it no longer does, a read fails with `.unsupported` before
  /// anything was handed over.
  var comparesByLanguage: Bool { get }

  /// Whether updates need to have what they started from, because only the difference is sent.
  var sendsDifferences: Bool { get }

  /// Whether the writes of all collections go in the order in which they were made, one after the other: because records
  /// lead to those of other collections.
  var hasOneQueue: Bool { get }

  /// Whether `remove` reads what matches and deletes that: of such a read, records may be missing that were changed
  /// shortly before.
  var removesByReading: Bool { get }

  // MARK: Reading

  /// Reads what a query selects: its filter, order, skip and limit, and the members that its fields name. Only
  /// asked what `Query.isRemote(withCollations:)` says a backend may know; one that does not know it all the same fails with
  /// `.unsupported`.
  func find(
    _ query: Query, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer

  /// Reads one entity. Fails with `.notFound` if there is none.
  func find(id: String, in collection: String, call: Call) throws(StoreError) -> [UInt8]

  /// Reads the entities of some ids, at most `limits.idsPerQuery`, in any order; what is not there is left out.
  func find(
    ids: [String], in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer

  func count(_ query: Query, in collection: String, call: Call) throws(StoreError) -> CountAnswer

  /// Reads what of a query's entities has changed since a moment that `find`, `count` or this has named. Nil, and nothing
  /// was handed over, if the backend cannot tell, or has other data by now than it had then: everything has to be read.
  func changes(
    of query: Query, since: BackendMoment, in collection: String, call: Call,
    receive: (ChangeBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer?

  // MARK: Reading in pages

  /// Begins to read all that a query selects, in any order, page by page. The query has neither order nor page.
  func pages(
    of query: Query, _ wish: PageWish, in collection: String, call: Call
  ) throws(StoreError) -> Pages

  /// Reads one page, perhaps with more members than the query's fields name. The same page may be read again: what was
  /// handed over before it failed comes once more then.
  func page(
    at token: PageToken, of query: Query, wish: PageWish, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> PageAnswer

  /// Whether everything has come: asked at the end of all parts, which have had so many records.
  func end(
    of pages: Pages, _ query: Query, having received: Int, in collection: String, call: Call
  ) throws(StoreError) -> PagesEnd

  // MARK: Others

  /// Groups what a query's filter selects; gives the backend's answer, an array with an object for each
  /// group. Fails with `unsupported` if it does not understand the function.
  func group(
    _ wanted: RemoteGroups, of query: Query, in collection: String, call: Call
  ) throws(StoreError) -> [JSONObject]

  /// Deletes what matches; gives how many.
  func remove(_ query: Query, in collection: String, call: Call) throws(StoreError) -> Int

  /// Sends writes, at most `limits.connections` at a time, and hands over each outcome, one after the other,
  /// on the calling thread, in whatever order they end. It returns when all have ended. After a
  /// cancellation the rest ends with `.cancelled`.
  func send(
    _ writes: [RemoteWrite], in collection: String, call: Call,
    outcome: (Int, Result<RemoteOutcome, StoreError>) -> Void
  )
}

/// What a backend need not implement: the default says that it cannot.
extension Remote {
  package var limits: RemoteLimits { RemoteLimits() }
  package func format(of collection: String) -> RecordFormat { .default }
  package var keepsConditions: Bool { false }
  package var keepsTokens: Bool { false }
  package func carriesOutOperators(in collection: String) -> Bool { false }
  package var evaluatesConditions: Bool { false }
  package func check(condition: Predicate, in collection: String) throws(StoreError) {}
  package var comparesByLanguage: Bool { false }
  package var sendsDifferences: Bool { false }
  package var hasOneQueue: Bool { false }
  package var removesByReading: Bool { false }

  /// Asks for them by a query.
  package func find(
    ids: [String], in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    let format = format(of: collection)
    return try find(
      Query(.keys(ids, format)).of(format), in: collection, call: call, receive: receive)
  }

  /// Nil: a simple backend keeps no history.
  package func changes(
    of query: Query, since: BackendMoment, in collection: String, call: Call,
    receive: (ChangeBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer? { nil }

  /// One page with everything.
  package func pages(
    of query: Query, _ wish: PageWish, in collection: String, call: Call
  ) throws(StoreError) -> Pages {
    Pages(starts: [PageToken("")], wish)
  }

  package func page(
    at token: PageToken, of query: Query, wish: PageWish, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> PageAnswer {
    var count = 0
    let answer = try find(query, in: collection, call: call) { (batch) throws(StoreError) in
      count += batch.count
      try receive(batch)
    }
    return PageAnswer(count: count, next: nil, answer: answer)
  }

  package func end(
    of pages: Pages, _ query: Query, having received: Int, in collection: String, call: Call
  ) throws(StoreError) -> PagesEnd { .complete }

  /// Throws `.unsupported`.
  package func group(
    _ wanted: RemoteGroups, of query: Query, in collection: String, call: Call
  ) throws(StoreError) -> [JSONObject] {
    throw StoreError(.unsupported, "This backend does not support grouping.")
  }
}
