internal import CMicrohttpd
internal import Glibc
internal import KVBase
package import KVServerCore
internal import Synchronization

/// HTTP over libmicrohttpd: a few epoll threads carry all connections, the handler answers.
///
/// Safe from any thread.
///
/// `@unchecked Sendable`: the pointers are set before the first connection comes and cleared after the
/// last one has gone.
package final class HTTPServer: @unchecked Sendable {
  let limits: HTTPLimits
  /// Makes the pieces of streamed bodies.
  let pool: WorkerPool
  let handler: any RequestHandler
  let observer: @Sendable (RequestRecord) -> Void
  private let log: @Sendable (String) -> Void
  private let peers: PeerTable
  let proxies: TrustedProxies
  let crossOrigin: CrossOriginPolicy
  /// What the bodies of all requests may take.
  let bodyMemory: BodyMemory
  private let requests = Monitor(Requests())
  private let stopping = Atomic<Bool>(false)
  private let cuttingOff = Atomic<Bool>(false)
  private var daemon: OpaquePointer?
  /// Nil: the library takes the connections itself.
  private var listener: ProxiedListener?
  private let options = UnsafeMutablePointer<kv_mhd_options>.allocate(capacity: 1)

  package init(
    limits: HTTPLimits, proxies: TrustedProxies = TrustedProxies(),
    crossOrigin: CrossOriginPolicy = CrossOriginPolicy(), pool: WorkerPool,
    handler: any RequestHandler,
    observer: @escaping @Sendable (RequestRecord) -> Void,
    log: @escaping @Sendable (String) -> Void
  ) {
    self.limits = limits
    self.proxies = proxies
    self.crossOrigin = crossOrigin
    self.pool = pool
    self.handler = handler
    self.observer = observer
    self.log = log
    peers = PeerTable(lingerBytes: limits.bodyBytes)
    bodyMemory = BodyMemory(limits)
    options.initialize(to: kv_mhd_options())
  }

  deinit {
    peers.stop()
    free(UnsafeMutablePointer(mutating: options.pointee.priority))
    free(UnsafeMutablePointer(mutating: options.pointee.client_authorities))
    options.deinitialize(count: 1)
    options.deallocate()
  }

  private var connectionsPerAddress: Int {
    limits.connectionsPerAddress ?? (proxies.isEmpty ? max(1, limits.connections / 4) : 0)
  }

  /// Whether all connections are taken but those that are kept for the administrator.
  var isFull: Bool { peers.count > limits.connections }

  var isStopping: Bool { stopping.load(ordering: .relaxed) }
  /// Whether the work on the requests that are left has to end.
  var isCuttingOff: Bool { cuttingOff.load(ordering: .relaxed) }

  /// Begins to serve on a listening socket, which it takes over. False if the library refuses; why is
  /// in the log. `tls` nil: plain HTTP. `isProxied`: connections of trusted proxies begin with a header of the PROXY
  /// protocol.
  package func start(
    on socket: Int32, threads: Int, tls: TLSIdentities?, isProxied: Bool = false
  ) -> Bool {
    peers.show(tls)
    options.pointee = kv_mhd_options(
      listen_socket: isProxied ? -1 : socket, threads: UInt32(clamping: threads),
      connections: UInt32(clamping: limits.connections + HTTPLimits.spareConnections),
      connections_per_address: UInt32(clamping: connectionsPerAddress),
      idle_seconds: UInt32(clamping: limits.requestSeconds), connection_memory: limits.headerBytes,
      certificate: tls == nil ? nil : certificateWanted,
      priority: tls.flatMap { UnsafePointer(strdup($0.rules.priority)) },
      client_authorities: tls?.rules.clientAuthorities.flatMap { UnsafePointer(strdup($0)) },
      context: Unmanaged.passUnretained(self).toOpaque(), handle: accessHandler,
      start: requestStarted, complete: requestCompleted, connection: connectionChanged,
      log: { context, message in
        guard let context, let message else { return }
        HTTPServer.at(context).logged(String(cString: message))
      })
    daemon = kv_mhd_start(options)
    guard isProxied, daemon != nil else { return daemon != nil }
    listener = ProxiedListener(socket, proxies) { [unowned self] connection, address, length in
      if let daemon { MHD_add_connection(daemon, connection, address, length) }
    }
    return listener != nil
  }

  /// How many connections are open, how many requests are worked on or wait, and what their bodies take.
  package var status: (connections: Int, requests: Int, bodyMemory: Int) {
    (peers.count, requests.withLock { $0.active }, bodyMemory.reserved)
  }

  /// Refuses new requests, lets running ones end, cuts off the rest soon enough for everything to be closed in
  /// about so many seconds, the pool included. Afterwards the handler is not called any more.
  ///
  /// Connections are taken until the end, and told 503: `MHD_quiesce_daemon` would close the door at once,
  /// but in libmicrohttpd 0.9.75 it races with the event threads for taking the listening socket out of
  /// their epoll sets, and the second of the two ends the process.
  package func stop(graceSeconds: Double) {
    guard let daemon, !stopping.exchange(true, ordering: .relaxed) else { return }
    let end = Deadline.after(seconds: max(0, graceSeconds - Self.cutOffSeconds))
    _ = requests.wait(until: end) { $0.active == 0 ? true : nil }
    cuttingOff.store(true, ordering: .relaxed)
    refuseTheRest()
    pool.close()
    listener?.stop()
    MHD_stop_daemon(daemon)
    self.daemon = nil
    peers.stop()
  }

  /// How long it may take to end work that is cut off.
  private static let cutOffSeconds = 2.0

  /// Answers the suspended requests, and those that are about to be: a connection must not be
  /// suspended when the library ends.
  private func refuseTheRest() {
    for _ in 0..<20 {
      for exchange in requests.withLock({ Array($0.suspended.values) }) {
        exchange.send(handler.refuse(.stopping, requestId: exchange.request?.id ?? ""))
      }
      let isDone = requests.wait(until: .after(seconds: 0.05)) { $0.active == 0 ? true : nil }
      if isDone != nil { return }
    }
  }

  // MARK: For exchanges

  private struct Requests {
    /// Handed to the handler and not completed.
    var active = 0
    var suspended: [ObjectIdentifier: HTTPExchange] = [:]
  }

  func began(_ exchange: HTTPExchange) { requests.withLock { $0.active += 1 } }

  func suspended(_ exchange: HTTPExchange) {
    requests.withLock { $0.suspended[ObjectIdentifier(exchange)] = exchange }
  }

  func resumed(_ exchange: HTTPExchange) {
    requests.withLock { _ = $0.suspended.removeValue(forKey: ObjectIdentifier(exchange)) }
  }

  func ended(_ exchange: HTTPExchange) {
    requests.withLock { $0.active -= 1 }
    // Asked afterwards: one that begins to stop meanwhile either sees the lower number or is woken.
    if isStopping { requests.withLockNotifyingAll { _ in } }
  }

  // MARK: For the library

  fileprivate func opened(_ connection: OpaquePointer) -> Peer {
    let peer = peers.open(connection)
    peer.isSpare = isFull
    peer.mustAct(within: requestSeconds(of: peer))
    return peer
  }

  /// How long the other side may take for its next request.
  func requestSeconds(of peer: Peer) -> Int {
    peer.isSpare ? min(HTTPLimits.spareSeconds, limits.requestSeconds) : limits.requestSeconds
  }

  fileprivate func closed(_ peer: Peer) { peers.close(peer) }

  fileprivate func logged(_ message: String) { log(message) }

  fileprivate static func at(_ context: UnsafeMutableRawPointer) -> HTTPServer {
    Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
  }
}

