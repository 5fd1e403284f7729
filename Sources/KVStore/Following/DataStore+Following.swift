internal import KVClient
internal import KVJSON
internal import KVSync

extension DataStore {
  /// Keeps what a query selects in sync with the backend until it is closed: pulls it, keeps it current by live data or by
  /// polling, catches up after each absence, and pushes what is saved in the collection. It waits for the network and for
  /// logins by itself: docs/follow.md.
  ///
  ///     let follow = try people.follow(\.age > 30)
  ///     for try await changes in try people.observe(\.age > 30) {
  ///       print(changes.count, "people,", follow.status.state)
  ///     }
  ///
  /// The query has no order and no page. `interval`: seconds between two reads where there is no live data; `usesLive`
  /// false: it polls, also where there is some. `options`: of its pushes and pulls.
  public func follow(
    _ query: Query<Entity> = Query(), interval: Double = 60, usesLive: Bool = true,
    options: CallOptions = CallOptions()
  ) throws(KVStoreError) -> Follow {
    let query = try query.built.get()
    var object = try options.object
    object["interval"] = .double(interval)
    object["live"] = .bool(usesLive)
    let signals = EventBuffer<Void>.signals()
    let follow = try KVStoreError.mapping { () throws(StoreError) in
      try core.follow(query, .init(object), changed: signals.signal)
    }
    let source = SignalledSource(signals, of: client) {
      FollowStatus(follow.status)
    } end: {
      follow.close()
    }
    return Follow(follow, States(source))
  }
}
