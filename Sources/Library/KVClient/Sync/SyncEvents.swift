internal import KVBase
internal import KVJSON
package import KVSync

/// Publishes what happens while a client synchronises to those who listen. Safe from any thread.
package final class SyncEvents: Sendable {
  /// Listens until it is released or ended. Nothing is delivered after `end` has returned, except what
  /// another thread is delivering at that moment.
  package final class Listener: Sendable {
    fileprivate let handler: @Sendable (SyncEvent) -> Void
    private let events: SyncEvents

    fileprivate init(_ events: SyncEvents, _ handler: @escaping @Sendable (SyncEvent) -> Void) {
      self.events = events
      self.handler = handler
    }

    package func end() { events.remove(self) }
  }

  private struct State {
    var listeners: [ObjectIdentifier: Listener] = [:]
    var tasks = 0
    /// What runs now, and how far it is.
    var running: [Int: (task: SyncEvent.Task, progress: Progress.Snapshot)] = [:]
    /// The token of the session whose end was published last.
    var endedToken: String?
  }

  /// Nanoseconds between two reports of one operation's progress.
  private static let rest: Int64 = 100_000_000

  private let state = Monitor(State())

  /// `changed` runs after each event, on the thread that published it; it must not wait.
  private let changed: @Sendable () -> Void

  init(_ changed: @escaping @Sendable () -> Void = {}) { self.changed = changed }

  /// `handler` is called on whichever thread something happens; it must not wait.
  package func listen(_ handler: @escaping @Sendable (SyncEvent) -> Void) -> Listener {
    let listener = Listener(self, handler)
    state.withLock { $0.listeners[ObjectIdentifier(listener)] = listener }
    return listener
  }

  private func remove(_ listener: Listener) {
    state.withLock { _ = $0.listeners.removeValue(forKey: ObjectIdentifier(listener)) }
  }

  func publish(_ event: SyncEvent) {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener.handler(event) }
    changed()
  }

  /// The pushes, pulls and syncs that run now, in the order of their beginning, and how far they are.
  package var running: [(task: SyncEvent.Task, progress: Progress.Snapshot)] {
    state.withLock { $0.running.values.sorted { $0.task.number < $1.task.number } }
  }

  /// Whether the backend has refused a session.
  func wasRefused(_ token: String) -> Bool {
    state.withLock { $0.endedToken?.hasSameBytes(as: token) == true }
  }

  /// Publishes the end of a session that was refused, once for each session.
  func publishRefusal(_ token: String, _ error: StoreError) {
    let isNews = state.withLock { state in
      defer { state.endedToken = token }
      return state.endedToken != token
    }
    if isNews { publish(.loggedOut(error)) }
  }

  /// Runs a push, pull or sync and tells how it goes. `result`: what it came to, for the listeners.
  func publishing<R>(
    _ operation: StaticString, of collection: String, isAutomatic: Bool, progress: Progress,
    result: (R) -> JSONObject, body: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let task = state.withLock { state in
      state.tasks += 1
      let task = SyncEvent.Task(
        number: state.tasks, operation: "\(operation)", collection: collection,
        isAutomatic: isAutomatic)
      state.running[task.number] = (task, Progress.Snapshot())
      return task
    }
    publish(.started(task))
    let last = Monitor<Int64>(0)
    progress.follow { [self] snapshot in
      let isDue = last.withLock { last in
        let now = monotonicNanoseconds()
        guard now - last >= Self.rest else { return false }
        last = now
        return true
      }
      guard isDue else { return }
      state.withLock { $0.running[task.number]?.progress = snapshot }
      publish(.progress(task, snapshot))
    }
    defer { progress.follow { _ in } }
    do throws(StoreError) {
      let outcome = try body()
      publish(.progress(task, progress.snapshot))
      end(task)
      publish(.finished(task, result: result(outcome)))
      return outcome
    } catch {
      end(task)
      publish(.failed(task, error))
      throw error
    }
  }

  private func end(_ task: SyncEvent.Task) {
    state.withLock { _ = $0.running.removeValue(forKey: task.number) }
  }
}
