internal import KVBase
package import KVJSON
package import KVObjects
package import KVSync

/// A type of stores whose requests are carried out by functions of the host: what was registered by
/// kv_store_type_register. Its data is the host's alone; nothing of it is kept here. Safe from any thread.
package final class CallbackStore: Sendable {
  /// The stores of this process, by name.
  private static let registered = FactoryRegistry<CallbackStore>(
    of: "store", reserving: ObjectStoreRegistry.local)

  let backend: CallbackBackend
  let announcements = StoreAnnouncements()
  /// The UUID of each location that was loaded.
  private let uuids = Monitor<[RecordID: String]>([:])

  package init(_ name: String, _ description: BackendDescription, handler: any BackendHandler) {
    backend = CallbackBackend(name, description, handler: handler)
  }

  /// From now on clients and contexts can be opened with it. Throws `.invalid` for an empty name, `.conflict` if a backend or
  /// another store has it.
  package func register() throws(StoreError) {
    let backends = BackendRegistry.shared
    let opening: BackendFactory = { self.opened(at: $0.location) }
    let loading: ObjectStoreFactory = { (location) throws(StoreError) in
      try self.objects(at: location)
    }
    try backends.register(backend.name, opening)
    do throws(StoreError) {
      try ObjectStoreRegistry.shared.register(backend.name, loading)
    } catch {
      backends.unregister(backend.name)
      throw error
    }
    try Self.registered.register(backend.name, self)
  }

  /// Tells what follows the records of a store that its program, or another one, has changed some of them; `changes` nil: any.
  /// Throws `.notFound` if no store has this name.
  package static func announce(_ changes: JSONValue?, of name: String) throws(StoreError) {
    guard let store = registered.factory(name) else {
      throw StoreError(.notFound, "No store is registered as \"\(name)\".")
    }
    let format = store.backend.description.format
    var announced: [AnnouncedChange]?
    if let changes { announced = try AnnouncedChange.list(changes, format) }
    store.announcements.announce(announced)
  }

  /// Nothing can be opened with it any more; what is open goes on. Throws `.notFound` if no store has this name.
  package static func unregister(_ name: String) throws(StoreError) {
    registered.unregister(name)
    guard ObjectStoreRegistry.shared.unregister(name), BackendRegistry.shared.unregister(name)
    else {
      throw StoreError(.notFound, "No store is registered as \"\(name)\".")
    }
  }

  /// The store as the collections of one client have it.
  package func opened(at location: StoreLocation) -> Backend {
    var opened = Backend(name: backend.name, remote: CallbackRemote(backend))
    opened.keepsLocalCopy = false
    opened.load = { [self] (call) throws(StoreError) in _ = try load(location, call: call) }
    return opened
  }

  /// The store as the contexts of one client have it.
  package func objects(at location: StoreLocation) throws(StoreError) -> any ObjectStore {
    try CallbackObjectStore(self, location)
  }

  /// Loads the store at a location. Throws `.proto` for metadata of another type, for a UUID that is none, and for one that
  /// differs from the UUID that the location had before.
  func load(_ location: StoreLocation, call: Call) throws(StoreError) -> ObjectStoreMetadata {
    let text = JSONValue.object(location.json).text
    let answer = try backend.exchange(.load, Array(text.utf8), call: call)
    guard let type = try answer.text("type"), type.hasSameBytes(as: backend.name) else {
      throw .badAnswer("The metadata of the store \"\(backend.name)\" names another type.")
    }
    let metadata: ObjectStoreMetadata
    do throws(StoreError) {
      metadata = try ObjectStoreMetadata(type: type, uuid: try answer.text("uuid") ?? "")
    } catch {
      throw .badAnswer(error.message)
    }
    let known = uuids.withLock { uuids in
      let known = uuids[RecordID(text)] ?? metadata.uuid
      uuids[RecordID(text)] = known
      return known
    }
    guard known.hasSameBytes(as: metadata.uuid) else {
      throw .badAnswer("The store \"\(backend.name)\" has another UUID than before.")
    }
    return metadata
  }
}
