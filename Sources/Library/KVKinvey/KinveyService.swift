internal import KVHTTP
internal import KVJSON
package import KVSync
package import KVTransport

/// Returns the session token of the active user; nil while there is none. Called once for each
/// operation, on the operation's thread.
package typealias KinveySession = @Sendable () throws(StoreError) -> String?

/// One application on one backend: makes requests, sends them, and turns failures into errors. Safe from
/// any thread.
package final class KinveyService: Sendable {
  let configuration: KinveyConfiguration
  let endpoint: KinveyEndpoint
  let transport: Transport
  let extensions: BackendExtensions
  private let deviceInfo: String
  private let session: KinveySession
  let debug: @Sendable (() -> String) -> Void

  /// The transport is shared, and stays the caller's to close.
  package init(
    _ configuration: KinveyConfiguration, _ transport: Transport,
    session: @escaping KinveySession,
    memory: (_ host: String) -> BackendMemory = { _ in .none },
    debug: @escaping @Sendable (() -> String) -> Void = { _ in }
  ) throws(StoreError) {
    self.configuration = configuration
    self.endpoint = try KinveyEndpoint(configuration)
    self.transport = transport
    extensions = BackendExtensions(memory(endpoint.host))
    deviceInfo = KinveyHeaders.deviceInfo(configuration)
    self.session = session
    self.debug = debug
  }

  // MARK: Credentials

  /// The credentials of a read: the user's if there is one, else the application's.
  func userOrAppCredentials() throws(StoreError) -> KinveyCredentials {
    if let token = try session() { return .session(token: token) }
    return masterCredentials ?? appCredentials
  }

  /// The credentials of what needs a user: its own, or else the master secret; fails with `noUser` before anything is sent.
  func userCredentials() throws(StoreError) -> KinveyCredentials {
    if let token = try session() { return .session(token: token) }
    guard let masterCredentials else { throw StoreError(.noUser, "No user is logged in.") }
    return masterCredentials
  }

  var appCredentials: KinveyCredentials {
    .basic(user: configuration.appKey, secret: configuration.appSecret)
  }

  private var masterCredentials: KinveyCredentials? {
    configuration.masterSecret.map { .basic(user: configuration.appKey, secret: $0) }
  }

  // MARK: Requests

  func headers(_ credentials: KinveyCredentials, _ call: Call) throws(StoreError) -> KinveyHeaders {
    try KinveyHeaders(configuration, deviceInfo: deviceInfo, credentials: credentials, call)
  }

  func request(
    _ method: String, _ url: String, headers: KinveyHeaders, body: HTTPBody? = nil,
    for answer: AnswerKind = .entities
  ) -> HTTPRequest {
    HTTPRequest(
      method, url, headers: headers.request(hasBody: body != nil), body: body,
      maxBytes: configuration.maxBytes(of: answer))
  }

  /// Throws unless an answer that claims success comes from the backend, as far as its headers tell.
  func check(_ head: HTTPHead) throws(StoreError) {
    guard extensions.isForeign(head) else { return }
    throw KinveyErrors.unusable(
      head,
      "The answer does not come from the backend: it lacks the headers that the backend's answers have."
    )
  }

  /// Throws `.unsupported` if the answer to a query with an order by language shows that another server has answered than ours, or
  /// one with other weights.
  func checkOrder(of head: HTTPHead) throws(StoreError) {
    guard extensions.refutesOrder(head) else { return }
    var error = StoreError(.unsupported, "The backend has another order by language, or none.")
    error.answer = StoreError.ServerAnswer(status: head.status)
    throw error
  }

  /// Sends one request and returns its answer, which has a status of success and is no larger than its kind allows.
  /// Whether it is the backend's shows in its form: see `Provenance`. `isCollated`: the request has an order by language.
  func exchange(
    _ method: String, _ url: String, body: HTTPBody? = nil, as credentials: KinveyCredentials,
    if condition: RemoteCondition = .none, for answer: AnswerKind = .short,
    isCollated: Bool = false, call: Call
  ) throws(StoreError) -> HTTPResponse {
    let headers = try headers(credentials, call)
    let request = request(method, url, headers: headers, body: body, for: answer).with(condition)
    let response = try transport.exchange(request, for: call)
    extensions.observe(response.head)
    if isCollated { try checkOrder(of: response.head) }
    guard response.head.isSuccess else {
      throw KinveyErrors.error(response.head, response.body, hiding: headers.secrets)
    }
    try check(response.head)
    return response
  }
}
