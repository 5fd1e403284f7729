internal import KVJSON
internal import KVQuery

extension CollectionEngine {
  /// A read answers with so many entities at the most; what exceeds it is left out silently. So is what
  /// exceeds 100 MB: an answer that was cut there has at least these bytes, because no entity has more
  /// than 16 MB. (The limits of the hosted service; kvstored's are the same.)
  static let silentLimit = (entities: 10_000, bytes: UInt64(80_000_000))

  /// What of an answer is stored at once: enough to make the transaction cheap, little enough for flat
  /// memory and for others to get their turn to write.
  private static let batch = (entities: 5_000, bytes: 1 << 19)

  /// What a refresh did.
  struct Refreshed {
    var pulled = 0
    var removed = 0
    /// What the answer had, in its order; only if asked for.
    var ids: [String]?
    var last: String?
    var bytes: UInt64 = 0
    var received = 0

    /// Whether the backend may have left something out. One that answers with more has no such limits.
    var mayBeCut: Bool {
      received == silentLimit.entities
        || (received < silentLimit.entities && bytes >= silentLimit.bytes)
    }
  }

  /// Reads what matches from the backend into the local store; entities with pending writes are left as
  /// they are. Local entities that match and that the backend no longer has are deleted if the answer
  /// is certain to be complete. Memory: one batch.
  func refresh(
    _ query: Query, _ local: any LocalStore, _ remote: any Remote, _ call: Call,
    collectingIds: Bool = false
  ) throws(StoreError) -> Refreshed {
    try inFlight.settlements.reading { (reading) throws(StoreError) in
      let mark = try local.beginRefresh(of: collection)
      var whole = query
      whole.fields = []
      var refreshed = Refreshed(ids: collectingIds ? [] : nil)
      let intake = Intake(engine: self, local: local, remote: remote, call: call, reading: reading)
      let answer = try intake.take(whole, &refreshed)
      let isComplete = !query.isPaged && !refreshed.mayBeCut
      let key = RequestKey(filter: query.filterText, fields: "")
      refreshed.removed = try local.finishRefresh(
        of: collection, from: mark, deletingUnseen: isComplete ? query.selection : nil,
        recording: isComplete ? answer.startedAt.map { (key, $0) } : nil)
      return refreshed
    }
  }

  /// The same for an answer of any size: page by page in the order of `_id`, each page starting behind
  /// the last id of the one before, so that what others write meanwhile moves no page.
  ///
  /// A backend that orders ids in a way of its own ends too early with that. Then the rest is read by
  /// counting on, and nothing is deleted unless at least as many came as the backend had counted.
  func refreshPaged(
    _ query: Query, pageSize: Int, _ local: any LocalStore, _ remote: any Remote, _ call: Call
  ) throws(StoreError) -> Refreshed {
    try inFlight.settlements.reading { (reading) throws(StoreError) in
      let total = try remote.count(query.selection, in: collection, call)
      call.progress.update { $0.entitiesTotal = UInt64(max(0, total.count)) }
      let mark = try local.beginRefresh(of: collection)
      var refreshed = Refreshed()
      let intake = Intake(engine: self, local: local, remote: remote, call: call, reading: reading)
      try intake.takePages(of: pageSize, query.selection, &refreshed)
      if refreshed.received < total.count {
        try intake.takeRest(of: pageSize, query.selection, &refreshed)
      }
      let isComplete = refreshed.received >= total.count
      let key = RequestKey(filter: query.filterText, fields: "")
      refreshed.removed = try local.finishRefresh(
        of: collection, from: mark, deletingUnseen: isComplete ? query.selection : nil,
        recording: isComplete ? total.startedAt.map { (key, $0) } : nil)
      return refreshed
    }
  }

  // MARK: Taking in answers

  /// Streams answers of the backend into the local store.
  struct Intake {
    let engine: CollectionEngine
    let local: any LocalStore
    let remote: any Remote
    let call: Call
    let reading: Settlements.Reading

    /// Takes in one answer; from its start again if it broke off. What of it was stored stays, and is
    /// stored once more.
    @discardableResult
    func take(_ query: Query, _ refreshed: inout Refreshed) throws(StoreError) -> ReadAnswer {
      let before = refreshed
      return try call.repeating { () throws(StoreError) in
        refreshed = before
        return try takeOnce(query, &refreshed)
      }
    }

