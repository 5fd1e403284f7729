internal import KVBase

/// The apps that are served, each with the broker of its live data. They may change while the server runs. Safe from any thread.
final class ServedApps: Sendable {
  struct Served: Sendable {
    let app: App
    let broker: LiveBroker
  }

  private struct State {
    var byKey: [RecordID: Served] = [:]
    var byNumber: [Int64: Served] = [:]
    /// By subscribe key: a word of ours and hexadecimal digits of a hash.
    var bySubscribeKey: [String: Served] = [:]
  }

  private let state = Monitor(State())

  var all: [Served] { state.withLock { Array($0.byNumber.values) } }

  func find(_ key: String) -> Served? { state.withLock { $0.byKey[RecordID(key)] } }

  func find(subscribeKey: String) -> Served? { state.withLock { $0.bySubscribeKey[subscribeKey] } }

  func broker(of app: Int64) -> LiveBroker? { state.withLock { $0.byNumber[app]?.broker } }

  /// Serves an app, or the same one with other secrets.
  func add(_ served: Served) {
    state.withLock { state in
      state.byKey[RecordID(served.app.key)] = served
      state.byNumber[served.app.number] = served
      state.bySubscribeKey[served.broker.wire.subscribeKey] = served
    }
  }

  func remove(_ served: Served) {
    state.withLock { state in
      state.byKey[RecordID(served.app.key)] = nil
      state.byNumber[served.app.number] = nil
      state.bySubscribeKey[served.broker.wire.subscribeKey] = nil
    }
  }
}

extension ServedApps: LivePublisher {
  func hasListeners(of topic: String, in app: Int64) -> Bool {
    broker(of: app)?.hasListeners(of: topic) ?? false
  }

  func moment(in app: Int64) -> Int64? { broker(of: app)?.moment() }

  func prepare(
    _ content: LiveAnnouncement.Content, for topic: String, of app: Int64
  ) -> LiveAnnouncement? {
    broker(of: app)?.prepare(content, for: topic, of: app)
  }

  func publish(_ announcement: LiveAnnouncement) {
    broker(of: announcement.app)?.publish(announcement)
  }

  func withdraw(_ announcement: LiveAnnouncement) {
    broker(of: announcement.app)?.withdraw(announcement)
  }

  func receive(_ messages: [LiveMessage], until position: Int64, floor: Int64, in app: Int64) {
    broker(of: app)?.receive(messages, until: position, floor: floor)
  }

  func replaceListeners(of user: String, by rows: [LiveRegistration], in app: Int64) {
    broker(of: app)?.replaceListeners(of: user, by: rows)
  }

  func waitingSessions(of user: String, in app: Int64) -> Set<String> {
    broker(of: app)?.waitingSessions(of: user) ?? []
  }

  func refuse(session token: String, in app: Int64) { broker(of: app)?.refuse(session: token) }
}
