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

  /// By the numbers of the apps.
  let brokers: [Int64: LiveBroker]
  /// The apps by subscribe key: a word of ours and hexadecimal digits of a hash.
  private let byKey: [String: (app: App, broker: LiveBroker)]
  private let state = Monitor(State())

  /// `store`: has what was sent before. `epoch`: of the data, as hex digits.
  init(
    _ apps: [App], _ store: any LiveHistoryStore, epoch: String, log: Log
  ) throws(ServerError) {
    // Two epochs get the same number once in a thousand million times.
    let region = (Int64(epoch.prefix(8), radix: 16) ?? 0) & 0x7FFF_FFFF | 1
    var brokers: [Int64: LiveBroker] = [:]
    var byKey: [String: (app: App, broker: LiveBroker)] = [:]
    let state = state
    for app in apps {
      let number = app.number
      let broker = LiveBroker(
        LiveWire(app: app.key, region: region), try store.history(of: number, at: .now()),
        deliverLater: { collection in
          state.withLockNotifyingAll { state in
            if state.hasDeliveryThread {
              state.due[number, default: []].insert(RecordID(collection))
            }
            return state.hasDeliveryThread
          }
        })
      brokers[number] = broker
      byKey[broker.wire.subscribeKey] = (app, broker)
    }
    self.brokers = brokers
    self.byKey = byKey
    Self.startThreads(brokers, store, state: state, log: log)
  }

  /// Starts the threads: one ends polls whose time is over, one delivers what many wait for. They end with `isClosed`.
  private static func startThreads(
    _ brokers: [Int64: LiveBroker], _ store: any LiveHistoryStore, state: Monitor<State>, log: Log
  ) {
    _ = Worker("kv-live") {
      while state.wait(until: .after(seconds: 1), for: { $0.isClosed ? true : nil }) == nil {
        for (app, broker) in brokers {
          broker.tend()
          guard let floor = broker.popForgottenFloor() else { continue }
          do throws(ServerError) { try store.forget(app, until: floor) } catch {
            log.error("old live messages could not be deleted: \(error.cause ?? error.debug)")
          }
        }
      }
    }
    let delivery = Worker("kv-live-tell") {
      while let (app, collection) = state.wait(for: { state -> (Int64, String)?? in
        state.isClosed ? .some(nil) : state.next().map { .some($0) }
      }) ?? nil {
        brokers[app]?.deliver(collection)
      }
    }
    state.withLock { $0.hasDeliveryThread = delivery != nil }
  }

  deinit { close() }

  /// What the store tells of commits.
  var feed: LiveBrokers { LiveBrokers(brokers) }

  func broker(of app: Int64) -> LiveBroker? { brokers[app] }

  /// The app and the broker that a subscribe key belongs to.
  func find(_ subscribeKey: String) -> (app: App, broker: LiveBroker)? { byKey[subscribeKey] }

  /// How many polls wait.
  var waitingCount: Int { brokers.values.reduce(0) { $0 + $1.waitingCount } }

  /// Answers all polls; from now on none waits.
  func close() {
    state.withLockNotifyingAll { $0.isClosed = true }
    for broker in brokers.values { broker.close() }
  }
}
