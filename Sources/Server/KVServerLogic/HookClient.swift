internal import Glibc
internal import KVBase
package import KVServerCore
internal import KVTransport

/// Calls the operator's service over HTTP: one POST for each call, signed, and repeated with the same id if that may help.
/// Safe from any thread.
package final class HookClient: BusinessLogic {
  /// The longest answer.
  private static let maxBytes = 64 << 20
  /// Seconds to wait before the first repetition; each further one waits twice as long.
  private static let pause = 0.1

  private let settings: LogicSettings
  private let transport: Transport
  private let limit: CallLimit
  private let cancellation = Cancellation()

  /// Fails if the system has no thread or descriptor for it.
  package init(_ settings: LogicSettings) throws(SettingsReader.Failure) {
    self.settings = settings
    limit = CallLimit(settings.concurrency)
    var options = TransportOptions()
    options.connections = settings.concurrency
    options.connectSeconds = settings.seconds
    do { transport = try Transport(options) } catch {
      throw SettingsReader.Failure(error.message)
    }
  }

  package func isWanted(_ hook: Hook, on collection: String) -> Bool {
    // `*` is not a name of a collection.
    [collection, "*"].contains { settings.hooks[RecordID($0)]?.contains(hook) == true }
  }

  package func queryable(in collection: String) -> [String]? {
    settings.queryable[RecordID(collection)] ?? settings.queryable[RecordID("*")]
  }

  package func hasEndpoint(_ name: String) -> Bool {
    settings.endpoints.contains(RecordID(name))
  }

  package func send(_ call: LogicCall) throws(LogicFailure) -> LogicAnswer {
    guard limit.enter() else { throw .busy }
    defer { limit.leave() }
    return try repeating(call, delivery: hexText(randomBytes(16)))
  }

  package func close() {
    limit.close()
    cancellation.cancel()
    transport.close()
  }

  private func repeating(
    _ call: LogicCall, delivery: String
  ) throws(LogicFailure) -> LogicAnswer {
    let deadline = Deadline.after(seconds: settings.seconds)
    var attempt = 1
    while true {
      let problem: String
      do throws(TransportError) {
        let answer = try transport.exchange(
          request(call, delivery: delivery), until: deadline, cancellation: cancellation)
        guard [502, 503, 504].contains(answer.head.status) else {
          return LogicAnswer(
            status: answer.head.status, body: answer.body,
            contentType: answer.head["Content-Type"], location: answer.head["Location"])
        }
        problem = "it has answered \(answer.head.status)"
      } catch {
        guard Self.isWorthRepeating(error) else { throw .unavailable(error.message) }
        problem = error.message
      }
      let pause = Self.pause * Double(1 << (attempt - 1))
      guard attempt < settings.attempts, deadline.remainingSeconds > pause,
        limit.wait(until: .after(seconds: pause))
      else {
        throw .unavailable("\(problem) (attempt \(attempt))")
      }
      attempt += 1
    }
  }

  private static func isWorthRepeating(_ error: TransportError) -> Bool {
    switch error.kind {
    case .resolve, .connect, .reset: true
    case .certificate, .tls, .timeout, .cancelled, .tooLarge, .malformed, .notUpgraded, .invalid,
      .forked,
      .resources:
      false
    }
  }

  private func request(_ call: LogicCall, delivery: String) -> HTTPRequest {
    let time = "\(Glibc.time(nil))"
    let signature = Signature.make(
      secret: settings.secret, time: time, delivery: delivery, event: call.event, body: call.body)
    return HTTPRequest(
      "POST", settings.url,
      headers: [
        HTTPHeader("Content-Type", "application/json"),
        HTTPHeader("X-Request-Id", call.requestId),
        HTTPHeader("X-Kvstored-Event", call.event),
        HTTPHeader("X-Kvstored-Delivery", delivery),
        HTTPHeader("X-Kvstored-Timestamp", time),
        HTTPHeader("X-Kvstored-Signature", "sha256=" + signature),
      ], body: .once(call.body), maxBytes: Self.maxBytes)
  }
}
