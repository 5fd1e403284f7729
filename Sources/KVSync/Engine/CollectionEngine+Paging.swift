internal import KVBase
internal import KVJSON
internal import KVQuery

extension CollectionEngine {
  /// A refresh for an answer of any size, page by page; parts of it at the same time, as far as the backend lets. Nothing
  /// is deleted unless the backend is sure that all has come.
  func refreshPaged(
    _ query: Query, _ wish: PageWish, local: any LocalStore, remote: any Remote,
    call: Call
  ) throws(StoreError) -> Refreshed {
    let mark = try local.beginRefresh(of: collection)
    return try inFlight.settlements.reading { (reading) throws(StoreError) in
      var pages = try remote.pages(of: query.selection, wish, in: collection, call: call)
      let intake = PageIngestor(self, local, remote: remote, call: call, reading: reading)
      // What the backend has of a query that it cannot answer is more than is taken in.
      if query.isRemote, let expected = pages.expected { intake.progress.expect(expected) }
      var refreshed = try intake.ingest(pages, of: query.selection)
      var end = try remote.end(
        of: pages, query.selection, having: refreshed.answered, in: collection, call: call)
      if case .again(let more) = end {
        pages = more
        intake.progress.subtract(refreshed.received)
        refreshed = try intake.ingest(pages, of: query.selection)
        end = try remote.end(
          of: pages, query.selection, having: refreshed.answered, in: collection, call: call)
      }
      refreshed.removed = try intake.finish(
        query, from: mark, isComplete: end.isComplete && !refreshed.mayBeCut,
        startedAt: pages.startedAt ?? refreshed.startedAt)
      return refreshed
    }
  }
}

extension CollectionEngine.PageIngestor {
  typealias Refreshed = CollectionEngine.Refreshed

  /// Takes in all parts, some at the same time as far as the backend lets. The first error ends them all.
  fileprivate func ingest(_ pages: Pages, of selection: Query) throws(StoreError) -> Refreshed {
    let stop = Cancellation()
    let first = Monitor<StoreError?>(nil)
    var intake = self
    intake.call.cancellation = stop
    let each: @Sendable (Int) -> Refreshed = { [intake] number in
      var refreshed = Refreshed()
      do throws(StoreError) {
        try intake.ingestPart(
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

extension CollectionEngine.Refreshed {
  fileprivate mutating func add(_ page: PageAnswer) {
    if pages == 0 { startedAt = page.answer.startedAt }
    pages += 1
    answered += page.count
    if page.answer.mayBeCut { mayBeCut = true }
  }

  fileprivate mutating func add(_ part: Self) {
    // Of one part only: when the first page of several was evaluated says nothing about the others.
    startedAt = pages == 0 ? part.startedAt : nil
    pages += part.pages
    pulled += part.pulled
    received += part.received
    answered += part.answered
    mayBeCut = mayBeCut || part.mayBeCut
  }
}

extension PagesEnd {
  var isComplete: Bool {
    guard case .complete = self else { return false }
    return true
  }
}
