internal import KVBase

/// The backends of this process that a client is opened with by name. Safe from any thread.
///
/// A process that fork() made has none of its parent's, whose threads it lacks.
package enum BackendRegistry {
  /// A backend of our own that is opened by its name as well: no other can have that.
  package static let appSync = "appsync"

  private struct State {
    var process = ProcessGeneration.current
    var factories: [RecordID: BackendFactory] = [:]
    /// What a parent process has registered: never freed here.
    var inherited: [BackendFactory] = []

    mutating func enterProcess() {
      guard !process.isCurrent else { return }
      inherited += factories.values
      factories = [:]
      process = .current
    }
  }

  private static let state = Monitor(State())

  private static func withFactories<R>(_ body: (inout [RecordID: BackendFactory]) -> R) -> R {
    state.withLock { state in
      state.enterProcess()
      return body(&state.factories)
    }
  }

  /// From now on clients can be opened with that backend. Throws `.invalid` for an empty name, `.conflict` if the name
  /// is taken.
  package static func register(
    _ name: String, _ factory: @escaping BackendFactory
  ) throws(StoreError) {
    guard !name.isEmpty else { throw StoreError(.invalid, "A backend's name must not be empty.") }
    let isFree = withFactories { factories in
      guard !name.hasSameBytes(as: appSync), factories[RecordID(name)] == nil else { return false }
      factories[RecordID(name)] = factory
      return true
    }
    guard isFree else {
      throw StoreError(.conflict, "A backend with the name \"\(name)\" exists already.")
    }
  }

  /// No client can be opened with it any more; those that are open go on. False: there was none.
  @discardableResult
  package static func unregister(_ name: String) -> Bool {
    // Let go of outside of the lock: that may call the application.
    let factory = withFactories { $0.removeValue(forKey: RecordID(name)) }
    return factory != nil
  }

  /// Nil: there is none of this name.
  package static func factory(_ name: String) -> BackendFactory? {
    withFactories { $0[RecordID(name)] }
  }
}
