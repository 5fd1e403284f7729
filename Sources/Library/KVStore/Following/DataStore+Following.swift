internal import KVClient
internal import KVJSON
internal import KVSync

extension DataStore {
  /// Keeps the entities that a query selects in sync with the backend until the follow is closed. It pulls them, and
  /// keeps them current by live data or by polling. It fetches what it missed after an interruption, and pushes what is
  /// saved in the collection. If there is no network or no login, it waits: docs/follow.md.
  ///
  ///     let follow = try people.follow(\.age > 30)
  ///     for try await changes in try people.observe(\.age > 30) {
  ///       print(changes.count, "people,", follow.status.state)
  ///     }
  ///
  /// The query has no order and no page. `interval` is the number of seconds between two polls where there is no live
  /// data. `usesLive` false means that it polls in any case. `options` apply to its pushes and pulls.
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
