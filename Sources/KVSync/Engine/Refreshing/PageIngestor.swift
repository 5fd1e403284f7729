internal import KVBase
internal import KVJSON
internal import KVQuery

/// Streams answers of the backend into the local store.
struct PageIngestor {
  let refresher: Refresher
  var call: Call
  let reading: ReadWriteFence.Reading
  /// The part of the operation's progress that this read is.
  let progress: Progress.Part

  init(_ refresher: Refresher, reading: ReadWriteFence.Reading) {
    self.refresher = refresher
    self.call = refresher.call
    self.reading = reading
    progress = refresher.call.progress.part()
  }

  var engine: CollectionEngine { refresher.engine }
  var local: any LocalStore { refresher.local }
  var remote: any Remote { refresher.remote }

  /// Takes in one answer; from its start again if it broke off. What of it was stored stays, and is
  /// stored once more.
  @discardableResult
  func ingest(_ query: Query, _ refreshed: inout Refreshed) throws(StoreError) -> ReadAnswer {
    try repeating(&refreshed) { (refreshed) throws(StoreError) in
      try remote.find(query, in: engine.collection, call: call) { (batch) throws(StoreError) in
        try store(batch, &refreshed)
      }
    }
  }

  /// Runs a read, again if that is worthwhile: then from what was refreshed before it.
  func repeating<R>(
    _ refreshed: inout Refreshed, _ body: (inout Refreshed) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let before = refreshed
    return try call.repeating { () throws(StoreError) in
      progress.subtract(refreshed.received - before.received)
      refreshed = before
      return try body(&refreshed)
    }
  }

  func store(_ batch: RecordBatch, _ refreshed: inout Refreshed) throws(StoreError) {
    guard batch.count > 0 else { return }
    refreshed.pulled += try engine.store(batch.bytes, batch.outlines, in: local, of: reading)
    refreshed.received += batch.count
    if refreshed.ids != nil { refreshed.ids?.append(contentsOf: batch.outlines.compactMap(\.id)) }
    progress.advance(by: batch.count)
  }
}
