internal import KVBase

/// The backends of this process that a client is opened with by name. Safe from any thread.
package enum BackendRegistry {
  private static let factories = Monitor<[RecordID: BackendFactory]>([:])

  /// From now on clients can be opened with that backend. Throws `.invalid` for an empty name, `.conflict` if the name
  /// is taken.
  package static func register(
    _ name: String, _ factory: @escaping BackendFactory
  ) throws(StoreError) {
    guard !name.isEmpty else { throw StoreError(.invalid, "A backend's name must not be empty.") }
    let isFree = factories.peek { factories in
      guard factories[RecordID(name)] == nil else { return false }
      factories[RecordID(name)] = factory
      return true
    }
    guard isFree else {
      throw StoreError(.conflict, "There is a backend of the name \"\(name)\" already.")
    }
  }

  /// No client can be opened with it any more; those that are open go on. False: there was none.
  @discardableResult
  package static func unregister(_ name: String) -> Bool {
    factories.peek { $0.removeValue(forKey: RecordID(name)) != nil }
  }

  /// Nil: there is none of this name.
  package static func factory(_ name: String) -> BackendFactory? {
    factories.peek { $0[RecordID(name)] }
  }
}
