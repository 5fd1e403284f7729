internal import KVQuery

extension Refresher {
  /// A refresh for an answer of any size, page by page; parts of it at the same time, as far as the backend lets. Nothing
  /// is deleted unless the backend is sure that all has come.
  func refreshPaged(_ query: Query, _ wish: PageWish) throws(StoreError) -> Refreshed {
    let mark = try local.beginRefresh(of: collection)
    return try fence.reading(query.selection, since: mark) { (reading) throws(StoreError) in
      var pages = try remote.pages(of: query.selection, wish, in: collection, call: call)
      let ingestor = PageIngestor(self, reading: reading)
      // What the backend has of a query that it cannot answer is more than is taken in.
      if query.isRemote, let expected = pages.expected { ingestor.progress.expect(expected) }
      var refreshed = try ingestor.ingest(pages, of: query.selection)
      var end = try remote.end(
        of: pages, query.selection, having: refreshed.answered, in: collection, call: call)
      if case .again(let more) = end {
        pages = more
        ingestor.progress.subtract(refreshed.received)
        refreshed = try ingestor.ingest(pages, of: query.selection)
        end = try remote.end(
          of: pages, query.selection, having: refreshed.answered, in: collection, call: call)
      }
      refreshed.isComplete = end.isComplete && refreshed.isComplete
      refreshed.removed = try ingestor.finish(
        query, from: mark, isComplete: refreshed.isComplete,
        startedAt: pages.startedAt ?? refreshed.startedAt)
      return refreshed
    }
  }
}

extension PagesEnd {
  var isComplete: Bool {
    guard case .complete = self else { return false }
    return true
  }
}
