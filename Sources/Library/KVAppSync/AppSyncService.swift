internal import KVHTTP
internal import KVJSON
package import KVSync
internal import KVTransport

/// One API: sends operations, and turns failures into errors. Safe from any thread.
package final class AppSyncService: Sendable {
  let configuration: AppSyncConfiguration
  let transport: any AppSyncTransport
  let authorizer: AppSyncAuthorizer

  /// The transport is shared, and stays the caller's to close.
  package init(_ configuration: AppSyncConfiguration, _ transport: any AppSyncTransport) {
    self.configuration = configuration
    self.transport = transport
    authorizer = AppSyncAuthorizer(configuration)
  }

  /// Sets the provider of tokens; nil removes it.
  package func setTokenProvider(_ provide: TokenProvider?) { authorizer.setTokenProvider(provide) }

  /// The data of an operation of which nothing may fail. Throws the first of its errors. `isMutation`: it is sent once,
  /// whatever happens to the connection.
  func data(
    _ document: String, _ variables: JSONObject, in modes: [AuthorizationMode],
    isMutation: Bool = false, call: Call
  ) throws(StoreError) -> JSONObject {
    let answer = try exchange(document, variables, in: modes, isMutation: isMutation, call: call)
    if let error = answer.errors.first { throw AppSyncErrors.error(error) }
    return try answer.data()
  }

  /// Tries the modes one after the other, until one is allowed to.
  func exchange(
    _ document: String, _ variables: JSONObject, in modes: [AuthorizationMode],
    isMutation: Bool = false, call: Call
  ) throws(StoreError) -> AppSyncAnswer {
    let body: JSONValue = ["query": .string(document), "variables": .object(variables)]
    let bytes = body.bytes
    for mode in modes.dropLast() {
      do throws(StoreError) {
        let answer = try exchange(bytes, as: mode, isMutation: isMutation, call: call)
        if answer.denial == nil { return answer }
      } catch {
        guard error.isDenial else { throw error }
      }
    }
    return try exchange(
      bytes, as: modes.last ?? configuration.usualMode, isMutation: isMutation, call: call)
  }

  private func exchange(
    _ body: [UInt8], as mode: AuthorizationMode, isMutation: Bool, call: Call
  ) throws(StoreError) -> AppSyncAnswer {
    try authorizer.renewing(mode, call) { () throws(StoreError) in
      try authorizer.headers(for: body, as: mode, call)
    } sending: { (allowance) throws(StoreError) in
      let request = HTTPRequest(
        "POST", configuration.endpoint, headers: allowance.headers,
        body: isMutation ? .once(body) : .bytes(body), maxBytes: configuration.maxAnswerBytes)
      let response = try transport.exchange(request, for: call)
      guard response.head.isSuccess else {
        throw AppSyncErrors.error(response.head, response.body)
      }
      return try AppSyncAnswer(response.body)
    }
  }
}

extension AppSyncAnswer {
  /// Why nothing of it was allowed; nil: something was, or it failed otherwise.
  fileprivate var denial: StoreError? {
    guard isEmpty else { return nil }
    return errors.lazy.map(AppSyncErrors.error).first { $0.isDenial }
  }
}

extension StoreError {
  /// Whether the backend says that this caller may not do this, or no user is signed in: another mode may be allowed to.
  /// A missing token of the application does not count: a signed-in user must not read as another one.
  fileprivate var isDenial: Bool {
    kind == .noUser || answer != nil && (kind == .unauthorized || kind == .forbidden)
  }
}
