internal import KVBase
package import KVJSON
internal import KVQuery
internal import KVStorage
package import KVSync

/// One application on one backend, with one data directory: wires the rooms together.
///
/// Safe from any thread. Opening makes no network call. Closing ends what is under way with `.cancelled`, and
/// waits for it.
package final class Client: Sendable {
  private struct State {
    /// Tags are letters, digits and hyphens: as texts they are equal when their bytes are.
    var tags: [String: Tag] = [:]
    var isClosed = false
  }

  /// The local data of one tag and what is on its way from there.
  private struct Tag {
    var storage: Storage
    var sendGates: SharedSendGates
    /// The application's stores by their collections, as long as it has them.
    var stores: [RecordID: [WeakStore]] = [:]
  }

  private struct WeakStore: Sendable {
    weak var value: DataStore?
  }

  package let log = Log()
  private let recentQueries = RecentQueries()
  package let events: SyncEvents
  /// Where asynchronous operations run: those that may wait for the network, and those that stay local.
  package let runners = (network: Runner(), local: Runner())
  let operations = Operations()
  let options: ClientOptions
  let directory: DataDirectory
  /// Nil: a local database without one.
  let backend: Backend?
  /// Its remote with all that is done around requests.
  let remote: LocalFilteringRemote?
  /// Nil without a backend that has users.
  let session: Session?
  let renewal: (any SessionRenewal)?
  /// Nil without a backend that has live data.
  let live: LiveData?
  let connectivity: Connectivity
  private let autoPushes: AutoPushes
  package let follows: Follows
  let synced: SyncedCollections
  let statusObservers = StatusObservers()
  let openResults = OpenResults()
  let endings = EndedSessions()
  /// Tells the client of answers that come when the backend was away.
  private let revival = Monitor<(@Sendable () -> Void)?>(nil)
  private let state = Monitor(State())
  /// Held by who opens local data, which may take long; `state` is not, meanwhile.
  private let opening = Monitor(())

  /// `options`: see kv_client_open. Throws `.invalid` naming the option, `.storage`, `.corrupt`, `.full`, `.busy`.
  package convenience init(_ options: JSONObject) throws(StoreError) {
    try self.init(options, pushes: AutoPush.Schedule())
  }

  /// The same with pauses of its own between automatic pushes.
  init(_ options: JSONObject, pushes: AutoPush.Schedule) throws(StoreError) {
    let options = try ClientOptions(options)
    self.options = options
    directory = options.directory
    // Where the directory cannot be used, that is said here, also for a client without a backend.
    try directory.prepare()
    events = SyncEvents { [statusObservers] in statusObservers.didChange() }
    let autoPushes = AutoPushes(pushes)
    self.autoPushes = autoPushes
    let follows = Follows { [statusObservers] in statusObservers.didChange() }
    self.follows = follows
    let synced = SyncedCollections(options.synced.expressions)
    self.synced = synced
    connectivity = Connectivity { [events, revival] isOnline in
      events.publish(isOnline ? .online : .offline)
      synced.running?.receive(.network(isOnline: isOnline))
      guard isOnline else { return }
      autoPushes.revive()
      follows.receive(.revived)
      revival.withLock { $0 }?()
    }
    guard let open = options.backend else {
      (backend, remote, session, renewal, live) = (nil, nil, nil, nil, nil)
      // Whether the data fits the models is said here as well.
      if options.models != nil { _ = try storage(options.tag) }
      return
    }
    let facts = try directory.openSession(tag: options.tag)
    let session = Session(facts)
    let context = BackendContext(appKey: options.appKey, location: options.location) {
      () throws(StoreError) in
      try session.current()?.token
    } debug: { [log] text in
      log.write(.debug, text())
    } memory: { address in
      BackendMemory(recall: { facts.backend(at: address) }) { facts.note($0, backendAt: address) }
    }
    let backend = try open(context)
    do throws(StoreError) {
      try backend.load?(options.calls.call(Cancellation(), Progress()))
    } catch {
      backend.close()
      session.close()
      throw error
    }
    self.backend = backend
    if backend.accounts == nil {
      session.close()
      self.session = nil
    } else {
      // Acts for the user who is logged in now; if that cannot be read, calls report it.
      _ = try? session.current()
      self.session = session
    }
    renewal = Renewal(session, backend, lock: directory.sessionFile + ".lock") { [events] in
      events.publish(.loggedOut($0))
    }
    let remote = layers(around: backend.remote, renewal, connectivity: connectivity)
    self.remote = remote
    live = backend.live.map { [session = self.session, renewal, connectivity] in
      LiveData(
        $0, entities: remote, session: session, renewal: renewal, connectivity: connectivity,
        isWanted: options.usesLive)
    }
    if (try? self.session?.endings())?.isEmpty == false, endings.add() {
      endings.end(areLeft: true)
    }
    revival.withLock { revival in revival = { [weak self] in self?.sendEndingsLater() } }
  }

  deinit { close() }

  /// Ends what is under way, waits for its end and for our threads, and closes the files. Pending writes
  /// stay pending; what is called then fails with `.misuse`. May be called again.
  package func close() {
    operations.close()
    follows.close()
    synced.close()
    statusObservers.close()
    live?.close()
    let (tags, isFirst) = state.withLock { state in
      defer { state = State(tags: [:], isClosed: true) }
      return (Array(state.tags.values), !state.isClosed)
    }
    autoPushes.close()
    runners.network.close()
    runners.local.close()
    if isFirst { backend?.close() }
    for tag in tags { tag.storage.close() }
    session?.close()
  }

  /// Whether this is called from a thread of the client's, not one of the host's.
  package var isOwnThread: Bool {
    runners.network.isOwnThread || runners.local.isOwnThread || autoPushes.isOwnThread
      || follows.isOwnThread || synced.isOwnThread
  }

  // MARK: Stores

  /// One collection, seen through one type of store. `options`: see kv_store_open.
  package func store(
    _ collection: String, type: String, _ options: JSONObject?
  ) throws(StoreError) -> DataStore {
    let named = try StoreType(named: type)
    let type = backend?.keepsLocalCopy ?? true ? named : .network
    try Self.check(collection: collection)
    try self.options.models?.check(collection: collection)
    var reader = OptionReader(options ?? [:])
    let tag = try ClientOptions.tag(&reader)
    let names = try reader.names("keyMap") ?? KeyMap()
    let validation = try reader.filter("validation")
    let calls = try Options(from: &reader).over(self.options.calls)
    try reader.finish()
    guard type.isLocal || tag == nil else {
      throw StoreError(
        .invalid, "The option \"tag\" is not for network stores, which have no local data.")
    }
    let local = type.isLocal ? try storage(tag ?? self.options.tag) : nil
    let engine = CollectionEngine(
      collection: collection, type: type, local: local, remote: remote,
      sendGate: type.isLocal ? sendGate(tag ?? self.options.tag, collection) : SendGate(),
      writer: writer(local), validation: validation?.renamed(by: names).filter ?? .everything,
      format: self.options.models?.layout.format(of: collection),
      peers: type.isLocal ? peers(ofTag: tag ?? self.options.tag) : nil)
    let store = DataStore(engine, calls, names: names, context: context)
    if type.isLocal { remember(store, tag ?? self.options.tag) }
    if type == .synced { try beginSynced(collection, tag: tag) }
    return store
  }

  /// Gives the user for whom is written to the backend: the active one, or none where that is allowed, except for
  /// what a user has left. Nil: none.
  private func writer(
    _ local: Storage?
  ) -> @Sendable () throws(StoreError) -> String? {
    let acceptsAnyone = backend?.acceptsAnonymousWrites == true
    return { [session] () throws(StoreError) in
      guard let session else { return nil }
      if let user = try session.current() { return user.id }
      guard acceptsAnyone, try local?.owner(former: try session.formerUser()) == nil else {
        throw StoreError(.noUser, "No user is logged in.")
      }
      return nil
    }
  }

  /// The other collections of a tag, where the backend takes the writes of all in one order.
  private func peers(ofTag tag: String) -> CollectionEngine.Peers? {
    guard remote?.hasOneQueue == true else { return nil }
    return { [weak self] (collection, call) throws(StoreError) in
      guard let self else { throw StoreError(.misuse, "The client is closed.") }
      let store = try deciding(collection, tag)
      return (store.engine, store.call(alongside: call))
    }
  }

  private func remember(_ store: DataStore, _ tag: String) {
    state.withLock { state in
      let name = RecordID(store.engine.collection)
      let others = state.tags[tag]?.stores[name] ?? []
      state.tags[tag]?.stores[name] =
        others.filter { $0.value != nil } + [WeakStore(value: store)]
    }
    statusObservers.didChange()
  }

  /// The names of the collections of a tag that the application has opened stores of, and not closed.
  func openCollections(ofTag tag: String) -> [String] {
    state.withLock { state in
      (state.tags[tag]?.stores ?? [:]).filter { $0.value.contains { $0.value != nil } }
        .map { $0.key.text }
    }
  }

  /// The store of the application, if it has one, that says what happens to conflicts of a collection.
  private func decidingStore(_ collection: String, _ tag: String) -> DataStore? {
    let stores = state.withLock {
      $0.tags[tag]?.stores[RecordID(collection)]?.compactMap(\.value) ?? []
    }
    return stores.last { $0.decidesConflicts }
  }

  /// That store, or one of our own.
  func deciding(_ collection: String, _ tag: String) throws(StoreError) -> DataStore {
    if let store = decidingStore(collection, tag) { return store }
    return try store(collection, type: StoreType.sync.rawValue, ["tag": .string(tag)])
  }

  var context: DataStore.StoreContext {
    DataStore.StoreContext(
      log: log, operations: operations, events: events, live: liveData,
      follows: follows, synced: synced, openResults: openResults,
      registerLive: { [weak self] (cancellation) throws(StoreError) in
        guard let self, let live, live.isWanted else { return false }
        try ensureLive(options: Options(), cancellation: cancellation)
        return true
      },
      didSave: { [autoPushes, follows, synced, statusObservers] in
        synced.running?.didSave()
        autoPushes.didSave()
        follows.didSave()
        statusObservers.didChange()
      },
      didClose: { [statusObservers] in statusObservers.didChange() },
      didSend: { [weak self] in self?.didSend($0) },
      didRefuse: didRefuse, conflicts: backend?.conflicts ?? .clientWins,
      layout: options.models?.layout ?? RecordLayout())
  }

  /// To be called with a refusal of the active session.
  var didRefuse: @Sendable (StoreError) -> Void {
    { [session, events] error in
      // A session that could not be renewed has told its end already.
      guard let token = (try? session?.current())??.token else { return }
      events.publishRefusal(token, error)
    }
  }

  private static func check(collection: String) throws(StoreError) {
    let isPlain = collection.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
    guard !collection.isEmpty, isPlain, !collection.hasPrefix("_"), collection.utf8.count <= 128,
      collection != ".", collection != ".."
    else {
      throw StoreError(
        .invalid,
        "A collection's name must have 1 to 128 bytes, no \"/\" or control character, and no \"_\" at its start,"
          + " and must not be \".\" or \"..\".")
    }
  }

  /// Opens the file of a tag, whose records look like those of the backend, or of the models.
  func openFile(ofTag tag: String) throws(StoreError) -> Storage {
    let storage = try directory.open(
      tag: tag,
      // Without models, all collections of a backend have one format.
      layout: options.models?.layout ?? RecordLayout(backend?.remote.format(of: "") ?? .default),
      durability: options.durability,
      automaticIndexes: options.makesIndexes ? IndexLedger.Rules() : nil)
    let (policy, events) = (options.onBackendReset, self.events)
    storage.resetRule.withLock {
      $0 = BackendResetRule(policy) { collection, lost in
        for isQueued in [false, true] {
          let some = lost.filter { $0.isQueued == isQueued }
          guard !some.isEmpty else { continue }
          events.publish(.backendWentBack(collection: collection, some, isQueued: isQueued))
        }
      }
    }
    do throws(StoreError) { try ClientModels.adopt(options.models, storage) } catch {
      storage.close()
      throw error
    }
    return storage
  }

  /// The local data of a tag: opened once, shared by all its stores.
  func storage(_ tag: String) throws(StoreError) -> Storage {
    if let open = try openedStorage(tag) { return open }
    try MigratingThread.refuse()
    return try opening.withLock { _ throws(StoreError) in
      if let open = try openedStorage(tag) { return open }
      let storage = try openFile(ofTag: tag)
      do throws(StoreError) { try keep(storage, ofTag: tag) } catch {
        storage.close()
        throw error
      }
      return storage
    }
  }

  private func openedStorage(_ tag: String) throws(StoreError) -> Storage? {
    try state.withLock { (state) throws(StoreError) in
      guard !state.isClosed else { throw StoreError(.misuse, "The client is closed.") }
      return state.tags[tag]?.storage
    }
  }

  /// Claims the local data for the user who is logged in, while no login or logout runs. Throws `.misuse` if the client was closed.
  private func keep(_ storage: Storage, ofTag tag: String) throws(StoreError) {
    try state.withLock { (state) throws(StoreError) in
      guard !state.isClosed else { throw StoreError(.misuse, "The client is closed.") }
      try claim(storage, ofTag: tag)
      let sendGates = SharedSendGates.of(path: directory.file(tag: tag))
      state.tags[tag] = Tag(storage: storage, sendGates: sendGates)
      if options.pushesAutomatically, remote != nil {
        try autoPushes.add(sendGates.election, work(of: storage, tag) { true })
      }
    }
  }

  /// Pushes by itself what waits in a tag, while that is `wanted`.
  func pushInBackground(
    of storage: Storage, _ tag: String, wanted: @escaping @Sendable () -> Bool
  ) throws(StoreError) {
    guard let gates = state.withLock({ $0.tags[tag]?.sendGates }) else { return }
    try autoPushes.add(gates.election, work(of: storage, tag, wanted))
  }

  /// From now on pushes find out that they are wanted.
  func reviveAutoPushes() { autoPushes.revive() }

  /// What pushing by itself does in a tag.
  private func work(
    of storage: Storage, _ tag: String, _ isWanted: @escaping @Sendable () -> Bool
  ) -> AutoPush.Work {
    AutoPush.Work(
      waiting: { () throws(StoreError) in isWanted() ? try storage.collectionsWaiting() : [] },
      push: { [weak self] (collection) throws(StoreError) in
        guard let self else { return 0 }
        tellQueue(of: storage)
        let store = try deciding(collection, tag)
        var options = Options()
        // The schedule is what repeats.
        options.retries = 0
        let run = DataStore.Run(options, cancellation: synced.pushing)
        return try store.push(run, isAutomatic: true).errors.count
      })
  }

  private func sendGate(_ tag: String, _ collection: String) -> SendGate {
    state.withLock { $0.tags[tag]?.sendGates.of(collection) } ?? SendGate()
  }

  /// The local data of the tags that the application has opened stores of, by tag.
  var openStorages: [(tag: String, storage: Storage)] {
    state.withLock { $0.tags.map { ($0.key, $0.value.storage) } }.sorted { $0.0 < $1.0 }
  }

  /// The local data of a tag, if the application has opened a store of it.
  func openStorage(_ tag: String) -> Storage? { state.withLock { $0.tags[tag]?.storage } }

  /// A user has logged in: what waited for that is pushed and read, where that is wanted.
  func revive() {
    autoPushes.revive()
    follows.receive(.revived)
    synced.running?.receive(.revived)
    statusObservers.didChange()
  }

  // MARK: Calls

  /// How a call that concerns no store travels.
  func call(
    _ options: Options, _ cancellation: Cancellation
  ) -> Call {
    options.over(self.options.calls).call(cancellation, Progress())
  }
}

extension StoreType {
  /// Throws `.invalid` for an unknown name.
  init(named name: String) throws(StoreError) {
    guard let type = StoreType(rawValue: name) else {
      throw StoreError(
        .invalid,
        "The type of a store must be \"sync\", \"synced\", \"auto\", \"cache\" or \"network\".")
    }
    self = type
  }
}

extension Options {
  func call(_ cancellation: Cancellation, _ progress: Progress) -> Call {
    var call = Call(
      deadline: .after(secondsWithoutProgress: timeout ?? 60), cancellation: cancellation,
      progress: progress,
      retry: Retry(limit: retries ?? 3), conflicts: conflicts ?? .clientWins,
      clientAppVersion: clientAppVersion,
      customRequestProperties: customRequestProperties)
    call.known = knownMembers
    call.retriesQuarantined = retryQuarantined ?? false
    call.keepsDiscarded = keepDiscarded ?? false
    call.mergeRules = mergeRules ?? MergeRules()
    return call
  }
}
