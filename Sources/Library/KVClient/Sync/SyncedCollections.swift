internal import KVBase
internal import KVQuery
internal import KVSync

/// The collections of a client that are kept in step with the backend in the background: their names and what is kept of
/// them, the synchroniser and its thread, and how far the queue was told of. Safe from any thread.
final class SyncedCollections: Sendable {
  private struct State {
    /// In the order in which they are read.
    var names: [String] = []
    var expressions: [RecordID: Query]
    var synchroniser: Synchroniser?
    var worker: Worker?
    /// The application has stopped it: opening a store does not start it.
    var isStopped = false
    var isClosed = false
    /// Ends the automatic pushes.
    var pushing = Cancellation()
    /// Hear when a collection may have become synchronised, or all have ceased to be.
    var listeners: [Int: @Sendable () -> Void] = [:]
    var lastListener = 0
  }

  private let state: Monitor<State>
  /// The last write in the queue that was told of; nil: nothing is told. Held while it is told, so that the events come in
  /// their order.
  private let told = Monitor<Told?>(nil)

  private struct Told {
    var order: Int64 = 0
    var createdAt = Timestamp.distantPast
  }

  init(_ expressions: [RecordID: Query]) { state = Monitor(State(expressions: expressions)) }

  // MARK: The collections

  func name(_ index: Int) -> String { state.withLock { $0.names[index] } }

  var names: [String] { state.withLock { $0.names } }

  func index(of name: String) -> Int? {
    state.withLock { $0.names.firstIndex { $0.hasSameBytes(as: name) } }
  }

  /// What is kept of a collection.
  func expression(of name: String) -> Query {
    state.withLock { $0.expressions[RecordID(name)] } ?? Query()
  }

  func setExpression(_ query: Query?, of name: String) {
    state.withLock { $0.expressions[RecordID(name)] = query }
  }

  /// Adds a collection if it is not there.
  func add(_ name: String) {
    let new = state.withLock { state -> Synchroniser? in
      guard !state.names.contains(where: { $0.hasSameBytes(as: name) }) else { return nil }
      state.names.append(name)
      return state.synchroniser
    }
    new?.add()
  }

  // MARK: The synchroniser

  var running: Synchroniser? {
    state.withLock { $0.synchroniser }.flatMap { $0.isRunning ? $0 : nil }
  }

  /// Whether writes are sent by themselves: once all was read.
  var isReady: Bool { running?.isReady ?? false }

  var pushing: Cancellation { state.withLock { $0.pushing } }

  var isOwnThread: Bool { state.withLock { $0.worker }?.isCurrent ?? false }

  /// Starts. `isImplicit`: because a store was opened, which does not count after a stop. `make` runs the first time; its
  /// argument is the number of collections.
  func start(
    isImplicit: Bool, isOnline: Bool?, _ make: (Int) throws(StoreError) -> Synchroniser
  ) throws(StoreError) {
    let synchroniser = try state.withLock { (state) throws(StoreError) -> Synchroniser? in
      guard !state.isClosed else { throw StoreError(.misuse, "The client is closed.") }
      if isImplicit, state.isStopped { return nil }
      state.isStopped = false
      if state.pushing.isCancelled { state.pushing = Cancellation() }
      if let known = state.synchroniser { return known }
      let new = try make(state.names.count)
      guard let worker = Worker("kv-sync", { new.run() }) else {
        throw StoreError(.internal, "No thread could be started.")
      }
      (state.synchroniser, state.worker) = (new, worker)
      return new
    }
    synchroniser?.start(isOnline: isOnline)
    signal()
  }

  /// Stops, without waiting: what is under way is cancelled.
  func stop() {
    let (synchroniser, pushing) = state.withLock { state in
      state.isStopped = true
      return (state.synchroniser, state.pushing)
    }
    synchroniser?.stop()
    pushing.cancel()
    told.withLock { $0 = nil }
    signal()
  }

  /// Waits until no live change is being written.
  func quiesce() { state.withLock { $0.synchroniser }?.quiesce() }

  /// Ends it for good, and waits for its thread. What it asks of the backend has to be cancelled by the caller.
  func close() {
    let (synchroniser, worker, pushing) = state.withLock { state in
      state.isClosed = true
      return (state.synchroniser, state.worker, state.pushing)
    }
    pushing.cancel()
    synchroniser?.close()
    worker?.join()
  }

  // MARK: Who listens

  /// Whether a collection was read since the last start.
  func isSynced(_ name: String) -> Bool {
    guard let index = index(of: name), let running else { return false }
    return running.status(of: index).isSynced
  }

  /// From now on `signal` is called, from any thread and with no lock held, whenever `isSynced` may have changed. Gives what
  /// `removeListener` takes.
  func addListener(_ signal: @escaping @Sendable () -> Void) -> Int {
    state.withLock { state in
      state.lastListener += 1
      state.listeners[state.lastListener] = signal
      return state.lastListener
    }
  }

  func removeListener(_ number: Int) { state.withLock { $0.listeners[number] = nil } }

  func signal() { for signal in state.withLock({ Array($0.listeners.values) }) { signal() } }

  // MARK: The queue

  /// Tells of what was added to the queue since the last time; of nothing the first time after a start.
  func tellQueue(
    of local: any Outbox, _ tell: (PendingWrite) -> Void
  ) throws(StoreError) {
    try told.withLock { (told) throws(StoreError) in
      guard running != nil else { return }
      var last = told ?? Told()
      // Once the last one has gone, its position is given again: then what was made later is new.
      let there = try local.waiting(after: last.order - 1, limit: 1).first
      let isThere = there?.order == last.order && there?.createdAt == last.createdAt
      let tells = told != nil
      let madeAfter = isThere ? .distantPast : last.createdAt
      if !isThere { last.order = 0 }
      while true {
        let page = try local.waiting(after: last.order, limit: 500)
        guard let end = page.last else { break }
        for write in page where tells && madeAfter < write.createdAt { tell(write) }
        last = Told(order: end.order, createdAt: end.createdAt)
      }
      told = last
    }
  }
}
