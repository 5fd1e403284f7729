internal import CMicrohttpd
internal import Glibc
internal import KVBase
internal import Synchronization

/// One connection: who is at the other end, and until when it must have got on.
final class Peer: Sendable {
  let address: String
  /// What the server shows to the other side; nil for plain HTTP.
  let identities: TLSIdentities?
  fileprivate let socket: Int32
  /// On the monotonic clock; 0 for none.
  private let deadline = Atomic<Int64>(0)
  private let lingers = Atomic<Bool>(false)
  private let spare = Atomic<Bool>(false)

  /// Whether it came when all connections but the spare ones were taken.
  var isSpare: Bool {
    get { spare.load(ordering: .relaxed) }
    set { spare.store(newValue, ordering: .relaxed) }
  }

  fileprivate init(address: String, socket: Int32, identities: TLSIdentities?) {
    self.address = address
    self.identities = identities
    self.socket = socket
  }

  /// From now on the connection is cut unless something else is said within `seconds`.
  func mustAct(within seconds: Int) {
    deadline.store(
      monotonicNanoseconds() &+ Int64(clamping: seconds) &* 1_000_000_000, ordering: .relaxed)
  }

  /// The server is at work: the other side has all the time it takes.
  func mayWait() { deadline.store(0, ordering: .relaxed) }

  /// The connection is about to be closed while the other side still sends.
  func mustLinger() { lingers.store(true, ordering: .relaxed) }

  /// What the other side has done to the connection.
  enum End {
    case open
    /// It sends nothing more. Whether it still reads is not known.
    case silent
    /// It has closed or lost the connection.
    case closed
  }

  /// Only while the connection is sure to be open here.
  var end: End {
    // POLLRDHUP, which Glibc's module does not show.
    let silent: Int16 = 0x2000
    var look = pollfd(fd: socket, events: silent, revents: 0)
    guard poll(&look, 1, 0) > 0 else { return .open }
    if look.revents & (Int16(POLLHUP) | Int16(POLLERR)) != 0 { return .closed }
    // With TLS a connection is closed as a whole.
    return identities == nil ? .silent : .closed
  }

  /// Sends the status 100, which every client of HTTP/1.1 skips. One that has closed the connection refuses it, so that the
  /// connection is `closed` after the round trip. Only while nothing else is sent.
  func askIfStillReading() {
    let status = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
    _ = status.withUnsafeBytes {
      Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }
  }

  fileprivate var mustBeDrained: Bool { lingers.load(ordering: .relaxed) }

  fileprivate func isOverdue(at now: Int64) -> Bool {
    let deadline = deadline.load(ordering: .relaxed)
    return deadline != 0 && deadline < now
  }
}

/// The open connections, and a thread that cuts the ones whose deadline has passed.
///
/// libmicrohttpd itself only ends connections on which nothing moves; one byte a second would keep a
/// request alive for ever.
final class PeerTable: Sendable {
  private struct State {
    var peers: [ObjectIdentifier: Peer] = [:]
    var identities: TLSIdentities?
    var isClosed = false
  }

  private let state = Monitor(State())
  private let lingering: Lingering

  /// `lingerBytes`: how much is read of a connection that is closed while the other side still sends.
  init(lingerBytes: Int) {
    lingering = Lingering(maxBytes: lingerBytes)
    let state = self.state
    _ = Worker("kv-deadlines") {
      while state.wait(until: .after(seconds: 0.5), for: { $0.isClosed ? true : nil }) == nil {
        let now = monotonicNanoseconds()
        // The lock keeps a connection from being closed, and its number from being given to another,
        // between the look and the cut.
        state.withLock { state in
          for peer in state.peers.values where peer.isOverdue(at: now) {
            shutdown(peer.socket, Int32(SHUT_RDWR))
          }
        }
      }
    }
  }

  /// Sets the certificate for connections from now on; nil: plain HTTP.
  func show(_ identities: TLSIdentities?) { state.withLock { $0.identities = identities } }

  func open(_ connection: OpaquePointer) -> Peer {
    let (address, socket) = (Self.address(of: connection), kv_mhd_socket(connection))
    return state.withLock { state in
      let peer = Peer(address: address, socket: socket, identities: state.identities)
      state.peers[ObjectIdentifier(peer)] = peer
      return peer
    }
  }

  var count: Int { state.withLock { $0.peers.count } }

  /// The socket is about to be closed.
  func close(_ peer: Peer) {
    if peer.mustBeDrained { lingering.add(peer.socket) }
    state.withLock { _ = $0.peers.removeValue(forKey: ObjectIdentifier(peer)) }
  }

  /// Ends the threads.
  func stop() {
    state.withLockNotifyingAll { $0.isClosed = true }
    lingering.stop()
  }

  private static func address(of connection: OpaquePointer) -> String {
    guard let address = kv_mhd_address(connection) else { return "-" }
    let length =
      address.pointee.sa_family == sa_family_t(AF_INET6)
      ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
    return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(NI_MAXHOST)) { text in
      let status = getnameinfo(
        address, socklen_t(length), text.baseAddress, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
      guard status == 0, let base = text.baseAddress else { return "-" }
      return String(cString: base)
    }
  }
}
