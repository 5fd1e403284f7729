internal import KVBase
internal import Synchronization

/// What a query found, as a list that loads little by little: which records, and in which order, is fixed; what they
/// hold is read batch by batch when it is asked for, and nothing is held open in between. Safe from any thread.
package final class FetchedResults: Sendable {
  /// What reading has cost.
  package struct Statistics: Sendable, Equatable {
    package var reads = 0
    package var cachedRecords = 0
    package var cachedBytes = 0
  }

  private struct State {
    /// By the numbers of batches, which cost their bytes.
    var cache: RecentCache<Int, FetchedBatch>
    var reads = 0
    /// Where the records come from, or why they cannot be read any more.
    var source: Result<any RecordSource, StoreError>
    var isFollowed = false
  }

  private let length: Atomic<Int>
  private let batchSize: Int
  /// The largest size of a batch that is kept beside others.
  private let maxBatchBytes: Int
  private let keepsBatches: Bool
  private let state: Monitor<State>
  /// Raised whenever batches that were given are not to be used any more.
  private let generation = Atomic(0)

  package init(_ source: any RecordSource, batchSize: Int, cacheBytes: Int) {
    self.batchSize = max(1, batchSize)
    length = Atomic(source.count)
    keepsBatches = !source.isKept
    maxBatchBytes = max(1, cacheBytes / 2)
    state = Monitor(
      State(cache: RecentCache(capacity: maxBatchBytes), source: .success(source)))
  }

  /// How many records there are.
  package var count: Int { length.load(ordering: .acquiring) }

  /// A batch that has the record at a position; reads it, with the rest of its batch, unless that was read lately.
  package func batch(at position: Int) throws(StoreError) -> FetchedBatch {
    let number = position / batchSize
    return try state.withLock { (state) throws(StoreError) in
      let count = self.count
      guard (0..<count).contains(position) else {
        throw StoreError(.invalid, "There is no record \(position) in a list of \(count).")
      }
      if let batch = state.cache.value(for: number), batch.range.contains(position) { return batch }
      let whole = number * batchSize..<min(count, (number + 1) * batchSize)
      var batch = try read(whole, &state)
      if !batch.range.contains(position) {
        // The records are so large that a read ends before the batch does.
        batch = try read(position..<whole.upperBound, &state)
      }
      if keepsBatches, batch.isWhole { state.cache.keep(batch, for: number, cost: batch.size) }
      return batch
    }
  }

  /// The same for who reads on in the batch that was given last, which costs neither a lock nor a look at the cache.
  package func batch(
    at position: Int, after last: inout Lent?
  ) throws(StoreError) -> FetchedBatch {
    let now = generation.load(ordering: .acquiring)
    if let last, last.generation == now, last.batch.range.contains(position) { return last.batch }
    let batch = try batch(at: position)
    last = Lent(batch: batch, generation: keepsBatches && batch.isWhole ? now : nil)
    return batch
  }

  /// A batch, and when it was given; nil: it has to be read again each time.
  package struct Lent: Sendable {
    package let batch: FetchedBatch
    fileprivate let generation: Int?
  }

  private func read(_ range: Range<Int>, _ state: inout State) throws(StoreError) -> FetchedBatch {
    state.reads += 1
    return try state.source.get().read(range, maxBytes: maxBatchBytes)
  }

  /// Ends the list: whatever is asked of it from now on fails, and nothing of it is held in memory. What was lent stays.
  package func end(_ error: StoreError) {
    state.withLock { state in
      state.cache.removeAll()
      state.source = .failure(error)
    }
    generation.wrappingAdd(1, ordering: .releasing)
  }

  /// Begins to follow the query of the list; `signal`: there may be changes. Throws `.misuse` while it is followed.
  package func follow(
    _ signal: @escaping @Sendable () -> Void
  ) throws(StoreError) -> FollowedResults {
    try state.withLock { (state) throws(StoreError) in
      guard !state.isFollowed else { throw StoreError(.misuse, "The list is followed already.") }
      let followed = try state.source.get().follow(signal)
      state.isFollowed = true
      return FollowedResults(self, followed)
    }
  }

  /// The list becomes another one.
  fileprivate func become(_ records: any RecordSource) throws(StoreError) {
    try state.withLock { (state) throws(StoreError) in
      _ = try state.source.get()
      state.source = .success(records)
      state.cache.removeAll()
      length.store(records.count, ordering: .releasing)
    }
    generation.wrappingAdd(1, ordering: .releasing)
  }

  fileprivate func endFollowing() { state.withLock { $0.isFollowed = false } }

  /// Forgets what was read: each record is read again when it is next asked for.
  package func refresh() {
    state.withLock { $0.cache.removeAll() }
    generation.wrappingAdd(1, ordering: .releasing)
  }

  package var statistics: Statistics {
    state.withLock {
      Statistics(
        reads: $0.reads, cachedRecords: $0.cache.values.reduce(0) { $0 + $1.range.count },
        cachedBytes: $0.cache.cost)
    }
  }
}

/// A list that follows its query: it becomes what the query finds whenever `changes` is called.
package final class FollowedResults: Sendable {
  private let results: FetchedResults
  private let records: any FollowedRecords

  fileprivate init(_ results: FetchedResults, _ records: any FollowedRecords) {
    self.results = results
    self.records = records
  }

  /// Makes the list what the query finds now, and gives what has changed by that; nil: nothing. One thread at a time.
  package func changes() throws(StoreError) -> ListChanges? {
    guard let next = try records.changes() else { return nil }
    try results.become(next.records)
    return next.changes
  }

  /// Gives no more signals; the list stays as it is. From any thread.
  package func end() {
    records.end()
    results.endFollowing()
  }
}
