internal import KVBase

/// Live Service of all apps. Safe from any thread.
final class Live: Sendable {
  let outbox: LiveOutbox
  private let brokers: [Int64: LiveBroker]
  private let byKey: [String: (app: App, broker: LiveBroker)]
  private let isClosed = Monitor(false)

  init(_ apps: [App]) {
    // Two runs get the same number once in two thousand million times.
    let run = randomBytes(4).reduce(Int64(0)) { $0 << 8 | Int64($1) } & 0x7FFF_FFFF | 1
    var brokers: [Int64: LiveBroker] = [:]
    var byKey: [String: (app: App, broker: LiveBroker)] = [:]
    for app in apps {
      let broker = LiveBroker(LiveWire(app: app.key, run: run))
      brokers[app.number] = broker
      byKey[broker.wire.subscribeKey] = (app, broker)
    }
    self.brokers = brokers
    self.byKey = byKey
    outbox = LiveOutbox(brokers)
    let isClosed = isClosed
    let all = Array(brokers.values)
    _ = Worker("kv-live") {
      while isClosed.wait(until: .after(seconds: 1), for: { $0 ? true : nil }) == nil {
        for broker in all { broker.tend() }
      }
    }
  }

  deinit { close() }

  func broker(of app: Int64) -> LiveBroker? { brokers[app] }

  /// The app that a subscribe key belongs to.
  func find(_ subscribeKey: String) -> (app: App, broker: LiveBroker)? { byKey[subscribeKey] }

  /// Answers all polls; from now on none waits.
  func close() {
    isClosed.withLock { $0 = true }
    for broker in brokers.values { broker.close() }
  }
}
