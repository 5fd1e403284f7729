internal import KVBase
package import KVJSON
package import KVQuery
package import KVSync

/// A backend of callbacks as the engine sees it: asks in JSON, and proves that what comes is an answer.
package final class CallbackRemote: Remote {
  let backend: CallbackBackend

  package init(_ backend: CallbackBackend) { self.backend = backend }

  var description: BackendDescription { backend.description }

  package var format: RecordFormat { description.format }
  package var keepsConditions: Bool { description.keepsConditions }

  package var limits: RemoteLimits {
    var limits = RemoteLimits()
    limits.connections = description.requestsAtOnce
    limits.recordsPerAnswer = .max
    limits.idsPerQuery = description.idsPerRequest
    limits.createsPerRequest = description.writesPerRequest
    limits.writesPerBatch = description.writesPerRequest
    return limits
  }

  // MARK: Reading

  /// Page by page; held in memory only where the backend does not evaluate queries and records have to be put in order,
  /// cut or projected here.
  package func find(
    _ query: Query, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    guard needsFinishing(query) else {
      return try eachPage(of: query, in: collection, call, receive: receive)
    }
    var records: [[UInt8]] = []
    let answer = try eachPage(of: query, in: collection, call) { (batch) in
      records += batch.outlines.map { Array(batch.record($0)) }
    }
    try RecordBatch.lend(
      shown(records, query.of(format)).jsonArray(or: StoreError.noMemory), format, to: receive)
    return answer
  }

  package func find(
    ids: [String], in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    let wanted = Set(ids.map { RecordID($0) })
    var request = JSONObjectWriter()
    request.add("collection", .string(collection))
    request.add("ids", .array(ids.map(description.idValue)))
    let answer = try backend.exchange(.fetchIDs, request.bytes, call: call)
    try answer.lendRecords(format) { (batch) throws(StoreError) in
      guard try batch.ids().allSatisfy({ wanted.contains(RecordID($0)) }) else {
        throw .badAnswer("The backend sent a record that was not asked for.")
      }
      try receive(batch)
    }
    return ReadAnswer()
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
    if description.evaluatesQueries { return !query.fields.isEmpty }
    return !query.fields.isEmpty || query.isPaged || !query.sort.isEmpty
  }

  private func shown(_ records: [[UInt8]], _ query: Query) -> [[UInt8]] {
    guard description.evaluatesQueries else { return query.shown(records) }
    guard let projection = query.projection else { return records }
    return records.map { projection.apply(to: $0) }
  }

  // MARK: Deleting

  package func remove(
    _ query: Query, in collection: String, call: Call
  ) throws(StoreError) -> Int {
    var ids: [String] = []
    _ = try eachPage(of: query.selection, in: collection, call) { (batch) throws(StoreError) in
      ids += try batch.ids()
    }
    var removed = 0
    var failure: StoreError?
    send(ids.map { .delete(id: $0) }, in: collection, call: call) { _, result in
      switch result {
      case .success(.deleted(let count)): removed += count
      case .success: break
      case .failure(let error): failure = failure ?? error
      }
    }
    if let failure { throw failure }
    return removed
  }
}
