internal import KVBase
internal import KVJSON
internal import KVQuery

/// Records of a network store: each batch is read from the backend, with one request for as many ids as that may name.
struct RemoteFaults: RecordSource {
  let engine: CollectionEngine
  let remote: LocalFilteringRemote
  let listed: ListedRecords
  let projection: Projection?
  let later: CollectionEngine.LaterRead

  var count: Int { listed.count }
  var isKept: Bool { false }

  func read(_ range: Range<Int>, maxBytes: Int) throws(StoreError) -> FetchedBatch {
    let batch = FetchedBatch(from: range.lowerBound)
    try later { (options) throws(StoreError) in
      for some in Array(range).chunks(of: remote.limits.idsPerQuery) where batch.size < maxBytes {
        let found = try engine.backendEntities(
          some.map { listed.id(at: $0) }, remote, call: options.call)
        for position in some { try append(position, found, to: batch) }
      }
    }
    return batch
  }

  private func append(
    _ position: Int, _ found: [RecordID: BackendEntity], to batch: FetchedBatch
  ) throws(StoreError) {
    guard let record = found[RecordID(listed.id(at: position))] else {
      return try batch.appendDeleted()
    }
    let outline = try engine.arrivals.accepted(record.bytes, as: listed.id(at: position))
    try engine.arrivals.validate(record.bytes, [outline])
    let state: RecordState =
      listed.isVersion(record.version, at: position) ? .unchanged : .changed
    guard let projection else { return try batch.append(record.bytes, state) }
    let text = try record.bytes.withBorrowedBytes { (record) throws(StoreError) in
      projection.apply(to: record)
    }
    try batch.append(text, state)
  }
}
