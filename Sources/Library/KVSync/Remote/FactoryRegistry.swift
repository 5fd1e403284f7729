internal import KVBase

/// Factories of this process, by name. Safe from any thread.
///
/// A process that fork() made has none of its parent's, whose threads it lacks.
package final class FactoryRegistry<Factory: Sendable>: Sendable {
  private struct State {
    var process = ProcessGeneration.current
    var factories: [RecordID: Factory] = [:]
    /// What a parent process has registered: never freed here.
    var inherited: [Factory] = []

    mutating func enterProcess() {
      guard !process.isCurrent else { return }
      inherited += factories.values
      factories = [:]
      process = .current
    }
  }

  private let kind: String
  private let reserved: String
  private let state = Monitor(State())

  /// `kind` says in errors what the factories make; `reserved` is a name that none of them can have.
  package init(of kind: String, reserving reserved: String) {
    self.kind = kind
    self.reserved = reserved
  }

  private func withFactories<R>(_ body: (inout [RecordID: Factory]) -> R) -> R {
    state.withLock { state in
      state.enterProcess()
      return body(&state.factories)
    }
  }

  /// Throws `.invalid` for an empty name, `.conflict` if the name is taken.
  package func register(_ name: String, _ factory: Factory) throws(StoreError) {
    guard !name.isEmpty else {
      throw StoreError(.invalid, "The name of a \(kind) must not be empty.")
    }
    let isFree = withFactories { factories in
      guard !name.hasSameBytes(as: reserved), factories[RecordID(name)] == nil else { return false }
      factories[RecordID(name)] = factory
      return true
    }
    guard isFree else {
      throw StoreError(.conflict, "A \(kind) with the name \"\(name)\" exists already.")
    }
  }

  /// What the factory has made goes on. False: there was none of this name.
  @discardableResult
  package func unregister(_ name: String) -> Bool {
    // Let go of outside of the lock: that may call the application.
    let factory = withFactories { $0.removeValue(forKey: RecordID(name)) }
    return factory != nil
  }

  /// Nil: no factory has this name.
  package func factory(_ name: String) -> Factory? {
    withFactories { $0[RecordID(name)] }
  }
}
