internal import KVBase
package import KVJSON
package import KVQuery
package import KVSync

/// A query that is kept in step with the backend by a thread of its own, until closed. Safe from any thread.
package final class Follow: Sendable {
  private let follower: Follower
  private let engine: CollectionEngine
  private let worker: Worker

  fileprivate init(_ follower: Follower, of engine: CollectionEngine) throws(StoreError) {
    self.follower = follower
    self.engine = engine
    guard let worker = Worker("kv-follow", { follower.run() }) else {
      throw StoreError(.internal, "No thread could be started.")
    }
    self.worker = worker
  }

  package var status: FollowStatus { follower.status }

  /// Ends it without waiting: what it does is cancelled. What was saved and not sent stays pending.
  package func close() { follower.close() }

  fileprivate func didSave() { follower.didSave() }

  fileprivate func receive(_ signal: FollowMachine.Signal) { follower.receive(signal) }

  fileprivate func isOf(_ other: CollectionEngine) -> Bool { engine.sharesData(with: other) }

  fileprivate var isOwnThread: Bool { worker.isCurrent }

  fileprivate func join() { worker.join() }
}

/// The follows of a client. Safe from any thread.
package final class Follows: Sendable {
  private struct State {
    var all: [Follow] = []
    var isClosed = false
  }

  private let state = Monitor(State())
  /// Runs when one begins, and whenever one stands otherwise.
  let changed: @Sendable () -> Void

  init(_ changed: @escaping @Sendable () -> Void) { self.changed = changed }

  /// How those that are open stand, in the order of their beginning.
  package var statuses: [FollowStatus] { open.map(\.status).filter { $0.state != .closed } }

  private var open: [Follow] { state.withLock { $0.all } }

  var isOwnThread: Bool { open.contains { $0.isOwnThread } }

  func add(_ make: () throws(StoreError) -> Follow) throws(StoreError) -> Follow {
    defer { changed() }
    return try state.withLock { (state) throws(StoreError) in
      guard !state.isClosed else { throw StoreError(.misuse, "The client is closed.") }
      // Those that were closed since are let go of.
      state.all.removeAll { $0.status.state == .closed }
      let follow = try make()
      state.all.append(follow)
      return follow
    }
  }

  /// Something was saved in some collection: those that have nothing to push find that out.
  func didSave() { for follow in open { follow.didSave() } }

  func receive(_ signal: FollowMachine.Signal) { for follow in open { follow.receive(signal) } }

  /// `signal` concerns only the local data of one collection.
  func receive(_ signal: FollowMachine.Signal, for engine: CollectionEngine) {
    for follow in open where follow.isOf(engine) { follow.receive(signal) }
  }

  /// Ends all, and waits for their threads. What they ask of the backend has to be cancelled by the caller.
  func close() {
    let all = state.withLock { state in
      state.isClosed = true
      defer { state.all = [] }
      return state.all
    }
    for follow in all { follow.close() }
    for follow in all { follow.join() }
  }
}

extension DataStore {
  /// How a query is followed.
  package struct Following: Sendable {
    /// A shorter one would keep the backend busy with nothing else.
    private static let minInterval = 0.1

    /// Seconds between two reads where there is no live data.
    var interval = 60.0
    /// Whether live data is used, if there is any.
    var usesLive = true
    var call = Options()

    package init() {}

    package init(_ object: JSONObject) throws(StoreError) {
      var reader = OptionReader(object)
      interval = try reader.seconds("interval", atLeast: Self.minInterval) ?? interval
      usesLive = try reader.bool("live") ?? usesLive
      call = try Options(from: &reader)
      try reader.finish()
    }
  }

  /// Keeps what matches in step with the backend until closed, or until the client is: pulls it, or its changes,
  /// listens to live data or polls, catches up after each absence, and pushes what is saved.
  ///
  /// `changed` runs whenever the follow's status is another one, on whichever thread changed it; it must not wait.
  package func follow(
    _ query: Query, _ how: Following = Following(), changed: @escaping @Sendable () -> Void = {}
  ) throws(StoreError) -> Follow {
    try engine.checkFollowing(query)
    let selection = query.selection
    let follower = Follower(
      collection: engine.collection, filter: selection.filterText, interval: how.interval,
      usesLive: how.usesLive, work(selection, how)
    ) { [follows = context.follows] in
      changed()
      follows.changed()
    }
    return try context.follows.add { () throws(StoreError) in
      try Follow(follower, of: engine)
    }
  }

  /// What following does in this store.
  private func work(_ query: Query, _ how: Following) -> Follower.Work {
    let matcher = named(query).of(engine.format).matcher
    let patience = ReadPatience()
    return Follower.Work(
      listen: { [self] (receive, cancellation) throws(StoreError) in
        let live = try context.live.get()
        guard try context.registerLive(cancellation) else { return nil }
        return try live.subscribe(
          to: .collection(engine.collection), hears: engine.note, receive)
      },
      apply: { [engine] (change) throws(StoreError) in
        try engine.apply(change, matching: matcher)
      },
      push: { [self] (cancellation) throws(StoreError) in
        guard try engine.waitingCount() > 0 else { return nil }
        var options = how.call
        // The schedule is what repeats.
        options.retries = 0
        let result = try push(Run(options, cancellation: cancellation), isAutomatic: true)
        return try engine.waitingCount() > 0 ? result.errors.first : nil
      },
      read: { [self] (cancellation) throws(StoreError) in
        var options = merged(Run(how.call))
        options.deltaSet = options.deltaSet ?? true
        // All that matches is followed, also where it is more than one answer may have.
        options.autoPagination = options.autoPagination ?? true
        try patience.reading(options, cancellation) { (run) throws(StoreError) in
          _ = try catchUp(query, run)
        }
      })
  }
}
