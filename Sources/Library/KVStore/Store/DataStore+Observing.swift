internal import KVClient
internal import KVJSON
internal import KVSync

extension DataStore {
  /// Returns the current result of a query over the local data, and then its changes, whatever their cause: this
  /// program, another one with the same files, a pull or live data.
  ///
  ///     var shown: [Person] = []
  ///     for try await changes in try people.observe(\.age > 30) {
  ///       changes.apply(to: &shown)
  ///     }
  public func observe(
    _ query: Query<Entity> = Query()
  ) throws(KVStoreError) -> Observed<Entity> {
    let query = try query.built.get()
    let signals = EventBuffer<Void>.signals()
    let observation = try KVStoreError.mapping { () throws(StoreError) in
      try core.observe(query, signals.signal)
    }
    let source = SignalledSource(signals, of: client) { () throws(StoreError) in
      try observation.changes()
    } end: {
      observation.end()
    }
    return Observed(source)
  }

  /// Returns the live events of the collection on the backend from now on. The client must be registered: see
  /// `KVStoreClient.registerForLiveData`.
  ///
  ///     for await event in try people.live(savingLocally: true) {
  ///       if case .saved(let person, _) = event { print(person.name) }
  ///     }
  ///
  /// With `savingLocally`, changes are written to the local store before their event is delivered.
  public func live(
    savingLocally: Bool = false
  ) throws(KVStoreError) -> EventSequence<LiveEvent<Entity>> {
    let buffer = EventBuffer<LiveEvent<Entity>>(missed: .missed)
    let subscription = try KVStoreError.mapping { () throws(StoreError) in
      let how = try KVClient.DataStore.Listening(["liveToLocal": .bool(savingLocally)])
      return try core.listen(how) { [weak buffer] event in
        guard let buffer, let event = LiveEvent<Entity>(event) else { return }
        buffer.send(event, isLast: event.isLast)
      }
    }
    return EventSequence(buffer, of: client) { subscription.end() }
  }
}
