internal import KVJSON
package import KVSync
package import KVTransport

/// Gives the session token of the user who is active now; nil while nobody is. Called once for each
/// operation, on the operation's thread.
package typealias KinveySession = @Sendable () throws(StoreError) -> String?

/// One application on one backend: makes requests, sends them, and turns failures into errors. Safe from
/// any thread.
package final class KinveyService: Sendable {
  let configuration: KinveyConfiguration
  let endpoint: KinveyEndpoint
  let transport: Transport
  let extensions = BackendExtensions()
  private let deviceInfo: String
  private let session: KinveySession

  /// The transport is shared, and stays the caller's to close.
  package init(
    _ configuration: KinveyConfiguration, _ transport: Transport,
    session: @escaping KinveySession
  ) throws(StoreError) {
    self.configuration = configuration
    self.endpoint = try KinveyEndpoint(configuration)
    self.transport = transport
    deviceInfo = KinveyHeaders.deviceInfo(configuration.version)
    self.session = session
  }

  // MARK: Proof

  /// Who may ask: a user if there is one, else the application.
  func anybody() throws(StoreError) -> KinveyProof {
    if let token = try session() { return .session(token: token) }
    return master ?? application
  }

  /// A user, or the holder of the master secret; fails with `noUser` before anything is sent.
  func somebody() throws(StoreError) -> KinveyProof {
    if let token = try session() { return .session(token: token) }
    guard let master else { throw StoreError(.noUser, "Nobody is logged in.") }
    return master
  }

  var application: KinveyProof {
    .basic(user: configuration.appKey, secret: configuration.appSecret)
  }

  private var master: KinveyProof? {
    configuration.masterSecret.map { .basic(user: configuration.appKey, secret: $0) }
  }

  // MARK: Requests

  func headers(_ proof: KinveyProof, _ call: Call) throws(StoreError) -> KinveyHeaders {
    try KinveyHeaders(configuration, deviceInfo: deviceInfo, proof, call)
  }

  func request(
    _ method: String, _ url: String, _ headers: KinveyHeaders, body: HTTPBody? = nil
  ) -> HTTPRequest {
    HTTPRequest(
      method, url, headers: headers.request(hasBody: body != nil), body: body,
      mostBytes: configuration.mostBytes)
  }

  /// Sends one request and gives its answer, which has a status of success. Whether it is the backend's shows in
  /// its form: see `Provenance`.
  func exchange(
    _ method: String, _ url: String, body: HTTPBody? = nil, _ proof: KinveyProof, _ call: Call
  ) throws(StoreError) -> HTTPResponse {
    let headers = try headers(proof, call)
    let request = request(method, url, headers, body: body)
    let response: HTTPResponse
    do throws(TransportError) {
      response = try transport.exchange(request, until: call.deadline, call.cancellation)
    } catch {
      throw StoreError(error)
    }
    extensions.note(response.head)
    guard response.head.isSuccess else {
      throw KinveyErrors.error(response.head, response.body, hiding: headers.secrets)
    }
    return response
  }
}
