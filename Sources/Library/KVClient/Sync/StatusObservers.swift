internal import KVBase
internal import KVSync

/// Tells observers that the status of a client may be another one: at once, then four times a second at the most,
/// and always after the last change. One thread, from the first observer on. Safe from any thread.
final class StatusObservers: Sendable {
  private struct State {
    var signals: [ObjectIdentifier: @Sendable () -> Void] = [:]
    var isChanged = false
    var isClosed = false
    var worker: Worker?
  }

  /// Seconds between two signals: making a status reads the database.
  private static let rest = 0.25

  private let state = Monitor(State())

  /// From now on `signal` runs after changes, on a thread of ours, which it must not keep waiting.
  func add(
    _ observer: StatusObserver, _ signal: @escaping @Sendable () -> Void
  ) throws(StoreError) {
    try state.withLockNotifyingAll { (state) throws(StoreError) in
      guard !state.isClosed else { throw StoreError(.misuse, "The client is closed.") }
      if state.worker == nil { state.worker = Worker("kv-status") { [self] in run() } }
      guard state.worker != nil else {
        throw StoreError(.internal, "No thread could be started.")
      }
      state.signals[ObjectIdentifier(observer)] = signal
      state.isChanged = true
    }
  }

  func remove(_ observer: StatusObserver) {
    state.withLock { _ = $0.signals.removeValue(forKey: ObjectIdentifier(observer)) }
  }

  /// Says that a status may be another one. Cheap enough for each save.
  func didChange() {
    let isNews = state.withLock { !$0.isChanged && !$0.signals.isEmpty }
    if isNews { state.withLockNotifyingAll { $0.isChanged = true } }
  }

  func close() {
    let worker = state.withLockNotifyingAll { state in
      state.isClosed = true
      state.signals = [:]
      return state.worker
    }
    worker?.join()
  }

  private func run() {
    while let signals = next() {
      for signal in signals { signal() }
      _ = state.wait(until: .after(seconds: Self.rest)) { $0.isClosed ? true : nil }
    }
  }

  /// Waits for a change; nil: closed.
  private func next() -> [@Sendable () -> Void]? {
    let signals = state.wait { state -> [@Sendable () -> Void]?? in
      if state.isClosed { return .some(nil) }
      guard state.isChanged else { return nil }
      state.isChanged = false
      return .some(Array(state.signals.values))
    }
    return signals ?? nil
  }
}

/// An observer of the status, until it is ended.
package final class StatusObserver: Sendable {
  private let observers: StatusObservers

  init(_ observers: StatusObservers) { self.observers = observers }

  /// Ends it; a second time nothing happens. Does not wait for a signal that is under way.
  package func end() { observers.remove(self) }
}
