internal import KVBase
package import KVJSON
package import KVQuery
package import KVSync

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
