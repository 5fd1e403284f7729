internal import KVBase
internal import KVJSON
internal import KVSync

/// The tokens of one provider: what there is, and one question at a time to the application for another. Safe from any
/// thread.
///
///     token ──▶ there is one ──▶ about to expire? ── no ──▶ give it
///                    │ no              │ yes
///                    ▼                 ▼
///               one thread asks, all others wait for its answer
final class TokenSource: Sendable {
  private struct State {
    var token: String?
    /// When the token ends, in milliseconds since 1970, if that is to be looked at.
    var end: Int64?
    var provide: TokenProvider?
    /// Counts questions, and those that were answered.
    var asked = 0
    var answered = 0
    /// Why the last one gave no token.
    var failure: StoreError?
  }

  /// Milliseconds before its end at which a token is about to expire.
  private static let margin: Int64 = 60_000

  private let provider: String
  private let now: @Sendable () -> Int64
  private let state: Monitor<State>

  /// `now`: milliseconds since 1970.
  init(
    provider: String, token: String?,
    now: @escaping @Sendable () -> Int64 = { Timestamp.now().milliseconds }
  ) {
    self.provider = provider
    self.now = now
    state = Monitor(State(token: token, end: token.flatMap(Self.end)))
  }

  func setProvider(_ provide: TokenProvider?) { state.withLock { $0.provide = provide } }

  /// The token for a request. Throws `.unauthorized` if there is none and no provider, and what the provider throws.
  func token(_ call: Call) throws(StoreError) -> String {
    let (token, end, canAsk) = state.withLock { ($0.token, $0.end, $0.provide != nil) }
    guard let token else {
      guard canAsk else { throw .noToken("There is no token, and no token provider.") }
      return try asking(former: nil, isRefused: false, call)
    }
    guard canAsk, let end, end - now() < Self.margin else { return token }
    do throws(StoreError) { return try asking(former: token, isRefused: false, call) } catch {
      // It is good as long as it lasts.
      guard now() < end, error.kind != .cancelled else { throw error }
      return token
    }
  }

  /// Another token than one that the backend has refused; nil: there is no provider.
  func replacement(of refused: String, _ call: Call) throws(StoreError) -> String? {
    let (token, canAsk) = state.withLock { ($0.token, $0.provide != nil) }
    if let token, token != refused { return token }
    return canAsk ? try asking(former: refused, isRefused: true, call) : nil
  }

  // MARK: Asking

  /// Waits for the answer to the question that is open, or asks.
  private func asking(
    former: String?, isRefused: Bool, _ call: Call
  ) throws(StoreError) -> String {
    let (number, isMine) = state.withLock { state in
      let isMine = state.asked == state.answered
      if isMine { state.asked += 1 }
      return (state.asked, isMine)
    }
    if isMine {
      ask(TokenRequest(provider: provider, former: former, isRefused: isRefused))
    }
    let answer = try call.wait(on: state, timeout: "The application gave no token in time.") {
      state -> Result<String, StoreError>? in
      guard state.answered >= number else { return nil }
      if let failure = state.failure { return .failure(failure) }
      return state.token.map { .success($0) }
    }
    return try answer.get()
  }

  /// On a thread of its own, so that no call waits longer than it wants to.
  private func ask(_ request: TokenRequest) {
    let provide = state.withLock { $0.provide }
    let thread = Worker("kv-token") { [self] in
      finish(
        Result { () throws(StoreError) in
          guard let provide else { throw .noToken("The token provider was removed.") }
          let token = try provide(request)
          guard !token.isEmpty, !token.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw .noToken("The token provider gave something that is no token.")
          }
          return token
        })
    }
    if thread == nil { finish(.failure(StoreError(.internal, "No thread could be started."))) }
  }

  private func finish(_ answer: Result<String, StoreError>) {
    state.withLockNotifyingAll { state in
      state.answered = state.asked
      switch answer {
      case .success(let token):
        let end = Self.end(of: token)
        state.token = token
        // One that comes this short-lived, or a wrong clock: it is used until it is refused.
        state.end = end.flatMap { $0 - now() < Self.margin ? nil : $0 }
        state.failure = nil
      case .failure(let error): state.failure = error.asNoToken
      }
    }
  }

  // MARK: Tokens

  /// The claims of a JSON Web Token, of which nothing is proved; nil: it is none.
  static func claims(of token: String) -> JSONValue? {
    let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let claims = Base64.decode(url: String(Substring(parts[1])))
    else { return nil }
    return try? JSONValue(parsing: claims)
  }

  /// When a JSON Web Token ends; nil: it does not say, or is none.
  private static func end(of token: String) -> Int64? {
    guard let end = claims(of: token)?["exp"]?.doubleValue, end > 0, end < 1e11
    else { return nil }
    return Int64(end * 1000)
  }
}

extension StoreError {
  fileprivate static func noToken(_ message: String) -> StoreError {
    StoreError(.unauthorized, message).asNoToken
  }

  /// The failure of a token provider, as a request meets it: nothing was sent, and nothing is given up for it.
  fileprivate var asNoToken: StoreError {
    var error = self
    switch kind {
    case .network, .timeout: error.statedClass = .passing
    case .noUser, .unauthorized: error.statedClass = .sessionOver
    default:
      error = StoreError(.unauthorized, "The token provider failed: \(message)")
      error.statedClass = .sessionOver
    }
    error.changedNothing = true
    return error
  }
}
