internal import KVBase
package import KVJSON
package import KVSync

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
