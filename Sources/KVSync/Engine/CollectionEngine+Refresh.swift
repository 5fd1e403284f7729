internal import KVJSON
internal import KVQuery

extension CollectionEngine {
  /// A read answers with so many entities, or bytes, at the most; what exceeds it is left out silently.
  /// (The limits of the hosted service and of kvstored.)
  static let silentLimit = (entities: 10_000, bytes: UInt64(100_000_000))

  /// What of an answer is stored at once: enough to make the transaction cheap, little enough for flat
  /// memory and for others to get their turn to write.
  private static let batch = (entities: 5_000, bytes: 1 << 19)

  /// What a refresh did.
  struct Refreshed {
    var pulled = 0
    var removed = 0
    /// What the answer had, in its order; only if asked for.
    var ids: [String] = []
    var last: String?
    var bytes: UInt64 = 0
    var received = 0

    /// Whether the backend may have left something out.
    var mayBeCut: Bool { received == silentLimit.entities || bytes >= silentLimit.bytes }
  }

  /// Reads what matches from the backend into the local store; entities with pending writes are left as
  /// they are. Local entities that match and that the backend no longer has are deleted if the answer
  /// is certain to be complete. Memory: one batch.
  func refresh(
    _ query: Query, _ local: any LocalStore, _ remote: any Remote, _ call: Call,
    collectingIds: Bool = false
  ) throws(StoreError) -> Refreshed {
    let mark = try local.beginRefresh(of: collection)
    var whole = query
    whole.fields = []
    var refreshed = Refreshed()
    let answer = try receive(whole, remote, call, into: local, &refreshed, collectingIds)
    let isComplete = !query.isPaged && !refreshed.mayBeCut
    let key = RequestKey(filter: query.filterText, fields: "")
    refreshed.removed = try local.finishRefresh(
      of: collection, from: mark, deletingUnseen: isComplete ? query.selection : nil,
      recording: isComplete ? answer.startedAt.map { (key, $0) } : nil)
    return refreshed
  }

  /// The same for an answer of any size: page by page in the order of `_id`, each page starting behind
  /// the last id of the one before, so that what others write meanwhile moves no page.
  func refreshPaged(
    _ query: Query, pageSize: Int, _ local: any LocalStore, _ remote: any Remote, _ call: Call
  ) throws(StoreError) -> Refreshed {
    let total = try remote.count(query.selection, in: collection, call)
    call.progress.update { $0.entitiesTotal = UInt64(max(0, total.count)) }
    let mark = try local.beginRefresh(of: collection)
    var refreshed = Refreshed()
    while true {
      var page = query.selection
      if let last = refreshed.last {
        page = page.and(.field(.id, [.compare(.greater, .string(last))]))
      }
      page.sort = [Query.SortKey(.id)]
      page.limit = pageSize
      let before = refreshed.received
      let last = refreshed.last
      _ = try receive(page, remote, call, into: local, &refreshed, false)
      // A backend may cap pages below the wanted size: only an empty one is the end.
      if refreshed.received == before { break }
      guard last == nil || refreshed.last != last else {
        throw StoreError.badAnswer("The backend sent the same page twice.")
      }
    }
    let key = RequestKey(filter: query.filterText, fields: "")
    refreshed.removed = try local.finishRefresh(
      of: collection, from: mark, deletingUnseen: query.selection,
      recording: total.startedAt.map { (key, $0) })
    return refreshed
  }

  /// Streams one answer into the local store.
  private func receive(
    _ query: Query, _ remote: any Remote, _ call: Call, into local: any LocalStore,
    _ refreshed: inout Refreshed, _ collectingIds: Bool
  ) throws(StoreError) -> ReadAnswer {
    var splitter = ArraySplitter()
    let answer = try remote.find(query, in: collection, call) { (piece) throws(StoreError) in
      refreshed.bytes += UInt64(piece.count)
      do throws(JSONError) { try splitter.append(piece) } catch { throw .badAnswer(error) }
      if splitter.count >= Self.batch.entities || splitter.byteCount >= Self.batch.bytes {
        try store(&splitter, in: local, call, &refreshed, collectingIds)
      }
    }
    do throws(JSONError) { try splitter.finish() } catch { throw .badAnswer(error) }
    try store(&splitter, in: local, call, &refreshed, collectingIds)
    return answer
  }

  private func store(
    _ splitter: inout ArraySplitter, in local: any LocalStore, _ call: Call,
    _ refreshed: inout Refreshed, _ collectingIds: Bool
  ) throws(StoreError) {
    try splitter.take { (bytes, outlines) throws(StoreError) in
      guard let last = outlines.last else { return }
      guard outlines.allSatisfy({ $0.id != nil }) else {
        throw StoreError.badAnswer("The backend sent an entity without _id.")
      }
      refreshed.pulled += try local.store(bytes, outlines, in: collection)
      refreshed.received += outlines.count
      refreshed.last = last.id
      if collectingIds { refreshed.ids += outlines.compactMap(\.id) }
      call.progress.update { $0.entitiesDone += UInt64(outlines.count) }
    }
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
