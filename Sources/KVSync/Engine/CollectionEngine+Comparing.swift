internal import KVBase
internal import KVJSON
internal import KVQuery

/// Delta set caching, for backends without a history: what there is is listed with its times only, and what
/// differs from here is fetched.
extension CollectionEngine {
  /// How many entities are fetched by one request.
  private static let idsAtOnce = 200

  /// Brings what matches up to date that way; nil if everything has to be read: nothing is here yet, all of
  /// the first page differs, or the backend does not order ids as text.
  ///
  /// Memory: one page of ids and times, and one batch of entities.
  func refreshByComparing(
    _ query: Query, _ pageSize: Int, _ local: any LocalStore, _ remote: any Remote, _ call: Call
  ) throws(StoreError) -> Refreshed? {
    guard query.isRemote, try hasAny(query, local, call) else { return nil }
    let mark = try local.beginRefresh(of: collection)
    return try inFlight.settlements.reading { (reading) throws(StoreError) -> Refreshed? in
      let total = try remote.count(query.selection, in: collection, call)
      let intake = Intake(self, local, remote, call, reading)
      var refreshed = Refreshed()
      var listed = Refreshed()
      while case let page = try intake.versions(of: query, after: listed.last, pageSize),
        let last = page.last
      {
        guard !last.id.hasSameBytes(as: listed.last ?? "") else {
          throw StoreError.badAnswer("The backend sent the same page twice.")
        }
        let differing = try local.differing(page, in: collection)
        if listed.last == nil, differing.count == page.count { return nil }
        listed.received += page.count
        listed.last = last.id
        for start in stride(from: 0, to: differing.count, by: Self.idsAtOnce) {
          let ids = differing[start..<min(start + Self.idsAtOnce, differing.count)]
          try intake.take(Query(.field(.id, [.isIn(ids.map { .string($0) })])), &refreshed)
        }
      }
      guard try listed.received >= intake.least(total.count, query, listed) else { return nil }
      refreshed.removed = try intake.finish(
        query, from: mark, isComplete: true, startedAt: total.startedAt)
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
  /// How many ids are listed by one request.
  var pageSize: Int {
    switch paging {
    case .off: CollectionEngine.silentLimit.entities
    case .pages(let size, _): max(1, size)
    }
  }
}

extension CollectionEngine.Intake {
  /// The next page of a query's entities in the order of their ids: which there are, and of when.
  fileprivate func versions(
    of query: Query, after last: String?, _ size: Int
  ) throws(StoreError) -> [EntityVersion] {
    var page = query.selection
    page.sort = [Query.SortKey(.id)]
    page.fields = [.id, Path(RecordFormat.default.version.joined(separator: "."))]
    page.limit = size
    if let last {
      page.filter = page.and(.field(.id, [.compare(.greater, .string(last))])).filter
    }
    return try call.repeating { () throws(StoreError) in
      var splitter = ArraySplitter()
      var versions: [EntityVersion] = []
      _ = try remote.find(page, in: engine.collection, call) { (piece) throws(StoreError) in
        do throws(JSONError) { try splitter.append(piece) } catch { throw .badAnswer(error) }
        try Self.take(&splitter, into: &versions)
      }
      do throws(JSONError) { try splitter.finish() } catch { throw .badAnswer(error) }
      try Self.take(&splitter, into: &versions)
      return versions
    }
  }

  private static func take(
    _ splitter: inout ArraySplitter, into versions: inout [EntityVersion]
  ) throws(StoreError) {
    try splitter.take { (bytes, outlines) throws(StoreError) in
      for outline in outlines {
        guard let id = outline.id else {
          throw StoreError.entityWithoutId
        }
        versions.append(EntityVersion(id: id, version: outline.version(in: bytes)))
      }
    }
  }
}
