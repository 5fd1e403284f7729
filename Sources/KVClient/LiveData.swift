package import KVBase
package import KVJSON
package import KVSync

/// A client's live data: its feed and the thread that works for it, from the first registration on. Safe from any
/// thread.
final class LiveData: Sendable {
  private struct Parts {
    var feed: LiveFeed
    var worker: Worker
  }

  private struct State {
    var parts: Parts?
    /// Whether the application wants live data; who asks for it by name gets it anyway.
    var isWanted: Bool
    var isClosed = false
  }

  private let remote: any LiveRemote
  /// The same for who works with the active session: it is renewed where that is due.
  private let renewing: any LiveRemote
  private let entities: any Remote
  private let session: Session?
  private let connectivity: Connectivity
  private let state: Monitor<State>

  /// `session` nil: the backend has no users. `isWanted`: whether follows may use it.
  init(
    _ remote: any LiveRemote, entities: any Remote, session: Session?,
    renewal: (any SessionRenewal)?, connectivity: Connectivity, isWanted: Bool
  ) {
    state = Monitor(State(isWanted: isWanted))
    self.remote = remote
    renewing = layers(around: remote, renewal)
    self.connectivity = connectivity
    self.entities = entities
    self.session = session
  }

  /// Whether follows may use it: the client's option `live`, and since then what was registered or unregistered last.
  var isWanted: Bool {
    get { state.withLock { $0.isWanted } }
    set { state.withLock { $0.isWanted = newValue } }
  }

  /// The registration of the user; nil: there is none.
  var registered: LiveRegistration? { state.withLock { $0.parts }?.feed.registration }

  /// Registers a device of our own. Nothing happens if the user is registered. `userId` nil: the backend has no users.
  func register(_ userId: String?, _ call: Call) throws(StoreError) {
    let parts = try parts()
    if parts.feed.registration?.isOf(userId) == true { return }
    let device = Identifier.request()
    let registration = try call.repeating { () throws(StoreError) in
      try renewing.register(userId, device: device, call: call)
    }
    // Another thread was faster.
    if !parts.feed.begin(registration) { endOnBackend(registration) }
  }

  /// The registration of the user. Throws `.misuse` without one.
  func registration() throws(StoreError) -> LiveRegistration {
    guard let registered else {
      throw StoreError(.misuse, "The user is not registered for live data.")
    }
    return registered
  }

  /// Listens to a topic. Throws `.misuse` while the user is not registered. `hears`: see `LiveFeed.subscribe`.
  func subscribe(
    to topic: LiveTopic, hears: @escaping @Sendable (BackendData) -> Void = { _ in },
    _ receive: @escaping @Sendable (LiveEvent) -> Void
  ) throws(StoreError) -> LiveSubscription {
    guard let feed = state.withLock({ $0.parts?.feed }) else {
      throw StoreError(.misuse, "The user is not registered for live data.")
    }
    return LiveSubscription(feed, try feed.subscribe(to: topic, hears: hears, receive))
  }

  /// No callback runs any more when this returns.
  func stop() { state.withLock { $0.parts?.feed }?.stop() }

  /// Seconds that closing waits for the backend to forget the registration.
  private static let farewellSeconds = 2.0

  /// Ends the thread and waits for that, and ends the registration if the backend can be reached.
  func close() {
    let parts = state.withLock { state in
      state.isClosed = true
      defer { state.parts = nil }
      return state.parts
    }
    guard let parts else { return }
    let registration =
      connectivity.isOnline == false || parts.feed.isDown
      ? nil : parts.feed.registration
    parts.feed.close()
    parts.worker.join()
    if let registration { endOnBackend(registration) }
  }

  /// Failures do not matter: the backend forgets who does not come back.
  private func endOnBackend(_ registration: LiveRegistration) {
    let user = try? session?.current()
    guard registration.isOf(user?.id) else { return }
    let call = Call(deadline: .after(seconds: Self.farewellSeconds))
    try? remote.unregister(registration, token: user?.token, call: call)
  }

  private func parts() throws(StoreError) -> Parts {
    try state.withLock { (state) throws(StoreError) in
      guard !state.isClosed else { throw StoreError(.misuse, "The client is closed.") }
      if let parts = state.parts { return parts }
      let made = try make()
      state.parts = made
      return made
    }
  }

