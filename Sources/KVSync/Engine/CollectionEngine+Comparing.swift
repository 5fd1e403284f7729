internal import KVBase
internal import KVJSON
internal import KVQuery

/// Delta set caching, for backends without a history: what there is is listed with its times only, and what
/// differs from here is fetched.
extension CollectionEngine {
  /// Brings what matches up to date that way; nil if everything has to be read: nothing is here yet, all of
  /// the first page differs, or the backend does not know whether these are all.
  ///
  /// Memory: one page of ids and times, and one batch of entities.
  func refreshByComparing(
    _ query: Query, _ pageSize: Int?, _ local: any LocalStore, _ remote: any Remote, _ call: Call
  ) throws(StoreError) -> Refreshed? {
    guard query.isRemote, try hasAny(query, local, call) else { return nil }
    let mark = try local.beginRefresh(of: collection)
    return try inFlight.settlements.reading { (reading) throws(StoreError) -> Refreshed? in
      let intake = Intake(self, local, remote, call, reading)
      let wish = PageWish(size: pageSize ?? remote.limits.recordsPerAnswer)
      let pages = try remote.pages(of: query.selection, wish, in: collection, call)
      var refreshed = Refreshed()
      var listed = 0
      for start in pages.starts {
        var next: PageToken? = start
        while let token = next {
          let (page, answer) = try intake.versions(at: token, of: query, wish)
          next = answer.next
          let differing = try local.differing(page, in: collection)
          if listed == 0, !page.isEmpty, differing.count == page.count { return nil }
          listed += page.count
          try intake.fetch(differing, &refreshed)
        }
      }
      let end = try remote.end(of: pages, query.selection, having: listed, in: collection, call)
      guard end.isComplete else { return nil }
      refreshed.removed = try intake.finish(
        query, from: mark, isComplete: true, startedAt: pages.startedAt)
      return refreshed
    }
  }

  private func hasAny(
    _ query: Query, _ local: any EntityReader, _ call: Call
  ) throws(StoreError) -> Bool {
    var one = query.selection
    one.limit = 1
    let cursor = try local.find(one, in: collection, writtenSince: nil, within: call.budget)
    defer { cursor.close() }
    return try cursor.next { _ in } != nil
  }
}

extension CollectionEngine.Refreshing {
  /// How many ids are listed by one request; nil: as many as one may have.
  var pageSize: Int? {
    switch paging {
    case .off: nil
    case .pages(let size, _): max(1, size)
    }
  }
}

extension CollectionEngine.Intake {
  /// A page of a query's entities: which there are, and of which version.
  fileprivate func versions(
    at token: PageToken, of query: Query, _ wish: PageWish
  ) throws(StoreError) -> ([EntityVersion], PageAnswer) {
    var wanted = query.selection
    wanted.fields = engine.format.idPaths + [engine.format.versionPath].compactMap { $0 }
    return try call.repeating { () throws(StoreError) in
      var versions: [EntityVersion] = []
      let answer = try remote.page(at: token, of: wanted, wish, in: engine.collection, call) {
        (batch) throws(StoreError) in
        versions += zip(try batch.ids(), batch.outlines).map {
          EntityVersion(id: $0, version: $1.version(in: batch.bytes))
        }
      }
      return (versions, answer)
    }
  }

  /// Takes in the entities of some ids.
  fileprivate func fetch(
    _ ids: [String], _ refreshed: inout CollectionEngine.Refreshed
  ) throws(StoreError) {
    for some in ids.chunks(of: remote.limits.idsPerQuery) {
      try repeating(&refreshed) { (refreshed) throws(StoreError) in
        _ = try remote.find(ids: Array(some), in: engine.collection, call) {
          (batch) throws(StoreError) in try store(batch, &refreshed)
        }
      }
    }
  }
}
