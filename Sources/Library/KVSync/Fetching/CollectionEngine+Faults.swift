internal import KVBase
internal import KVJSON
internal import KVQuery

/// Lists whose ids come from the backend first, and whose records come when they are asked for.
extension CollectionEngine {
  /// Runs a later read of the backend for a list, with the options of its fetch and a time limit of its own.
  package typealias LaterRead =
    @Sendable (_ body: (CallOptions) throws(StoreError) -> Void) throws(StoreError) -> Void

  /// Whether the backend is asked for ids first. It is not where one request brings all that is needed: a page that is one
  /// batch, or the changes since the last read; nor where it cannot select the ids by itself.
  func listsFirst(
    _ request: ResultsRequest, _ query: Query, as form: RecordForm, options: CallOptions
  ) throws(StoreError) -> Bool {
    guard request.returnsFaults ?? (local == nil), remote?.isAnsweredWhole(query) ?? query.isRemote,
      query.namedIDs == nil
    else { return false }
    if case .body = form, let limit = query.limit, limit <= request.batchSize { return false }
    guard let local, !query.isPaged else { return true }
    // Writes that wait have places in the order that only the local data tell.
    let unsent = try local.pending(in: collection, after: 0, limit: 1, onlyWaiting: false)
    guard unsent.isEmpty else { return false }
    let key = RequestKey(filter: query.filterText, fields: "")
    guard options.refreshing.usesChanges else { return true }
    return try local.lastRequest(key, in: collection) == nil
  }

  /// What the backend finds, as a list of faults.
  func faults(
    of query: Query, as form: RecordForm, options: CallOptions, later: @escaping LaterRead
  ) throws(StoreError) -> any RecordSource {
    let remote = try backend(for: "read from the network")
    let listed = try list(query, remote, call: options.call)
    guard case .body(let projection) = form else {
      return try HeldRecords(
        (0..<listed.count).map { JSONValue.string(listed.id(at: $0)).bytes })
    }
    guard let local else {
      return RemoteFaults(
        engine: self, remote: remote, listed: listed, projection: projection, later: later)
    }
    return try LocalFaults(
      self, local, remote: remote, listed: listed, form: form, later: later)
  }

  /// The ids and versions of what a query selects: one request for each answer's worth of them.
  private func list(
    _ query: Query, _ remote: LocalFilteringRemote, call: Call
  ) throws(StoreError) -> ListedRecords {
    let listed = ListedRecords()
    var wanted = query
    wanted.computed = []
    wanted.fields = format.idPaths + [format.versionPath].compactMap { $0 }
    var seen: Set<RecordID>?
    while true {
      let (page, mayBeCut) = try versions(of: wanted, remote, call: call)
      guard !mayBeCut || !wanted.sort.isEmpty else {
        // What comes after the answer is only known in an order.
        wanted.sort = format.idPaths.map { Query.SortKey($0) }
        continue
      }
      for record in page where seen?.insert(RecordID(record.id)).inserted ?? true {
        try listed.append(record)
      }
      wanted.skip += page.count
      wanted.limit = wanted.limit.map { $0 - page.count }
      guard mayBeCut, !page.isEmpty, wanted.limit ?? 1 > 0 else { return listed }
      // What was written meanwhile may have moved a record from one answer to the next.
      seen = seen ?? Set((0..<listed.count).map { RecordID(listed.id(at: $0)) })
    }
  }

  private func versions(
    of query: Query, _ remote: LocalFilteringRemote, call: Call
  ) throws(StoreError) -> (page: [EntityVersion], mayBeCut: Bool) {
    try call.repeating { () throws(StoreError) in
      var page: [EntityVersion] = []
      let answer = try remote.find(query, in: collection, call: call) {
        (batch) throws(StoreError) in
        page += zip(try batch.ids(), batch.outlines).map {
          EntityVersion(id: $0, version: $1.version(in: batch.bytes))
        }
      }
      return (page, answer.mayBeCut)
    }
  }

  /// Brings the records with these ids up to date: asks the backend for them, with one request for as many as it may name.
  package func update(
    _ ids: [String], _ options: CallOptions
  ) throws(StoreError) -> Answered<Void> {
    try reading(options, { _ in }) { (_) throws(StoreError) in
    } remotely: { (options) throws(StoreError) in
      let local = try localStore(for: "update records")
      let remote = try backend(for: "read from the network")
      try Refresher(self, local, remote: remote, call: options.call).refresh(ids)
    }
  }
}
