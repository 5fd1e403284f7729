internal import KVBase
internal import KVTransport

/// The way to a running server: HTTP with the master secret.
package final class HTTPConnection: AdminConnection {
  /// Seconds for one request: a server works on one for an hour at the most.
  private static let seconds = 3600.0
  private static let maxBytes = 256 << 20

  private let transport: Transport
  private let url: String
  private let authorization: String

  /// `url`: scheme, host and port. `caFile`: certificates to trust in place of the system's.
  package init(
    _ url: String, app key: String, masterSecret: String, caFile: String?
  ) throws(AdminFailure) {
    var options = TransportOptions(caFile: caFile)
    options.connectSeconds = 10
    do { transport = try Transport(options) } catch {
      throw AdminFailure(.failed, error.message)
    }
    var url = url
    while url.hasSuffix("/") { url.removeLast() }
    self.url = url
    authorization = "Basic " + Base64.encode("\(key):\(masterSecret)")
  }

  package func send(_ request: AdminRequest) throws(AdminFailure) -> AdminAnswer {
    let headers =
      [
        HTTPHeader("Authorization", authorization),
        HTTPHeader("X-Kinvey-API-Version", String(AdminProtocol.version)),
        HTTPHeader("Content-Type", "application/json"),
      ] + request.headers.map { HTTPHeader($0.name, $0.value) }
    do {
      let answer = try transport.exchange(
        HTTPRequest(
          request.method, url + request.target, headers: headers,
          body: request.body.map { .once($0) }, maxBytes: Self.maxBytes),
        until: .after(seconds: Self.seconds), cancellation: Cancellation())
      return AdminAnswer(status: answer.head.status, body: answer.body)
    } catch {
      throw AdminFailure(.unavailable, "\(url): \(error.message)")
    }
  }

  package func close() { transport.close() }
}
