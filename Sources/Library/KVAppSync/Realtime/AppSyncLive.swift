internal import KVBase
internal import KVJSON
package import KVModels
package import KVSync
internal import KVTransport

/// Subscriptions of AppSync as live data: all subscribed models over one WebSocket. Safe from any thread.
///
/// The position of a poll is the number of the connection: events between two connections are lost, and read again.
package final class AppSyncLive: LiveRemote {
  /// One subscription that runs.
  private struct Subscription {
    var topic: LiveTopic
    var operation: ModelOperation
    var field: String
  }

  private struct State {
    var connection: RealtimeConnection?
    /// Counts the connections.
    var number = 0
    /// Counts subscriptions: an id is never used again.
    var lastID = 0
    /// Counts messages, which have no key of their own.
    var lastMessage = 0
    var subscriptions: [String: Subscription] = [:]
    /// What is subscribed to again after a connection was lost.
    var topics: Set<LiveTopic> = []
  }

  private static let operations: [ModelOperation] = [.onCreate, .onUpdate, .onDelete]

  private let remote: AppSyncRemote
  private let models: [RecordID: Model]
  private let state = Monitor(State())

  package init(_ remote: AppSyncRemote, _ schema: ModelSchema) {
    self.remote = remote
    models = Dictionary(schema.models.map { (RecordID($0.name), $0) }) { first, _ in first }
  }

  // MARK: Registration

  package func register(
    _ userId: String?, device: String, call: Call
  ) throws(StoreError) -> LiveRegistration {
    forget()
    return LiveRegistration(userId: userId, device: device)
  }

  package func unregister(
    _ registration: LiveRegistration, token: String?, call: Call
  ) throws(StoreError) { forget() }

  /// Closes the connection, and forgets what was subscribed to.
  private func forget() {
    drop()
    state.withLock { $0.topics = [] }
  }

  private func drop() {
    let connection = state.withLock { state in
      defer { (state.connection, state.subscriptions) = (nil, [:]) }
      return state.connection
    }
    connection?.close()
  }

  /// Ends everything.
  package func close() { forget() }

  // MARK: Topics

  package func join(
    _ topic: LiveTopic, _ registration: LiveRegistration, call: Call
  ) throws(StoreError) -> BackendMoment? {
    let isKnown = state.withLock { $0.topics.contains(topic) && $0.connection != nil }
    if !isKnown {
      let connection = try connected(call)
      try subscribe(to: topic, over: connection, call)
    }
    return nil
  }

  package func leave(
    _ topic: LiveTopic, _ registration: LiveRegistration, call: Call
  ) throws(StoreError) {
    let (connection, ids) = state.withLock { state in
      state.topics.remove(topic)
      let ids = state.subscriptions.filter { $0.value.topic == topic }.map(\.key)
      for id in ids { state.subscriptions[id] = nil }
      return (state.connection, ids)
    }
    for id in ids { try connection?.stop(id) }
  }

  /// Starts what the model offers of the three subscriptions; if one is refused, the others end as well.
  private func subscribe(
    to topic: LiveTopic, over connection: RealtimeConnection, _ call: Call
  ) throws(StoreError) {
    guard let name = topic.collection, let model = models[RecordID(name)] else {
      throw StoreError(.unsupported, "The backend \"appsync\" has no streams.")
    }
    let offered = Self.operations.filter { !model.missingOperations.contains($0) }
    guard offered.count == Self.operations.count else {
      throw StoreError(.unsupported, "The schema switches off subscriptions of \(name).")
    }
    var started: [String] = []
    do throws(StoreError) {
      for operation in offered {
        let field = operation.rawValue + name
        let table = try remote.table(name)
        try connection.start(
          SubscriptionRequest(documents: table.documents, operation: operation),
          in: table.modes[operation] ?? [], call: call
        ) {
          // Known before it has started: data may come before the acknowledgement is read.
          let id = state.withLock { state in
            state.lastID += 1
            let id = "s\(state.lastID)"
            state.subscriptions[id] = Subscription(topic: topic, operation: operation, field: field)
            return id
          }
          started.append(id)
          return id
        }
      }
      state.withLock { _ = $0.topics.insert(topic) }
    } catch {
      for id in started {
        state.withLock { $0.subscriptions[id] = nil }
        try? connection.stop(id)
      }
      if error.isOffline { drop() }
      throw error
    }
  }

  // MARK: The connection

  private func connected(_ call: Call) throws(StoreError) -> RealtimeConnection {
    if let connection = state.withLock({ $0.connection }) { return connection }
    let service = remote.service
    let connection = try RealtimeConnection.opened(service, call)
    state.withLock { state in
      state.connection = connection
      state.number += 1
    }
    return connection
  }

  /// Connects anew, and subscribes to everything again.
  package func probe(_ registration: LiveRegistration, _ call: Call) throws(StoreError) {
    drop()
    let connection = try connected(call)
    for topic in state.withLock({ $0.topics }) {
      do throws(StoreError) { try subscribe(to: topic, over: connection, call) } catch {
        drop()
        throw error
      }
    }
  }

  // MARK: Polling

  package func poll(
    _ registration: LiveRegistration, from position: LivePosition?, call: Call
  ) throws(StoreError) -> LivePoll {
    let connection = try connected(call)
    let here = LivePosition("\(state.withLock { $0.number })")
    guard let position, position == here else {
      return .messages([], next: here, isIncomplete: position != nil)
    }
    do throws(StoreError) {
      return try answer(to: connection.next(call), at: here)
    } catch {
      if error.kind == .timeout, call.deadline.hasPassed {
        return .messages([], next: here)
      }
      if error.kind != .cancelled { drop() }
      throw error
    }
  }

  private func answer(
    to answer: RealtimeMessage, at position: LivePosition
  ) throws(StoreError) -> LivePoll {
    switch answer {
    case .data(let id, let payload):
      guard let subscription = state.withLock({ $0.subscriptions[id] }) else { break }
      let told = try message(payload, subscription)
      return .messages(told.map { [$0] } ?? [], next: position, isIncomplete: told == nil)
    case .refused(let id?, let errors):
      guard let topic = state.withLock({ $0.subscriptions[id]?.topic }) else { break }
      return .refused([topic], AppSyncErrors.realtimeError(errors.first ?? [:]))
    case .refused(nil, let errors): throw AppSyncErrors.realtimeError(errors.first ?? [:])
    case .complete(let id):
      // Not one that we have stopped: nothing comes of it any more.
      guard state.withLock({ $0.subscriptions[id] }) != nil else { break }
      throw StoreError(.network, "The API has ended a subscription.")
    case .acknowledged, .keepAlive, .started, .unknown: break
    }
    return .messages([], next: position)
  }

  /// What an event says of a record. Nil: not enough, so that what has changed has to be read: the mutation did not select
  /// the whole record, or it failed.
  private func message(
    _ payload: JSONObject, _ subscription: Subscription
  ) throws(StoreError) -> LiveMessage? {
    let table = try remote.table(subscription.topic.collection ?? "")
    guard let item = payload["data"]?[subscription.field]?.objectValue, table.isReadable(item),
      let key = table.format.key(of: item), let version = item["_version"]?.intValue
    else { return nil }
    let number = state.withLock { state in
      state.lastMessage += 1
      return state.lastMessage
    }
    let (record, isDeleted) = table.records.record(of: item)
    let change: LiveChange
    if isDeleted || subscription.operation == .onDelete {
      change = .deleted(id: key, at: String(version))
    } else {
      guard table.records.isWhole(item) else { return nil }
      let cause: LiveChange.Cause = subscription.operation == .onCreate ? .create : .update
      change = .saved(record, id: key, cause)
    }
    return LiveMessage(key: "\(number)", topic: subscription.topic, change: change)
  }
}
