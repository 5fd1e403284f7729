internal import KVBase
internal import KVJSON
package import KVQuery
package import KVSync
internal import KVTransport

extension KinveyRemote {
  package func changes(
    of query: Query, since: BackendMoment, in collection: String, call: Call,
    receive: (ChangeBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer? {
    var items = [KinveyEndpoint.QueryItem("since", since.text)]
    items += filterItems(of: query)
    // Our server tells then what does not match any more; others ignore it.
    items.append(.init("left", "true"))
    let url = service.endpoint.url(.data, [collection, "_deltaset"], query: items)
    do throws(StoreError) {
      return try changes(at: url, since: since, in: collection, call, receive: receive)
    } catch {
      // Not switched on, a moment before its history, or too much of it.
      switch error.answer?.error {
      case "MissingConfiguration", "ParameterValueOutOfRange", "ResultSetSizeExceeded":
        logFallback(collection, error.answer?.error ?? "")
        return nil
      default: throw error
      }
    }
  }

  /// Of other data than that of the moment nothing is taken, but it is read to its end: what turns out to be no answer of
  /// the backend says nothing about its data.
  private func changes(
    at url: String, since: BackendMoment, in collection: String, _ call: Call,
    receive: (ChangeBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer? {
    var delta = DeltaSplitter()
    let head = try stream(url, call) { (head, piece) throws(StoreError) in
      let isWanted = since.isOfSameData(as: head.requestStart)
      try delta.append(piece) { (records) throws(StoreError) in
        if isWanted { try receive(.saved(records)) }
      }
    }
    let (deleted, left) = try delta.finish()
    guard since.isOfSameData(as: head.requestStart) else {
      logFallback(collection, "its data has been replaced")
      return nil
    }
    // Gone by the time of this answer, whenever that was.
    let version = head.requestStart.map { RecordVersion($0.text) }
    if !deleted.isEmpty {
      try receive(.deleted(deleted.map { ChangeBatch.Deletion(id: $0, version: version) }))
    }
    if !left.isEmpty { try receive(.left(left)) }
    return ReadAnswer(startedAt: head.requestStart)
  }

  private func logFallback(_ collection: String, _ reason: String) {
    service.debug { "changes of \(collection): \(reason): reading everything" }
  }
}