  private func make() throws(StoreError) -> Parts {
    let feed = LiveFeed(renewing, entities: entities)
    guard let worker = Worker("kv-live", { feed.run() }) else {
      throw StoreError(.internal, "No thread could be started.")
    }
    // The feed's own requests are noted there, too: neither keeps the other alive.
    connectivity.onAnswer { [weak feed] in feed?.recordAnswer() }
    return Parts(feed: feed, worker: worker)
  }
}

/// One subscriber of a collection or a stream.
package final class LiveSubscription: LiveListener {
  private let feed: LiveFeed
  private let subscriber: LiveFeed.Subscriber

  init(_ feed: LiveFeed, _ subscriber: LiveFeed.Subscriber) {
    self.feed = feed
    self.subscriber = subscriber
  }

  /// Whether what is still on its way to the subscriber is of no interest any more.
  package var isOver: Bool { subscriber.isOver }

  /// Waits for nothing; a second time is harmless.
  package func end() { feed.unsubscribe(subscriber) }

  /// The same, and waits for what the backend says of it.
  fileprivate func end(_ call: Call) throws(StoreError) { try feed.unsubscribe(subscriber, call) }
}

extension Client {
  /// Lets the active user listen to collections, until unregistered or logged out.
  package func registerLive(
    options: Options, cancellation: Cancellation
  ) throws(StoreError) {
    try ensureLive(options: options, cancellation: cancellation)
    live?.isWanted = true
    follows.receive(.liveWanted)
    synced.running?.receive(.liveWanted)
  }

  /// The same for the library's own use, which says nothing about what the application wants.
  func ensureLive(options: Options, cancellation: Cancellation) throws(StoreError) {
    try asking("register for live data", options: options, cancellation: cancellation) {
      (call) throws(StoreError) in
      let user = session == nil ? nil : try active().id
      try hasLive().register(user, call)
    }
  }

  /// Ends all subscriptions here, then says so to the backend; follows poll from now on. No more happens if the user is
  /// not registered.
  package func unregisterLive(
    options: Options, cancellation: Cancellation
  ) throws(StoreError) {
    let live = try hasLive()
    live.isWanted = false
    guard let registration = live.registered else { return }
    live.stop()
    try asking("unregister from live data", options: options, cancellation: cancellation) {
      (call) throws(StoreError) in
      try renewing(call) { () throws(StoreError) in
        let token = session == nil ? nil : try active().token
        try backend?.live?.unregister(registration, token: token, call: call)
      }
    }
  }

  /// Ends a subscription, and waits until the backend has heard of it. Throws what it says if it refuses; nothing is told
  /// any more in any case.
  package func unsubscribe(
    _ subscription: LiveSubscription, options: Options, cancellation: Cancellation
  ) throws(StoreError) {
    try asking("unsubscribe", options: options, cancellation: cancellation) {
      (call) throws(StoreError) in
      try recordingRefusal { () throws(StoreError) in try subscription.end(call) }
    }
  }

  func hasLive() throws(StoreError) -> LiveData { try liveData.get() }

  /// Live data, or why there is none.
  var liveData: Result<LiveData, StoreError> {
    Result { () throws(StoreError) in
      guard let live else { throw try existing().lacks("live data") }
      return live
    }
  }
}

extension DataStore {
  /// What a subscription may be told to do.
  package struct Listening: Sendable {
    /// What arrives is written to the local store before it is told.
    var storesMessages = false

    package init(_ object: JSONObject) throws(StoreError) {
      var reader = OptionReader(object)
      storesMessages = try reader.bool("liveToLocal") ?? false
      try reader.finish()
    }
  }

  /// Tells what happens to the entities of this collection on the backend, on a thread of the library that must
  /// not be kept waiting.
  package func listen(
    _ how: Listening, _ receive: @escaping @Sendable (LiveEvent) -> Void
  ) throws(StoreError) -> LiveSubscription {
    let live = try context.live.get()
    guard how.storesMessages else {
      return try live.subscribe(to: .collection(engine.collection), receive)
    }
    guard engine.type.isLocal else {
      throw StoreError(
        .unsupported, "A network store has no local data: leave out \"liveToLocal\".")
    }
    let engine = self.engine
    return try live.subscribe(to: .collection(engine.collection), hears: engine.note) { event in
      if case .changed(let change) = event {
        do throws(StoreError) { try engine.apply(change) } catch {
          receive(.failure(error))
        }
      }
      receive(event)
    }
  }
}
