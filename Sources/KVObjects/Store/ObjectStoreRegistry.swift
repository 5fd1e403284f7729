internal import KVBase
package import KVJSON
package import KVSync

/// Makes a store for the contexts of a client. `options`: what the context's option `storeOptions` says. Throws why the store
/// cannot be loaded.
package typealias ObjectStoreFactory =
  @Sendable (_ options: JSONObject) throws(StoreError) -> any ObjectStore

/// The types of stores of this process that contexts are opened with by name. Safe from any thread.
///
/// A process that fork() made has none of its parent's, whose threads it lacks.
package enum ObjectStoreRegistry {
  /// The type of the local data, which no other can have.
  package static let local = "local"

  private struct State {
    var process = ProcessGeneration.current
    var factories: [RecordID: ObjectStoreFactory] = [:]
    /// What a parent process has registered: never freed here.
    var inherited: [ObjectStoreFactory] = []

    mutating func enterProcess() {
      guard !process.isCurrent else { return }
      inherited += factories.values
      factories = [:]
      process = .current
    }
  }

  private static let state = Monitor(State())

  private static func withFactories<R>(_ body: (inout [RecordID: ObjectStoreFactory]) -> R) -> R {
    state.withLock { state in
      state.enterProcess()
      return body(&state.factories)
    }
  }

  /// From now on contexts can be opened with that type. Throws `.invalid` for an empty name, `.conflict` if it is taken.
  package static func register(
    _ name: String, _ factory: @escaping ObjectStoreFactory
  ) throws(StoreError) {
    guard !name.isEmpty else { throw StoreError(.invalid, "A store's type must not be empty.") }
    let isFree = withFactories { factories in
      guard !name.hasSameBytes(as: local), factories[RecordID(name)] == nil else { return false }
      factories[RecordID(name)] = factory
      return true
    }
    guard isFree else {
      throw StoreError(.conflict, "A type of stores with the name \"\(name)\" exists already.")
    }
  }

  /// No context can be opened with it any more; those that are open go on. False: there was none.
  @discardableResult
  package static func unregister(_ name: String) -> Bool {
    // Let go of outside of the lock: that may call the application.
    let factory = withFactories { $0.removeValue(forKey: RecordID(name)) }
    return factory != nil
  }

  /// Nil: there is none of this name.
  package static func factory(_ name: String) -> ObjectStoreFactory? {
    withFactories { $0[RecordID(name)] }
  }
}