    private func takeOnce(
      _ query: Query, _ refreshed: inout Refreshed
    ) throws(StoreError) -> ReadAnswer {
      var splitter = ArraySplitter()
      let answer = try remote.find(query, in: engine.collection, call) {
        (piece) throws(StoreError) in
        refreshed.bytes += UInt64(piece.count)
        do throws(JSONError) { try splitter.append(piece) } catch { throw .badAnswer(error) }
        if splitter.count >= batch.entities || splitter.byteCount >= batch.bytes {
          try store(&splitter, &refreshed)
        }
      }
      do throws(JSONError) { try splitter.finish() } catch { throw .badAnswer(error) }
      try store(&splitter, &refreshed)
      return answer
    }

    /// Takes in pages, each behind the last id of the one before. A backend may cap pages below the wanted
    /// size: only an empty one is the end.
    func takePages(
      of size: Int, _ selection: Query, _ refreshed: inout Refreshed
    ) throws(StoreError) {
      var page = selection
      page.sort = [Query.SortKey(.id)]
      page.limit = size
      while true {
        let before = (received: refreshed.received, last: refreshed.last)
        try take(page, &refreshed)
        if refreshed.received == before.received { return }
        guard let last = refreshed.last, last != before.last else {
          throw StoreError.badAnswer("The backend sent the same page twice.")
        }
        page.filter = selection.and(.field(.id, [.compare(.greater, .string(last))])).filter
      }
    }

    /// Takes in what is behind the entities that came so far, by counting.
    func takeRest(
      of size: Int, _ selection: Query, _ refreshed: inout Refreshed
    ) throws(StoreError) {
      var page = selection
      page.sort = [Query.SortKey(.id)]
      page.limit = size
      while true {
        page.skip = refreshed.received
        try take(page, &refreshed)
        if refreshed.received == page.skip { return }
      }
    }

    private func store(
      _ splitter: inout ArraySplitter, _ refreshed: inout Refreshed
    ) throws(StoreError) {
      try splitter.take { (bytes, outlines) throws(StoreError) in
        guard let last = outlines.last else { return }
        guard outlines.allSatisfy({ $0.id != nil }) else {
          throw StoreError.badAnswer("The backend sent an entity without _id.")
        }
        refreshed.pulled += try engine.store(bytes, outlines, in: local, of: reading)
        refreshed.received += outlines.count
        refreshed.last = last.id
        if refreshed.ids != nil { refreshed.ids?.append(contentsOf: outlines.compactMap(\.id)) }
        call.progress.update { $0.entitiesDone += UInt64(outlines.count) }
      }
    }
  }

  /// Stores entities that a read brought; gives how many. What a write has settled since the read began
  /// is stored only where the read shows something newer still.
  func store(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], in local: any LocalStore,
    of reading: Settlements.Reading
  ) throws(StoreError) -> Int {
    try inFlight.settlements.storing(reading) { (isSettled) throws(StoreError) in
      guard let isSettled else { return try local.store(bytes, outlines, in: collection) }
      var current: [EntityOutline] = []
      for outline in outlines {
        guard let id = outline.id, isSettled(id) else {
          current.append(outline)
          continue
        }
        guard let ours = try local.entity(id, in: collection, writtenSince: nil),
          let theirs = outline.lastModified, ours.isOlder(than: bytes[theirs])
        else { continue }
        current.append(outline)
      }
      return try local.store(bytes, current, in: collection)
    }
  }
}

extension [UInt8] {
  /// Whether this entity was modified before a moment in the backend's notation, which compares as text.
  fileprivate func isOlder(than moment: Slice<UnsafeRawBufferPointer>) -> Bool {
    guard let outline = try? EntityScanner.outline(of: self), let range = outline.lastModified
    else { return false }
    return self[range].lexicographicallyPrecedes(moment)
  }
}

extension StoreError {
  /// What came is no valid answer.
  static func badAnswer(_ message: String) -> StoreError {
    var error = StoreError(.proto, message)
    error.answer = ServerAnswer(status: 200)
    return error
  }

  static func badAnswer(_ error: JSONError) -> StoreError {
    var answer = badAnswer("The backend's answer is not what it should be: \(error.message).")
    answer.position = error.position
    return answer
  }
}
