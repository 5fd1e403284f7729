internal import KVBase
internal import KVHTTP
internal import KVJSON
internal import KVSync
internal import KVTransport

/// One connection of the real-time protocol. Used by one thread at a time.
///
///     open ── connection_init ──▶ connection_ack ── start ──▶ start_ack ── data … data ── stop ──▶ complete
///
/// A wait for an acknowledgement keeps what arrives meanwhile for `next`.
final class RealtimeConnection: Sendable {
  /// Seconds to wait for an acknowledgement: of the connection, and of a subscription.
  private static let (connectSeconds, startSeconds) = (15.0, 15.0)

  private struct State {
    var kept = FIFO<RealtimeMessage>()
    /// Seconds without a sign of life after which the connection is dead.
    var timeout = 300.0
    /// When there has to be another one.
    var deadline = Deadline.never
  }

  private let socket: any MessageSocket
  private let service: AppSyncService
  private let state = Monitor(State())

  /// Connects, and waits until the API agrees; once more with another token, if it refuses the first one.
  static func opened(_ service: AppSyncService, _ call: Call) throws(StoreError)
    -> RealtimeConnection
  {
    let mode = service.configuration.usualMode
    let path = service.configuration.address.path + "/connect"
    return try service.authorizer.renewing(mode, call) { () throws(StoreError) in
      try service.authorizer.realtimeHeaders(path: path, body: Array("{}".utf8), as: mode, call)
    } sending: { (allowance) throws(StoreError) in
      try RealtimeConnection(service, allowance.headers, call: call)
    }
  }

  private init(
    _ service: AppSyncService, _ headers: [HTTPHeader], call: Call
  ) throws(StoreError) {
    self.service = service
    let deadline = call.deadline.earlier(.after(seconds: Self.connectSeconds))
    do throws(TransportError) {
      socket = try service.transport.socket(
        service.configuration.realtimeRequest(headers), until: deadline,
        cancellation: call.cancellation)
      try socket.send(RealtimeMessage.initialization)
    } catch {
      throw StoreError(error)
    }
    while true {
      switch try receive(deadline, call) {
      case .acknowledged(let timeout):
        state.withLock { $0.timeout = timeout }
        noteLife()
        return
      case .refused(nil, let errors): throw Self.refusal(errors)
      default: continue
      }
    }
  }

  func close() { socket.close() }

  // MARK: Subscriptions

  /// Starts a subscription in the first of some modes that may, and waits until the API has agreed; in each once more with
  /// another token, if it refuses the first one. Throws what it says if it refuses. `newID` gives an id that was not used
  /// yet.
  func start(
    _ request: SubscriptionRequest, in modes: [AuthorizationMode], call: Call, newID: () -> String
  ) throws(StoreError) {
    for mode in modes.dropLast() {
      do throws(StoreError) {
        return try start(request, as: mode, newID: newID, call: call)
      } catch {
        guard error.kind == .forbidden || error.kind == .unauthorized || error.kind == .noUser
        else {
          throw error
        }
      }
    }
    try start(
      request, as: modes.last ?? service.configuration.usualMode, newID: newID, call: call)
  }

  /// An API that refuses to tell of everything may still tell of the caller's own records: it is asked for these then.
  private func start(
    _ request: SubscriptionRequest, as mode: AuthorizationMode, newID: () -> String, call: Call
  ) throws(StoreError) {
    do throws(StoreError) {
      return try start(request.body(), as: mode, newID: newID, call: call)
    } catch {
      guard error.kind == .forbidden || error.kind == .invalid,
        let claims = try service.authorizer.claims(as: mode, call),
        let own = request.body(as: mode, claims: claims)
      else { throw error }
      try start(own, as: mode, newID: newID, call: call)
    }
  }

  private func start(
    _ data: [UInt8], as mode: AuthorizationMode, newID: () -> String, call: Call
  ) throws(StoreError) {
    let (authorizer, path) = (service.authorizer, service.configuration.address.path)
    try authorizer.renewing(mode, call) { () throws(StoreError) in
      try authorizer.realtimeHeaders(path: path, body: data, as: mode, call)
    } sending: { (allowance) throws(StoreError) in
      try start(newID(), data, headers: allowance.headers, call: call)
    }
  }

  private func start(
    _ id: String, _ data: [UInt8], headers: [HTTPHeader], call: Call
  ) throws(StoreError) {
    try send(
      RealtimeMessage.start(
        id: id, data: String(decoding: data, as: UTF8.self), headers.jsonObject))
    let deadline = call.deadline.earlier(.after(seconds: Self.startSeconds))
    while true {
      let message = try receive(deadline, call)
      switch message {
      case .started(id): return
      case .refused(let which, let errors) where which == id || which == nil:
        throw Self.refusal(errors)
      default: state.withLock { $0.kept.append(message) }
      }
    }
  }

  /// Ends a subscription. Late messages are dropped.
  func stop(_ id: String) throws(StoreError) { try send(RealtimeMessage.stop(id: id)) }

  // MARK: Messages

  /// The next message that is not a sign of life. Throws `.timeout` at the call's deadline, `.network` once the
  /// connection is dead.
  func next(_ call: Call) throws(StoreError) -> RealtimeMessage {
    while true {
      if let kept = state.withLock({ $0.kept.popFirst() }) { return kept }
      let message = try receive(call.deadline, call)
      if message != .keepAlive { return message }
    }
  }

  private func send(_ message: [UInt8]) throws(StoreError) {
    do throws(TransportError) { try socket.send(message) } catch { throw StoreError(error) }
  }

  private func receive(_ deadline: Deadline, _ call: Call) throws(StoreError) -> RealtimeMessage {
    let death = state.withLock { $0.deadline }
    let bytes: [UInt8]
    do throws(TransportError) {
      bytes = try socket.receive(until: deadline.earlier(death), cancellation: call.cancellation)
    } catch {
      guard error.kind == .timeout, death.hasPassed else { throw StoreError(error) }
      socket.close()
      throw StoreError(.network, "The API's WebSocket has been silent for too long.")
    }
    noteLife()
    return try RealtimeMessage(bytes)
  }

  private func noteLife() {
    state.withLock { $0.deadline = .after(seconds: $0.timeout) }
  }

  private static func refusal(_ errors: [JSONObject]) -> StoreError {
    guard let words = errors.first else {
      return StoreError(.forbidden, "The API refuses the subscription.")
    }
    return AppSyncErrors.realtimeError(words)
  }
}
