internal import KVBase

/// Live Service of all apps. Safe from any thread.
final class LiveService: Sendable {
  /// The state that its threads wait on.
  private struct State {
    /// Collections by app with messages for many subscribers, to whom they are still to be delivered.
    var due: [Int64: Set<RecordID>] = [:]
    /// Whether there is a thread that delivers them.
    var hasDeliveryThread = false
    var isClosed = false

    mutating func next() -> (app: Int64, collection: String)? {
      guard let app = due.keys.first, let collection = due[app]?.popFirst() else { return nil }
      if due[app]?.isEmpty == true { due[app] = nil }
      return (app, collection.text)
    }
  }

  private let apps: ServedApps
  private let store: any LiveHistoryStore
  /// Names the data in positions. Two epochs get the same number once in a thousand million times.
  private let region: Int64
  private let state = Monitor(State())

  /// `store`: has what was sent before. `epoch`: of the data, as hex digits.
  init(_ apps: ServedApps, _ store: any LiveHistoryStore, epoch: String, log: Log) {
    self.apps = apps
    self.store = store
    region = (Int64(epoch.prefix(8), radix: 16) ?? 0) & 0x7FFF_FFFF | 1
    Self.startThreads(apps, store, state: state, log: log)
  }

  /// Makes the broker of an app, with what was sent before. `isSilent`: collections without live data.
  func makeBroker(
    of app: App, isSilent: @escaping @Sendable (String) -> Bool
  ) throws(ServerError) -> LiveBroker {
    let (number, state) = (app.number, state)
    return LiveBroker(
      LiveWire(app: app.key, region: region), try store.history(of: number, at: .now()),
      isSilent: isSilent,
      deliverLater: { collection in
        state.withLockNotifyingAll { state in
          if state.hasDeliveryThread {
            state.due[number, default: []].insert(RecordID(collection))
          }
          return state.hasDeliveryThread
        }
      })
  }

  /// Starts the threads: one ends polls whose time is over, one delivers what many wait for. They end with `isClosed`.
  private static func startThreads(
    _ apps: ServedApps, _ store: any LiveHistoryStore, state: Monitor<State>, log: Log
  ) {
    _ = Worker("kv-live") {
      while state.wait(until: .after(seconds: 1), for: { $0.isClosed ? true : nil }) == nil {
        for served in apps.all {
          served.broker.tend()
          guard let floor = served.broker.popForgottenFloor() else { continue }
          do throws(ServerError) { try store.forget(served.app.number, until: floor) } catch {
            log.error("old live messages could not be deleted: \(error.cause ?? error.debug)")
          }
        }
      }
    }
    let delivery = Worker("kv-live-tell") {
      while let (app, collection) = state.wait(for: { state -> (Int64, String)?? in
        state.isClosed ? .some(nil) : state.next().map { .some($0) }
      }) ?? nil {
        apps.broker(of: app)?.deliver(collection)
      }
    }
    state.withLock { $0.hasDeliveryThread = delivery != nil }
  }

  deinit { close() }

  /// How many polls wait.
  var waitingCount: Int { apps.all.reduce(0) { $0 + $1.broker.waitingCount } }

  /// Answers all polls; from now on none waits.
  func close() {
    state.withLockNotifyingAll { $0.isClosed = true }
    for served in apps.all { served.broker.close() }
  }
}
