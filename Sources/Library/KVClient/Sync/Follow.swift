internal import KVBase
internal import KVJSON
internal import KVQuery
package import KVSync

/// A query that is kept in step with the backend by a thread of its own, until closed. Safe from any thread.
package final class Follow: Sendable {
  private let follower: Follower
  private let engine: CollectionEngine
  private let worker: Worker

  init(_ follower: Follower, of engine: CollectionEngine) throws(StoreError) {
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
