internal import KVBase
internal import KVJSON
internal import KVServerCore

/// What a provider says of itself: its addresses (OpenID Connect Discovery 1.0) and its keys. Safe from any thread.
///
/// Both are fetched together, by one thread at a time: when they are first needed, after an hour, and when a token has a key
/// that is unknown, but not more often than every 30 seconds, whatever tokens come. If that fails, the former ones count
/// for a day.
final class ProviderDocuments: Sendable {
  struct Addresses: Sendable {
    var login: String
    var tokens: String
    /// Whether the secret stands in the form: the provider does not take it in a header.
    var takesSecretInForm: Bool
  }

  private struct Known: Sendable {
    var addresses: Addresses
    var keys: [JSONWebKey]
    var time: Int64
  }

  private struct State {
    var known: Known?
    var isFetching = false
    /// How many threads wait for the one that fetches.
    var waiting = 0
    /// When the last fetch began, and how it failed.
    var attempt: Int64?
    var failure: IdentityFailure?
  }

  private static let maxKeys = 100
  private static let maxWaiting = 4
  private static let freshSeconds: Int64 = 3600
  private static let usableSeconds: Int64 = 86_400
  private static let pauseSeconds: Int64 = 30
  /// After a failure nothing is asked for so long.
  private static let failedSeconds: Int64 = 2

  private let issuer: String
  private let client: ProviderClient
  /// Seconds on a clock that is never set.
  private let now: @Sendable () -> Int64
  /// The addresses of a host.
  private let resolve: @Sendable (String) -> [IPAddress]
  private let state = Monitor(State())

  init(
    issuer: String, client: ProviderClient, now: @escaping @Sendable () -> Int64,
    resolve: @escaping @Sendable (String) -> [IPAddress] = IPAddress.all
  ) {
    self.resolve = resolve
    self.issuer = issuer
    self.client = client
    self.now = now
  }

  func addresses() throws(IdentityFailure) -> Addresses { try known().addresses }

  /// The keys that may have signed a token.
  func keys(for token: SignedToken) throws(IdentityFailure) -> [JSONWebKey] {
    let known = try known()
    let keys = Self.keys(known, for: token)
    guard keys.isEmpty else { return keys }
    guard now() - known.time >= Self.pauseSeconds else { return [] }
    return Self.keys(try fetched(unless: { $0.time > known.time }), for: token)
  }

  private static func keys(_ known: Known, for token: SignedToken) -> [JSONWebKey] {
    let keys = known.keys.filter { $0.algorithm == token.algorithm }
    guard let id = token.keyId else { return keys.count == 1 ? keys : [] }
    return keys.filter { $0.id?.hasSameBytes(as: id) == true }
  }

  private func known() throws(IdentityFailure) -> Known {
    let now = now()
    return try fetched { now - $0.time < Self.freshSeconds }
  }

  /// What is known if that is good enough, or what is fetched now; if that fails, what was known before.
  private func fetched(
    unless isEnough: (Known) -> Bool
  ) throws(IdentityFailure) -> Known {
    let now = now()
    if let known = decision(now, isEnough) { return try known.get() }
    let fetched: Result<Known, IdentityFailure>
    do throws(IdentityFailure) { fetched = .success(try fetch(now)) } catch {
      fetched = .failure(error)
    }
    let result = state.withLockNotifyingAll { state -> Result<Known, IdentityFailure> in
      state.isFetching = false
      switch fetched {
      case .success(let known): (state.known, state.failure) = (known, nil)
      case .failure(let failure):
        state.failure = failure
        return Self.usable(state.known, now, or: failure)
      }
      return fetched
    }
    return try result.get()
  }

  /// What counts without a fetch; nil: the calling thread has to fetch. Waits while another one does, which may bring what is
  /// wanted; few may wait, so that a provider that does not answer occupies few threads.
  private func decision(
    _ now: Int64, _ isEnough: (Known) -> Bool
  ) -> Result<Known, IdentityFailure>? {
    var isWaiting = false
    let decision = state.wait { state -> Result<Known, IdentityFailure>?? in
      if let known = state.known, isEnough(known) { return .success(known) }
      if state.isFetching {
        if isWaiting { return nil }
        guard state.waiting < Self.maxWaiting else {
          return .failure(.unavailable("the provider is being asked for its keys"))
        }
        state.waiting += 1
        isWaiting = true
        return nil
      }
      if let attempt = state.attempt, let failure = state.failure,
        now - attempt < Self.failedSeconds
      {
        return Self.usable(state.known, now, or: failure)
      }
      state.isFetching = true
      state.attempt = now
      return .some(nil)
    }
    if isWaiting { state.withLock { $0.waiting -= 1 } }
    return decision ?? nil
  }

  private static func usable(
    _ known: Known?, _ now: Int64, or failure: IdentityFailure
  ) -> Result<Known, IdentityFailure> {
    guard let known, now - known.time < usableSeconds else { return .failure(failure) }
    return .success(known)
  }

  private func fetch(_ now: Int64) throws(IdentityFailure) -> Known {
    let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
    let discovery = try client.document(base + "/.well-known/openid-configuration")
    guard discovery["issuer"]?.stringValue?.hasSameBytes(as: issuer) == true else {
      throw .unavailable("the provider calls itself another issuer than \(issuer)")
    }
    let keys = try client.document(try address("jwks_uri", discovery))["keys"]?.arrayValue
    guard let keys, keys.count <= Self.maxKeys else {
      throw .unavailable("the provider's keys are none, or more than \(Self.maxKeys)")
    }
    let methods = discovery["token_endpoint_auth_methods_supported"]?.arrayValue ?? []
    let addresses = Addresses(
      login: try address("authorization_endpoint", discovery),
      tokens: try address("token_endpoint", discovery),
      takesSecretInForm: methods.contains("client_secret_post")
        && !methods.contains("client_secret_basic"))
    return Known(addresses: addresses, keys: keys.compactMap { JSONWebKey($0) }, time: now)
  }

  /// An address of the provider's. It keeps the scheme of the issuer, and leads into a private network only if the issuer's own
  /// does: a provider must not have this server ask its neighbours.
  private func address(
    _ name: String, _ discovery: JSONValue
  ) throws(IdentityFailure) -> String {
    let scheme = issuer.prefix { $0 != ":" }
    guard let address = discovery[name]?.stringValue, SettingsReader.isPrivate(address),
      address.hasPrefix(scheme + "://")
    else {
      throw .unavailable("the provider has no \(name) with \(scheme)://")
    }
    if leadsInside(address), !leadsInside(issuer) {
      throw .unavailable("the provider's \(name) is an address of a private network")
    }
    return address
  }

  private func leadsInside(_ address: String) -> Bool {
    SettingsReader.host(of: address).map { resolve($0).contains(where: \.isPrivate) } ?? true
  }
}
