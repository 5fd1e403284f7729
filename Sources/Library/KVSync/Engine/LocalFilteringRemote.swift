internal import KVBase
package import KVJSON
package import KVQuery

/// A backend that also answers queries which its language has no form for, or which name too many ids for one request:
/// it is asked for everything that may match, and the rest is decided here. It makes sure that each record has an id.
///
/// Such an answer to a `find` is held in memory until it is complete, because only then it can be put in order.
package final class LocalFilteringRemote: Remote {
  private let remote: any Remote

  package init(_ remote: any Remote) { self.remote = remote }

  package func format(of collection: String) -> RecordFormat { remote.format(of: collection) }
  package var limits: RemoteLimits { remote.limits }
  package var keepsConditions: Bool { remote.keepsConditions }
  package var keepsTokens: Bool { remote.keepsTokens }
  package func carriesOutOperators(in collection: String) -> Bool {
    remote.carriesOutOperators(in: collection)
  }
  package var evaluatesConditions: Bool { remote.evaluatesConditions }
  package func check(condition: Predicate, in collection: String) throws(StoreError) {
    try remote.check(condition: condition, in: collection)
  }
  package var comparesByLanguage: Bool { remote.comparesByLanguage }
  package var sendsDifferences: Bool { remote.sendsDifferences }
  package var hasOneQueue: Bool { remote.hasOneQueue }
  package var removesByReading: Bool { remote.removesByReading }

  /// How a query is put to the backend.
  private enum RemoteForm {
    /// The backend gets the query unchanged.
    case whole
    /// By the ids that it names, in several requests.
    case ids(Query.NamedIDs)
    /// The backend gets a query that selects more; the rest is filtered locally.
    case superset
  }

  private func remoteForm(of query: Query, in collection: String) -> RemoteForm {
    if let named = longIDList(of: query, in: collection) { return .ids(named) }
    return isAnsweredWhole(query) ? .whole : .superset
  }

  /// Whether the backend can answer a query, as far as is known, if it does not name too many ids.
  package func isAnsweredWhole(_ query: Query) -> Bool {
    query.isRemote(withCollations: comparesByLanguage)
  }

  /// Asks the backend for a whole query; as if it could not answer it, if it turns out to have another order by language than
  /// its earlier answers said: another server may stand in its place.
  private func whole<R>(
    _ query: Query, _ request: () throws(StoreError) -> R,
    otherwise finish: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    do throws(StoreError) { return try request() } catch {
      guard error.kind == .unsupported, !query.isRemote else { throw error }
      return try finish()
    }
  }

  package func find(
    _ query: Query, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    switch remoteForm(of: query, in: collection) {
    case .whole:
      return try whole(query) { () throws(StoreError) in
        if !query.computed.isEmpty {
          return try findComputing(query, in: collection, call: call, receive: receive)
        }
        return try remote.find(query, in: collection, call: call) { (batch) throws(StoreError) in
          try receive(batch.checked())
        }
      } otherwise: { () throws(StoreError) in
        try findSelecting(query, in: collection, call: call, receive: receive)
      }
    case .ids(let named) where query.isUnordered:
      return try find(named, of: query, in: collection, call: call, receive: receive)
    case .ids, .superset:
      return try findSelecting(query, in: collection, call: call, receive: receive)
    }
  }

  /// What the backend sends is selected and ordered here.
  private func findSelecting(
    _ query: Query, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    let format = format(of: collection)
    let selected = try select(query, in: collection, call: call)
    try RecordBatch.lend(
      query.of(format).shown(selected.entities).jsonArray(or: StoreError.noMemory), format,
      deletions: selected.deletions, to: receive)
    return selected.answer
  }

  /// The backend selects and orders; what is computed of its records is added here.
  private func findComputing(
    _ query: Query, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    let format = format(of: collection)
    let projection = query.of(format).projection
    return try remote.find(query.whole, in: collection, call: call) {
      (batch) throws(StoreError) in
      let batch = try batch.checked()
      let shown = try batch.outlines.map { (outline) throws(StoreError) -> [UInt8] in
        let record = batch.record(outline)
        try Memory.require(record.count, or: StoreError.noMemory)
        return projection?.apply(to: record) ?? [UInt8](record)
      }
      try RecordBatch.lend(
        shown.jsonArray(or: StoreError.noMemory), format, deletions: batch.deletions, to: receive)
    }
  }

  package func find(
    ids: [String], in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    try remote.find(ids: ids, in: collection, call: call) { (batch) throws(StoreError) in
      try receive(batch.checked())
    }
  }

  /// What the backend tells of a superset, or of ids, says too little: an entity may have left the query in it. So does what it
  /// tells of an order by language, whose weights may have been others at that moment.
  package func changes(
    of query: Query, since: BackendMoment, in collection: String, call: Call,
    receive: (ChangeBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer? {
    guard query.isRemote, longIDList(of: query, in: collection) == nil else { return nil }
    return try remote.changes(of: query, since: since, in: collection, call: call) {
      (batch) throws(StoreError) in
      if case .saved(let records) = batch { return try receive(.saved(records.checked())) }
      try receive(batch)
    }
  }

  /// How many to expect is what the backend has of all that may match.
  package func pages(
    of query: Query, _ wish: PageWish, in collection: String, call: Call
  ) throws(StoreError) -> Pages {
    if case .ids = remoteForm(of: query, in: collection) {
      return Pages(starts: [PageToken("0")], wish)
    }
    return try remote.pages(of: query.remoteSuperset, wish, in: collection, call: call)
  }

  /// The count is that of what the backend sent.
  package func page(
    at token: PageToken, of query: Query, wish: PageWish, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> PageAnswer {
    if let named = longIDList(of: query, in: collection) {
      return try page(
        at: token, of: query, naming: named, size: wish.size, in: collection, call: call,
        receive: receive)
    }
    let matcher = query.isRemote ? nil : Matcher(query.filter, of: format(of: collection))
    let asked = query.remoteSuperset
    return try remote.page(at: token, of: asked, wish: wish, in: collection, call: call) {
      (batch) throws(StoreError) in
      let batch = try batch.checked()
      try receive(
        matcher.map { (matcher) throws(StoreError) in try batch.matching(matcher) } ?? batch)
    }
  }

  package func end(
    of pages: Pages, _ query: Query, having received: Int, in collection: String, call: Call
  ) throws(StoreError) -> PagesEnd {
    if case .ids = remoteForm(of: query, in: collection) { return .complete }
    return try remote.end(
      of: pages, query.remoteSuperset, having: received, in: collection, call: call)
  }

  package func find(
    id: String, in collection: String, call: Call
  ) throws(StoreError) -> [UInt8] {
    try remote.find(id: id, in: collection, call: call)
  }

  package func count(
    _ query: Query, in collection: String, call: Call
  ) throws(StoreError) -> CountAnswer {
    switch remoteForm(of: query, in: collection) {
    case .whole:
      return try whole(query) { () throws(StoreError) in
        try remote.count(query, in: collection, call: call)
      } otherwise: { () throws(StoreError) in
        try countSelecting(query, in: collection, call: call)
      }
    case .ids(let named) where named.isExact:
      return try count(named.ids, in: collection, call: call)
    case .ids, .superset: return try countSelecting(query, in: collection, call: call)
    }
  }

  private func countSelecting(
    _ query: Query, in collection: String, call: Call
  ) throws(StoreError) -> CountAnswer {
    let selected = try select(query, in: collection, call: call)
    return CountAnswer(count: selected.entities.count, startedAt: selected.answer.startedAt)
  }

  /// What the backend groups must be what the query selects: `each` is for the others.
  package func group(
    _ wanted: RemoteGroups, of query: Query, in collection: String, call: Call
  ) throws(StoreError) -> [JSONObject] {
    guard isAnsweredWhole(query) else {
      throw StoreError(.unsupported, "No backend supports this query.")
    }
    return try remote.group(wanted, of: query, in: collection, call: call)
  }

  package func remove(
    _ query: Query, in collection: String, call: Call
  ) throws(StoreError) -> Int {
    switch remoteForm(of: query, in: collection) {
    // What another order selects there would be gone before the answer says which one it is.
    case .whole where query.isRemote:
      return try remote.remove(query, in: collection, call: call)
    case .ids(let named) where named.isExact:
      return try remove(named.ids, in: collection, call: call)
    case .whole, .ids, .superset:
      let format = format(of: collection)
      let selected = try select(query, in: collection, call: call).entities
      return try remove(selected.compactMap { format.key(of: $0) }, in: collection, call: call)
    }
  }

  package func send(
    _ writes: [RemoteWrite], in collection: String, call: Call,
    outcome: (Int, Result<RemoteOutcome, StoreError>) -> Void
  ) {
    remote.send(writes, in: collection, call: call, outcome: outcome)
  }

  // MARK: Selecting

  /// Lends each entity that the filter selects to `body`, in any order, page by page, however many there are. With the
  /// query's fields only, if the backend can select by itself. Returns what the pages say together. Memory: one batch, and
  /// the ids of a page.
  @discardableResult package func each(
    of query: Query, in collection: String, call: Call,
    _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    var wanted = query.selection
    // What a filter is about may be left out by the fields.
    if query.isRemote { wanted.fields = query.fields }
    let wish = PageWish(size: limits.recordsPerAnswer, isCounted: false)
    let pages = try pages(of: wanted, wish, in: collection, call: call)
    var whole = ReadAnswer(startedAt: pages.startedAt)
    for start in pages.starts {
      var next: PageToken? = start
      while let token = next {
        let page = try each(at: token, of: wanted, wish: wish, in: collection, call: call, body)
        whole.append(page.answer)
        next = page.next
      }
    }
    return whole
  }

  /// One page, again if it broke off: what was lent before is not lent twice.
  private func each(
    at token: PageToken, of query: Query, wish: PageWish, in collection: String, call: Call,
    _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) -> PageAnswer {
    var lent: Set<RecordID> = []
    return try call.repeating { () throws(StoreError) in
      try page(at: token, of: query, wish: wish, in: collection, call: call) {
        (batch) throws(StoreError) in
        for outline in batch.outlines {
          guard let id = outline.id, lent.insert(RecordID(id)).inserted else { continue }
          try body(batch.record(outline))
        }
      }
    }
  }

  /// What a filter selects.
  private struct Selected {
    /// In the order in which the backend has them.
    var entities: [[UInt8]] = []
    var deletions: [ChangeBatch.Deletion] = []
    var answer = ReadAnswer()

    mutating func add(_ batch: RecordBatch) {
      entities += batch.outlines.map { Array(batch.record($0)) }
      deletions += batch.deletions
    }
  }

  private func select(
    _ query: Query, in collection: String, call: Call
  ) throws(StoreError) -> Selected {
    var selected = Selected()
    var uncounted = call
    // What the backend counts is more than what is selected here.
    uncounted.counted = nil
    if let named = longIDList(of: query, in: collection) {
      selected.answer = try find(named, of: query, in: collection, call: uncounted) {
        selected.add($0)
      }
      return selected
    }
    let matcher = Matcher(query.filter, of: format(of: collection))
    selected.answer = try remote.find(query.remoteSuperset, in: collection, call: uncounted) {
      (batch) throws(StoreError) in
      selected.add(try batch.checked().matching(matcher))
    }
    if selected.answer.mayBeCut {
      selected.entities = []
      selected.answer.mayBeCut = false
      selected.answer.append(
        try each(of: query, in: collection, call: uncounted) { (record) throws(StoreError) in
          selected.entities.append(try [UInt8](record, or: StoreError.noMemory))
        })
    }
    return selected
  }
}

extension Matcher {
  /// Whether a record matches, in the words of this room.
  package func selects(_ record: UnsafeRawBufferPointer) throws(StoreError) -> Bool {
    do throws(QueryError) { return try matches(record) } catch { throw StoreError(error) }
  }
}

extension RecordBatch {
  /// The records of it that match.
  func matching(_ matcher: Matcher) throws(StoreError) -> RecordBatch {
    try filtered { (record) throws(StoreError) in try matcher.selects(record) }
  }
}

extension Query {
  /// Whether its records are wanted as they are, in any order.
  fileprivate var isUnordered: Bool {
    sorter == nil && !isPaged && fields.isEmpty && computed.isEmpty
  }

  /// The page that skip and limit select.
  fileprivate func paged(_ entities: ArraySlice<[UInt8]>) -> ArraySlice<[UInt8]> {
    let rest = entities.dropFirst(skip)
    return limit.map { rest.prefix($0) } ?? rest
  }

  /// Entities in the query's order, its page of them, with its fields.
  package func shown(_ entities: [[UInt8]]) -> [[UInt8]] {
    var ordered = entities[...]
    if let sorter {
      let keyed = entities.map { (key: sorter.key(of: $0) + $0.idKey(format), entity: $0) }
      ordered = keyed.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.entity)[...]
    }
    let page = Array(paged(ordered))
    guard let projection else { return page }
    return page.map { projection.apply(to: $0) }
  }
}

extension [UInt8] {
  /// What ties are broken by.
  fileprivate func idKey(_ format: RecordFormat) -> [UInt8] {
    format.key(of: self).map { Array($0.utf8) } ?? []
  }
}
