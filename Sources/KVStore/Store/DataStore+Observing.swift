internal import KVClient
internal import KVJSON
internal import KVSync

extension DataStore {
  /// Follows a query over the local data: first the result as it is, then what changes in it, whoever changes it – this
  /// program, another one with the same files, a pull, live data.
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

  /// The events of the collection on the backend, from the moment of the call on. The client has to be
  /// registered: `KVStoreClient.registerForLiveData`.
  ///
  ///     for await event in try people.live(savingLocally: true) {
  ///       if case .saved(let person, _) = event { print(person.name) }
  ///     }
  ///
  /// `savingLocally`: what arrives is written to the local store before its event comes.
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
