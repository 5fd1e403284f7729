internal import KVBase
package import KVJSON
internal import KVQuery

extension CollectionEngine {
  /// How many entities are asked for together when a read is over.
  private static let recheckedAtOnce = 1_000

  /// What a refresh did.
  struct Refreshed {
    var pulled = 0
    var removed = 0
    /// What the answer had, in its order; only if asked for.
    var ids: [String]?
    /// How many were taken in.
    var received = 0
    /// How many the backend sent in pages: more, if it cannot select as the query does.
    var answered = 0
    /// How many pages came.
    var pages = 0
    /// Whether the backend may have left something out.
    var mayBeCut = false
    /// When the backend began to evaluate the first page.
    var startedAt: BackendMoment?
  }

  /// Reads what matches from the backend into the local store; entities with pending writes are left as
  /// they are. Local entities that match and that the backend no longer has are deleted if the answer
  /// is certain to be complete. Memory: one batch.
  func refresh(
    _ query: Query, _ local: any LocalStore, remote: any Remote, call: Call,
    collectingIds: Bool = false
  ) throws(StoreError) -> Refreshed {
    // First: what is settled from now on, and not taken from the answer, counts as seen.
    let mark = try local.beginRefresh(of: collection)
    return try inFlight.settlements.reading { (reading) throws(StoreError) in
      var whole = query
      whole.fields = []
      var refreshed = Refreshed(ids: collectingIds ? [] : nil)
      var intake = PageIngestor(self, local, remote: remote, call: call, reading: reading)
      if !query.isPaged { intake.call.counted = intake.progress }
      let answer = try intake.ingest(whole, &refreshed)
      let isComplete = !query.isPaged && !answer.mayBeCut
      refreshed.removed = try intake.finish(
        query, from: mark, isComplete: isComplete, startedAt: answer.startedAt)
      return refreshed
    }
  }

  // MARK: Taking in answers

  /// Streams answers of the backend into the local store.
  struct PageIngestor {
    let engine: CollectionEngine
    let local: any LocalStore
    let remote: any Remote
    var call: Call
    let reading: ReadWriteFence.Reading
    /// What of the operation's progress this read is.
    let progress: Progress.Part

    init(
      _ engine: CollectionEngine, _ local: any LocalStore, remote: any Remote, call: Call,
      reading: ReadWriteFence.Reading
    ) {
      self.engine = engine
      self.local = local
      self.remote = remote
      self.call = call
      self.reading = reading
      progress = call.progress.part()
    }

    /// Takes in one answer; from its start again if it broke off. What of it was stored stays, and is
    /// stored once more.
    @discardableResult
    func ingest(_ query: Query, _ refreshed: inout Refreshed) throws(StoreError) -> ReadAnswer {
      try repeating(&refreshed) { (refreshed) throws(StoreError) in
        try remote.find(query, in: engine.collection, call: call) { (batch) throws(StoreError) in
          try store(batch, &refreshed)
        }
      }
    }

    /// Runs a read, again if that is worthwhile: then from what was refreshed before it.
    func repeating<R>(
      _ refreshed: inout Refreshed, _ body: (inout Refreshed) throws(StoreError) -> R
    ) throws(StoreError) -> R {
      let before = refreshed
      return try call.repeating { () throws(StoreError) in
        progress.subtract(refreshed.received - before.received)
        refreshed = before
        return try body(&refreshed)
      }
    }

    func store(_ batch: RecordBatch, _ refreshed: inout Refreshed) throws(StoreError) {
      guard batch.count > 0 else { return }
      refreshed.pulled += try engine.store(batch.bytes, batch.outlines, in: local, of: reading)
      refreshed.received += batch.count
      if refreshed.ids != nil { refreshed.ids?.append(contentsOf: batch.outlines.compactMap(\.id)) }
      progress.advance(by: batch.count)
    }
  }

  /// Asks once more for what was settled while a read was under way. Its answer, which is not taken for these,
  /// may have been the newer one: what it shows is not told again, once the read's moment is recorded.
  func recheckSettled(
    during reading: ReadWriteFence.Reading, _ local: any LocalStore, remote: any Remote,
    call: Call
  ) throws(StoreError) {
    let ids = inFlight.settlements.settled(since: reading)
    for some in ids.chunks(of: Self.recheckedAtOnce) {
      let some = Array(some)
      try inFlight.settlements.reading { (again) throws(StoreError) in
        let found = try backendEntities(some, remote, call: call)
        for (id, entity) in found {
          let outline = try accepted(entity.bytes, as: id.text)
          try store(entity.bytes, outline, in: local, of: again)
        }
        _ = try forget(some.filter { found[RecordID($0)] == nil }, in: local, of: again)
      }
    }
  }

  /// Stores entities that a read brought; gives how many. What a write has settled since the read began
  /// is stored only where the read shows something newer still.
  func store(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline],
    in local: any EntityReader & Replica & Tombstones, of reading: ReadWriteFence.Reading
  ) throws(StoreError) -> Int {
    try validate(bytes, outlines)
    return try inFlight.settlements.storing(reading) { (isSettled) throws(StoreError) in
      let outlines = try withoutLateCreates(bytes, outlines, local: local)
      guard let isSettled else { return try local.store(bytes, outlines, in: collection) }
      var current: [EntityOutline] = []
      for outline in outlines {
        guard let id = outline.id, isSettled(id) else {
          current.append(outline)
          continue
        }
        guard let ours = try local.entity(id, in: collection, writtenSince: nil),
          let theirs = outline.version(in: bytes), ours.isOlder(than: theirs, format)
        else { continue }
        current.append(outline)
      }
      return try local.store(bytes, current, in: collection)
    }
  }
}

extension [UInt8] {
  /// Whether this entity is known to be of an older version.
  func isOlder(than other: RecordVersion, _ format: RecordFormat) -> Bool {
    format.version(of: self).map { format.isOlder($0, than: other) } ?? false
  }
}

extension StoreError {
  /// What came is no valid answer.
  package static func badAnswer(_ message: String) -> StoreError {
    var error = StoreError(.proto, message)
    error.answer = ServerAnswer(status: 200)
    return error
  }

  package static var entityWithoutId: StoreError {
    badAnswer("The backend sent an entity without _id.")
  }

  package static func badAnswer(_ error: JSONError) -> StoreError {
    var answer = badAnswer("The backend's answer is not what it should be: \(error.message).")
    answer.position = error.position
    return error.reason == .noMemory ? StoreError(error) : answer
  }
}