// The functions that libmicrohttpd calls, each on the event thread of the connection. `context` is the
// server, a request's own pointer its exchange, a connection's own pointer its peer.

private func requestStarted(
  _ context: UnsafeMutableRawPointer?, _ target: UnsafePointer<CChar>?, connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
  guard let context, let target, let connection else { return nil }
  let exchange = HTTPExchange(connection, target: target, server: HTTPServer.at(context))
  return Unmanaged.passRetained(exchange).toOpaque()
}

private func accessHandler(
  _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, url: UnsafePointer<CChar>?,
  method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?,
  piece: UnsafePointer<CChar>?, size: UnsafeMutablePointer<Int>?,
  own: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
  guard let pointer = own?.pointee, let method, let version, let size else { return .NO }
  let exchange = Unmanaged<HTTPExchange>.fromOpaque(pointer).takeUnretainedValue()
  if exchange.request == nil { return exchange.begin(method: method, version: version) }
  if exchange.awaitsHeadCheck { return exchange.goOn() }
  if size.pointee == 0 { return exchange.proceed() }
  let (result, taken) = exchange.receive(
    UnsafeRawBufferPointer(start: piece, count: size.pointee))
  size.pointee -= taken
  return result
}

private func requestCompleted(
  _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
  own: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, why: MHD_RequestTerminationCode
) {
  guard let pointer = own?.pointee else { return }
  own?.pointee = nil
  Unmanaged<HTTPExchange>.fromOpaque(pointer).takeRetainedValue().complete()
}

private func certificateWanted(
  _ session: gnutls_session_t?, authorities: UnsafePointer<gnutls_datum_t>?,
  authorityCount: Int32, algorithms: UnsafePointer<gnutls_pk_algorithm_t>?,
  algorithmCount: Int32,
  chain: UnsafeMutablePointer<UnsafeMutablePointer<gnutls_pcert_st>?>?,
  count: UnsafeMutablePointer<UInt32>?, key: UnsafeMutablePointer<gnutls_privkey_t?>?
) -> Int32 {
  guard let session, let pointer = kv_mhd_peer_of_session(session),
    let identities = Unmanaged<Peer>.fromOpaque(pointer).takeUnretainedValue().identities,
    let identity = identities.current
  else { return -1 }
  if identities.rules.clientAuthorities != nil { kv_mhd_require_client_certificate(session) }
  chain?.pointee = identity.chain
  count?.pointee = identity.count
  key?.pointee = identity.key
  return 0
}

private func connectionChanged(
  _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
  own: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, what: MHD_ConnectionNotificationCode
) {
  guard let context, let connection, let own else { return }
  let server = HTTPServer.at(context)
  if what == .CONNECTION_NOTIFY_STARTED {
    own.pointee = Unmanaged.passRetained(server.opened(connection)).toOpaque()
  } else if let pointer = own.pointee {
    own.pointee = nil
    server.closed(Unmanaged<Peer>.fromOpaque(pointer).takeRetainedValue())
  }
}
