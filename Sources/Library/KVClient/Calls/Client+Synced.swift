internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVStorage
package import KVSync

/// Collections that are kept in step with the backend in the background.
extension Client {
  // MARK: Starting and stopping

  /// Starts to synchronise; nothing happens if that has started. With a schema these are all models, without one the
  /// collections that stores of the type `synced` were opened of. `.unsupported` without a backend, or with one that
  /// keeps nothing here.
  package func startSync() throws(StoreError) { try startSync(isImplicit: false) }

  /// Stops, without waiting: what is under way is cancelled. What was saved and not sent stays pending.
  package func stopSync() { synced.stop() }

  /// Stops, and deletes all local data of the client's tag. Throws `.pending`, and nothing is stopped or deleted, if writes
  /// wait, unless they are to be discarded.
  package func clear(discardingPending: Bool) throws(StoreError) {
    let storage = try storage(options.tag)
    if !discardingPending {
      let unsent = try storage.unsentCount()
      guard unsent == 0 else {
        throw StoreError(
          .pending, "\(unsent) pending writes would be lost: push them, or set discardPending.")
      }
    }
    let wasRunning = synced.running != nil
    synced.stop()
    do throws(StoreError) {
      try operations.exclusively { () throws(StoreError) in
        synced.quiesce()
        try storage.wipe(discardingPending: discardingPending)
        // Whose the data is went with it, and the session stays.
        try claim(storage, ofTag: options.tag)
      }
    } catch {
      // Something was saved in the last moment.
      if error.kind == .pending, wasRunning { try startSync(isImplicit: false) }
      throw error
    }
    openResults.endAll()
    follows.receive(.revived)
    statusObservers.didChange()
  }

  /// Keeps only what matches of a collection, from now on, and nil: all. What does not match leaves the local store, but
  /// for pending writes; what matches is read.
  package func setSyncExpression(_ filter: String?, of collection: String) throws(StoreError) {
    try options.models?.check(collection: collection)
    let expression = try filter.map { (text) throws(StoreError) in
      try SyncedOptions.expression(text)
    }
    synced.setExpression(expression, of: collection)
    if let index = synced.index(of: collection) { synced.running?.receive(.missed(index)) }
  }

  /// A store of the type `synced` was opened.
  func beginSynced(_ collection: String, tag: String?) throws(StoreError) {
    guard tag == nil || tag == options.tag else {
      throw StoreError(.invalid, "A store of the type \"synced\" has the tag of its client.")
    }
    guard remote != nil else { return }
    if options.models == nil { synced.add(collection) }
    try startSync(isImplicit: true)
  }

  private func startSync(isImplicit: Bool) throws(StoreError) {
    guard let backend = try? existing(), let remote, backend.keepsLocalCopy else {
      throw StoreError(
        .unsupported, "Cannot synchronise: this client has no backend, or one without local data.")
    }
    _ = remote
    for name in options.models?.layout.collectionsInOrder ?? [] { synced.add(name) }
    let storage = try storage(options.tag)
    try synced.start(isImplicit: isImplicit, isOnline: connectivity.isOnline) {
      (count) throws(StoreError) in
      if !options.pushesAutomatically {
        try pushInBackground(of: storage, options.tag) { [synced] in synced.isReady }
      }
      return Synchroniser(
        count, interval: options.synced.interval, usesLive: live != nil, syncWork(storage))
    }
    tellQueue(of: storage)
    statusObservers.didChange()
  }

  // MARK: What the synchroniser calls

