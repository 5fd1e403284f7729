internal import KVBase
internal import KVQuery

extension PageIngestor {
  /// Takes in all parts, some at the same time as far as the backend lets. The first error ends them all.
  func ingest(_ pages: Pages, of selection: Query) throws(StoreError) -> Refreshed {
    let stop = Cancellation()
    let first = Monitor<StoreError?>(nil)
    var ingestor = self
    ingestor.call.cancellation = stop
    let each: @Sendable (Int) -> Refreshed = { [ingestor] number in
      var refreshed = Refreshed()
      do throws(StoreError) {
        try ingestor.ingestPart(
          from: pages.starts[number], pages.wish, of: selection, refreshed: &refreshed)
      } catch {
        first.withLock { $0 = $0 ?? error }
        stop.cancel()
      }
      return refreshed
    }
    let parts = call.cancellation.notifying {
      stop.cancel()
    } during: {
      concurrentMap(pages.starts.count, threads: remote.limits.connections, each)
    }
    if let error = first.withLock({ $0 }) { throw error }
    return parts.reduce(into: Refreshed()) { $0.add($1) }
  }

  private func ingestPart(
    from start: PageToken, _ wish: PageWish, of selection: Query, refreshed: inout Refreshed
  ) throws(StoreError) {
    var next: PageToken? = start
    while let token = next {
      next = try repeating(&refreshed) { (refreshed) throws(StoreError) in
        let page = try remote.page(
          at: token, of: selection, wish: wish, in: engine.collection, call: call
        ) {
          (batch) throws(StoreError) in try store(batch, &refreshed)
        }
        refreshed.add(page)
        return page.next
      }
    }
  }
}
