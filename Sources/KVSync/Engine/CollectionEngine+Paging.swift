internal import KVBase
internal import KVJSON
internal import KVQuery

extension CollectionEngine {
  /// A refresh for an answer of any size: page by page in the order of `_id`, each page starting behind the
  /// last id of the one before, so that what others write meanwhile moves no page.
  ///
  ///     ids    ├────────── b₁ ────────── b₂ ──────────┤      three ranges, read at the same time
  ///     pages   ▭ ▭ ▭ ▭    │ ▭ ▭ ▭ ▭     │ ▭ ▭ ▭ ▭
  ///
  /// Pages of one range come one after the other. Counting pages off with `skip` could be done at the same
  /// time too, but an entity that is deleted meanwhile would move all pages behind it, and one be missed.
  ///
  /// A backend that orders ids in a way of its own ends too early with that. Then everything is read once more
  /// by counting on, and nothing is deleted unless at least as many came as the backend had counted.
  func refreshPaged(
    _ query: Query, _ pages: (size: Int, ranges: Int), _ local: any LocalStore,
    _ remote: any Remote, _ call: Call
  ) throws(StoreError) -> Refreshed {
    let mark = try local.beginRefresh(of: collection)
    return try inFlight.settlements.reading { (reading) throws(StoreError) in
      let total = try remote.count(query.selection, in: collection, call)
      let intake = Intake(self, local, remote, call, reading)
      intake.progress.expect(total.count)
      let bounds = try intake.bounds(of: query.selection, total.count, pages)
      var refreshed = try intake.takeRanges(query.selection, between: bounds, of: pages.size)
      if refreshed.received < total.count {
        try intake.takeByCounting(of: pages.size, query.selection, &refreshed)
      }
      let isComplete = try refreshed.received >= intake.least(total.count, query, refreshed)
      refreshed.removed = try intake.finish(
        query, from: mark, isComplete: isComplete, startedAt: total.startedAt)
      return refreshed
    }
  }
}

extension CollectionEngine.Intake {
  typealias Refreshed = CollectionEngine.Refreshed

  /// Ids that divide the selection into ranges of about the same size, of several pages each. Where exactly
  /// they are does not matter, nor whether they stay.
  fileprivate func bounds(
    of selection: Query, _ count: Int, _ pages: (size: Int, ranges: Int)
  ) throws(StoreError) -> [String] {
    let ranges = min(pages.ranges, count / max(1, pages.size))
    guard ranges > 1 else { return [] }
    var bounds: [String] = []
    for number in 1..<ranges {
      var query = selection
      query.sort = [Query.SortKey(.id)]
      query.fields = [.id]
      query.skip = count / ranges * number
      query.limit = 1
      guard let id = try firstId(query), bounds.last.map({ $0.isBefore(id) }) ?? true else { break }
      bounds.append(id)
    }
    return bounds
  }

  private func firstId(_ query: Query) throws(StoreError) -> String? {
    try call.repeating { () throws(StoreError) in
      var bytes: [UInt8] = []
      _ = try remote.find(query, in: engine.collection, call) { (piece) throws(StoreError) in
        bytes.append(contentsOf: piece)
      }
      do throws(JSONError) { return try EntityScanner.outlines(ofArray: bytes).first?.id } catch {
        throw .badAnswer(error)
      }
    }
  }

  /// Takes in what lies between these ids, ranges at the same time as far as the backend lets. The first
  /// error ends them all.
  fileprivate func takeRanges(
    _ selection: Query, between bounds: [String], of size: Int
  ) throws(StoreError) -> Refreshed {
    let stop = Cancellation()
    let first = Monitor<StoreError?>(nil)
    var intake = self
    intake.call.cancellation = stop
    let each: @Sendable (Int) -> Refreshed = { [intake] place in
      var refreshed = Refreshed()
      do throws(StoreError) {
        try intake.takePages(
          of: size, selection, after: place > 0 ? bounds[place - 1] : nil,
          last: place < bounds.count ? bounds[place] : nil, &refreshed)
      } catch {
        first.peek { $0 = $0 ?? error }
        stop.cancel()
      }
      return refreshed
    }
    let parts = call.cancellation.notifying {
      stop.cancel()
    } during: {
      together(bounds.count + 1, threads: remote.connections, each)
    }
    if let error = first.peek({ $0 }) { throw error }
    return parts.reduce(into: Refreshed()) { $0.add($1) }
  }

  /// Takes in a range page by page, each behind the last id of the one before. A backend may cap pages below
  /// the wanted size: only an empty one is the end.
  private func takePages(
    of size: Int, _ selection: Query, after start: String?, last end: String?,
    _ refreshed: inout Refreshed
  ) throws(StoreError) {
    var page = selection
    page.sort = [Query.SortKey(.id)]
    page.limit = size
    var after = start
    while true {
      var tests: [Test] = []
      if let after { tests.append(.compare(.greater, .string(after))) }
      if let end { tests.append(.compare(.lessOrEqual, .string(end))) }
      if !tests.isEmpty { page.filter = selection.and(.field(.id, tests)).filter }
      let before = refreshed.received
      try take(page, &refreshed)
      if refreshed.received == before { return }
      guard let last = refreshed.last, after.map({ !$0.hasSameBytes(as: last) }) ?? true else {
        throw StoreError.badAnswer("The backend sent the same page twice.")
      }
      after = last
    }
  }

  /// How many have to have come: as many as were counted, or as there are now if some were deleted meanwhile.
  func least(
    _ counted: Int, _ query: Query, _ refreshed: Refreshed
  ) throws(StoreError) -> Int {
    guard refreshed.received < counted else { return counted }
    return min(counted, try remote.count(query.selection, in: engine.collection, call).count)
  }

  /// Takes in everything by counting pages off, if anything lies behind what came.
  fileprivate func takeByCounting(
    of size: Int, _ selection: Query, _ refreshed: inout Refreshed
  ) throws(StoreError) {
    var page = selection
    page.sort = [Query.SortKey(.id)]
    page.limit = 1
    page.skip = refreshed.received
    guard try firstId(page) != nil else { return }
    progress.take(back: refreshed.received)
    refreshed = Refreshed()
    page.limit = size
    while true {
      page.skip = refreshed.received
      try take(page, &refreshed)
      if refreshed.received == page.skip { return }
    }
  }
}

extension CollectionEngine.Refreshed {
  fileprivate mutating func add(_ part: Self) {
    pulled += part.pulled
    received += part.received
    bytes += part.bytes
  }
}

// Ids are bytes: as `String`s, two that differ in the form of an accent would be one.
extension String {
  fileprivate func isBefore(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
