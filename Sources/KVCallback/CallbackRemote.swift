internal import KVBase
internal import KVJSON
package import KVQuery
package import KVSync

/// A backend of callbacks as the engine sees it: asks in JSON, and proves that what comes is an answer.
package final class CallbackRemote: Remote {
  let backend: CallbackBackend

  package init(_ backend: CallbackBackend) { self.backend = backend }

  var description: BackendDescription { backend.description }

  package var keepsConditions: Bool { description.keepsConditions }

  package var limits: RemoteLimits {
    var limits = RemoteLimits()
    limits.connections = description.requestsAtOnce
    limits.idsPerQuery = description.idsPerRequest
    limits.createsPerRequest = description.writesPerRequest
    limits.writesPerBatch = description.writesPerRequest
    return limits
  }

  // MARK: Reading

  package func find(
    _ query: Query, in collection: String, _ call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    var output = BatchOutput()
    guard needsFinishing(query) else {
      let token = try eachRecord(of: query, in: collection, call) { (record) throws(StoreError) in
        try output.add(record, receive)
      }
      try output.flush(receive)
      return ReadAnswer(startedAt: token)
    }
    var records: [[UInt8]] = []
    let token = try eachRecord(of: query, in: collection, call) { (record) throws(StoreError) in
      records.append(Array(record))
    }
    for record in shown(records, query) {
      try record.withBorrowedBytes { (bytes) throws(StoreError) in try output.add(bytes, receive) }
    }
    try output.flush(receive)
    return ReadAnswer(startedAt: token)
  }

  package func find(
    ids: [String], in collection: String, _ call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    var output = BatchOutput()
    try eachRecord(ofIds: ids, in: collection, call) { (record) throws(StoreError) in
      try output.add(record, receive)
    }
    try output.flush(receive)
    return ReadAnswer()
  }

  package func find(
    id: String, in collection: String, _ call: Call
  ) throws(StoreError) -> [UInt8] {
    var found: [UInt8]?
    try eachRecord(ofIds: [id], in: collection, call) { (record) in found = found ?? Array(record) }
    guard let found else { throw StoreError(.notFound, "There is no entity of this id.") }
    return found
  }

  package func count(
    _ query: Query, in collection: String, _ call: Call
  ) throws(StoreError) -> CountAnswer {
    var count = 0
    let token = try eachRecord(of: query.selection, in: collection, call) { _ in count += 1 }
    return CountAnswer(count: count, startedAt: token)
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
    _ query: Query, in collection: String, _ call: Call
  ) throws(StoreError) -> Int {
    var ids: [String] = []
    _ = try eachRecord(of: query.selection, in: collection, call) { (record) throws(StoreError) in
      guard let id = try record.outline().id else { throw .entityWithoutId }
      ids.append(id)
    }
    var removed = 0
    var failure: StoreError?
    send(ids.map { .delete(id: $0) }, in: collection, call) { _, result in
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

extension UnsafeRawBufferPointer {
  /// Where the reserved members of the record are.
  func outline() throws(StoreError) -> EntityOutline {
    do throws(JSONError) { return try EntityScanner.outline(of: self) } catch {
      throw .badAnswer(error)
    }
  }
}

/// Hands records over in batches.
struct BatchOutput {
  private var array: [UInt8] = []
  /// So many bytes go at once.
  private static let batchSize = 1 << 16

  mutating func add(
    _ record: UnsafeRawBufferPointer, _ receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) {
    array.append(array.isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
    array.append(contentsOf: record)
    if array.count >= Self.batchSize { try flush(receive) }
  }

  /// Hands over what waits, if there is anything.
  mutating func flush(_ receive: (RecordBatch) throws(StoreError) -> Void) throws(StoreError) {
    guard !array.isEmpty else { return }
    array.append(UInt8(ascii: "]"))
    try RecordBatch.lend(array, to: receive)
    array.removeAll(keepingCapacity: true)
  }
}
