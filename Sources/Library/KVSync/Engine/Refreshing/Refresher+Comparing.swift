internal import KVBase
internal import KVJSON
internal import KVQuery

/// Delta set caching, for backends without a history: what there is is listed with its times only, and what
/// differs from here is fetched.
extension Refresher {
  /// How many entities are here at the most if all there are may well fit into one answer.
  private static let maxListedAtOnce = 9_000

  /// Brings what matches up to date that way; nil if everything has to be read: nothing is here yet, all of
  /// the first page differs, or the backend does not know whether these are all.
  ///
  /// What fits into one answer is listed by one request; what does not, or where a size of pages is asked for, page by
  /// page. Memory: one page of ids and times, and one batch of entities.
  func refreshByComparing(_ query: Query, _ pageSize: Int?) throws(StoreError) -> Refreshed? {
    guard query.isRemote, try hasAny(query) else { return nil }
    let mark = try local.beginRefresh(of: collection)
    return try fence.reading(query.selection, since: mark) {
      (reading) throws(StoreError) -> Refreshed? in
      let ingestor = PageIngestor(self, reading: reading)
      if pageSize == nil, try isSmall(query) {
        let (all, answer) = try ingestor.versions(of: query)
        if answer.lacksDamaged { return nil }
        if !answer.mayBeCut {
          return try finish(all, answer, ingestor: ingestor, query: query, from: mark)
        }
      }
      let wish = PageWish(size: pageSize ?? remote.limits.recordsPerAnswer)
      let pages = try remote.pages(of: query.selection, wish, in: collection, call: call)
      var refreshed = Refreshed()
      var listed = 0
      for start in pages.starts {
        var next: PageToken? = start
        while let token = next {
          let (page, answer) = try ingestor.versions(at: token, of: query, wish: wish)
          if answer.answer.lacksDamaged { return nil }
          next = answer.next
          let differing = try local.differing(page, in: collection)
          if listed == 0, !page.isEmpty, differing.count == page.count { return nil }
          listed += page.count
          try ingestor.fetch(differing, &refreshed)
        }
      }
      let end = try remote.end(
        of: pages, query.selection, having: listed, in: collection, call: call)
      guard end.isComplete else { return nil }
      refreshed.removed += try ingestor.finish(
        query, from: mark, isComplete: true, startedAt: pages.startedAt)
      return refreshed
    }
  }

  /// Compares what has come as a whole.
  private func finish(
    _ all: [EntityVersion], _ answer: ReadAnswer, ingestor: PageIngestor, query: Query,
    from mark: RefreshMark
  ) throws(StoreError) -> Refreshed? {
    let differing = try local.differing(all, in: collection)
    if !all.isEmpty, differing.count == all.count { return nil }
    var refreshed = Refreshed()
    try ingestor.fetch(differing, &refreshed)
    refreshed.removed += try ingestor.finish(
      query, from: mark, isComplete: true, startedAt: answer.startedAt)
    return refreshed
  }

  private func isSmall(_ query: Query) throws(StoreError) -> Bool {
    let count = try local.count(
      query.selection, in: collection, writtenSince: nil, within: call.budget)
    return count <= Self.maxListedAtOnce
  }

  private func hasAny(_ query: Query) throws(StoreError) -> Bool {
    var one = query.selection
    one.limit = 1
    let cursor = try local.find(one, in: collection, writtenSince: nil, within: call.budget)
    defer { cursor.close() }
    return try cursor.next { _ in } != nil
  }
}