  private func syncWork(_ storage: Storage) -> Synchroniser.Work {
    let how = options.synced
    let patience = ReadPatience()
    return Synchroniser.Work(
      listen: { [weak self] (index, receive, cancellation) throws(StoreError) in
        guard let self else { throw Self.closed }
        let live = try hasLive()
        guard live.isWanted else { return nil }
        try ensureLive(options: Options(), cancellation: cancellation)
        let name = synced.name(index)
        let engine = try deciding(name, options.tag).engine
        return try live.subscribe(to: .collection(name), hears: engine.note, receive)
      },
      apply: { [weak self] (index, change) throws(StoreError) in
        guard let self else { throw Self.closed }
        let name = synced.name(index)
        let store = try deciding(name, options.tag)
        let expression = synced.expression(of: name)
        let matcher =
          expression.filter == .everything
          ? nil : expression.of(store.engine.format).matcher
        return try store.engine.applySynced(change, matching: matcher)
      },
      read: { [weak self] (index, cancellation) throws(StoreError) in
        guard let self else { throw Self.closed }
        let name = synced.name(index)
        return try deciding(name, options.tag).synchronise(
          synced.expression(of: name), how, with: patience, until: cancellation)
      },
      report: { [weak self] report in self?.publish(report, storage) },
      received: { [weak self] index, records in
        guard let self else { return }
        events.publish(.background(.received(synced.name(index), records)))
      },
      reportQueue: { [weak self] in self?.tellQueue(of: storage) })
  }

  private static let closed = StoreError(.misuse, "The client is closed.")

  private func publish(_ report: SyncMachine.Report, _ storage: Storage) {
    let event: BackgroundEvent
    switch report {
    case .networkStatus(let isActive): event = .networkStatus(isActive: isActive)
    case .outboxStatus: return tellQueueStatus(of: storage)
    case .subscriptionsEstablished: event = .subscriptionsEstablished
    case .queriesStarted(let models): event = .queriesStarted(models.map(synced.name))
    case .modelSynced(let index, let counts): event = .modelSynced(synced.name(index), counts)
    case .modelFailed(let index, let error): event = .modelFailed(synced.name(index), error)
    case .queriesReady: event = .queriesReady
    case .started: event = .started
    case .ready: event = .ready
    }
    events.publish(.background(event))
    if case .modelSynced = report { synced.signal() }
    // From now on what waits is sent.
    if case .ready = report { reviveAutoPushes() }
  }

  // MARK: The queue

  /// Tells of what was added to the queue. To be called before it is sent.
  func tellQueue(of storage: Storage) {
    guard synced.running != nil else { return }
    var count = 0
    // What cannot be read is reported by the call that needs it.
    try? synced.tellQueue(of: storage) { write in
      count += 1
      events.publish(.background(.enqueued(write)))
    }
    if count > 0 { tellQueueStatus(of: storage) }
  }

  private func tellQueueStatus(of storage: Storage) {
    guard let waiting = try? storage.waitingCount(in: nil) else { return }
    events.publish(.background(.outboxStatus(isEmpty: waiting == 0)))
  }

  /// A push is done with a write; nil: others tell what came of it.
  func didSend(_ event: BackgroundEvent?) {
    guard synced.running != nil, let storage = openStorage(options.tag) else { return }
    tellQueue(of: storage)
    if let event { events.publish(.background(event)) }
    tellQueueStatus(of: storage)
  }
}

extension DataStore {
  /// Reads what has changed of what is kept, or all of it.
  fileprivate func synchronise(
    _ query: Query, _ how: SyncedOptions, with patience: ReadPatience,
    until cancellation: Cancellation
  ) throws(StoreError) -> SyncedCounts {
    var counts = SyncedCounts()
    try patience.reading(merged(Run(nil)), cancellation) { (run) throws(StoreError) in
      counts = try pull(run, isAutomatic: true, result: { $0.pullResult }) {
        (options) throws(StoreError) in
        var refreshing = CollectionEngine.Refreshing(
          paging: .pages(of: how.pageSize), usesChanges: true)
        refreshing.maxRecords = how.maxRecords
        refreshing.confirmsUnchanged = options.ttl != nil
        var call = options.call
        call.received = { [events = context.events, collection = engine.collection] records in
          events.publish(.background(.received(collection, records)))
        }
        return try engine.synchronise(query, call, how: refreshing)
      }
    }
    return counts
  }
}

extension SyncedCounts {
  /// What a pull says of it.
  fileprivate var pullResult: PullResult { PullResult(pulled: added + updated, removed: deleted) }
}
