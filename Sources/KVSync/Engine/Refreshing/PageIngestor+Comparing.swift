internal import KVBase
internal import KVJSON
internal import KVQuery

/// Lists what the backend has by its versions, and fetches what differs.
extension PageIngestor {
  /// A query's entities: which there are, and of which version.
  func versions(
    of query: Query
  ) throws(StoreError) -> ([EntityVersion], ReadAnswer) {
    try versions(of: query) { (wanted, receive) throws(StoreError) in
      try remote.find(wanted, in: engine.collection, call: call, receive: receive)
    }
  }

  /// The versions of one page.
  func versions(
    at token: PageToken, of query: Query, wish: PageWish
  ) throws(StoreError) -> ([EntityVersion], PageAnswer) {
    try versions(of: query) { (wanted, receive) throws(StoreError) in
      try remote.page(
        at: token, of: wanted, wish: wish, in: engine.collection, call: call, receive: receive)
    }
  }

  private func versions<Answer>(
    of query: Query,
    _ read: (Query, (RecordBatch) throws(StoreError) -> Void) throws(StoreError) -> Answer
  ) throws(StoreError) -> ([EntityVersion], Answer) {
    var wanted = query.selection
    wanted.fields = engine.format.idPaths + [engine.format.versionPath].compactMap { $0 }
    return try call.repeating { () throws(StoreError) in
      var versions: [EntityVersion] = []
      let answer = try read(wanted) { (batch) throws(StoreError) in
        versions += zip(try batch.ids(), batch.outlines).map {
          EntityVersion(id: $0, version: $1.version(in: batch.bytes))
        }
      }
      return (versions, answer)
    }
  }

  /// Takes in the entities of some ids.
  func fetch(
    _ ids: [String], _ refreshed: inout Refreshed
  ) throws(StoreError) {
    for some in ids.chunks(of: remote.limits.idsPerQuery) {
      try repeating(&refreshed) { (refreshed) throws(StoreError) in
        _ = try remote.find(ids: Array(some), in: engine.collection, call: call) {
          (batch) throws(StoreError) in try store(batch, &refreshed)
        }
      }
    }
  }
}
