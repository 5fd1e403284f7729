internal import KVBase
internal import KVJSON
internal import KVSync

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
  func end(_ call: Call) throws(StoreError) { try feed.unsubscribe(subscriber, call) }
}
