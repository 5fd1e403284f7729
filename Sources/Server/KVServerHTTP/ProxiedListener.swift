internal import CMicrohttpd
internal import Glibc
internal import KVBase
internal import KVServerCore

/// Takes the connections of a listening socket, and reads the header of the PROXY protocol from those of trusted proxies before
/// it hands them on. Others are handed on as they are. Safe from any thread.
///
/// A trusted proxy must send the header: to guess whether there is one would let its clients forge it.
final class ProxiedListener: Sendable {
  /// How long a proxy may take for the header.
  private static let nanoseconds: Int64 = 5_000_000_000
  /// More connections than this wait in the socket.
  private static let maxPending = 4096

  /// A connection whose header is not complete.
  private struct Pending {
    let socket: Int32
    let peer: sockaddr_storage
    let end: Int64
    var header: [UInt8] = []
  }

  private let isClosed = Monitor(false)
  private let wakeUp: EventDescriptor
  private let worker: Worker?

  /// Nil: the system has no descriptor or thread for it. Closes `socket` at its end. `accept` takes over a connection with the
  /// address that it comes from.
  init?(
    _ socket: Int32, _ proxies: TrustedProxies,
    accept: @escaping @Sendable (Int32, UnsafePointer<sockaddr>, socklen_t) -> Void
  ) {
    guard let wakeUp = EventDescriptor() else { return nil }
    self.wakeUp = wakeUp
    let isClosed = isClosed
    worker = Worker("kv-accept") {
      var loop = Loop(socket: socket, proxies: proxies, wakeUp: wakeUp, accept: accept)
      while !isClosed.withLock({ $0 }) { loop.turn() }
      loop.end()
    }
    if worker == nil { return nil }
  }

  /// Takes no more connections, and ends the thread.
  func stop() {
    isClosed.withLock { $0 = true }
    wakeUp.raise()
    worker?.join()
  }

  /// What the thread does.
  private struct Loop {
    let socket: Int32
    let proxies: TrustedProxies
    let wakeUp: EventDescriptor
    let accept: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Void
    private var pending: [Pending] = []

    init(
      socket: Int32, proxies: TrustedProxies, wakeUp: EventDescriptor,
      accept: @escaping (Int32, UnsafePointer<sockaddr>, socklen_t) -> Void
    ) {
      self.socket = socket
      self.proxies = proxies
      self.wakeUp = wakeUp
      self.accept = accept
    }

    /// Waits until something happens, and deals with it.
    mutating func turn() {
      let input = Int16(POLLIN)
      var list = pending.map { pollfd(fd: $0.socket, events: input, revents: 0) }
      list.append(pollfd(fd: wakeUp.number, events: input, revents: 0))
      // One that is negative is not looked at.
      list.append(
        pollfd(
          fd: pending.count < ProxiedListener.maxPending ? socket : -1, events: input, revents: 0))
      poll(&list, nfds_t(list.count), pending.isEmpty ? -1 : 500)
      wakeUp.lower()
      let now = monotonicNanoseconds()
      let ready = list.prefix(pending.count).map { $0.revents != 0 }
      pending = zip(pending, ready).compactMap { connection, isReady in
        if isReady { return read(connection) }
        if now < connection.end { return connection }
        close(connection.socket)
        return nil
      }
      if list.last?.revents != 0 { take(now) }
    }

    func end() {
      for connection in pending { close(connection.socket) }
      close(socket)
    }

    private mutating func take(_ now: Int64) {
      while pending.count < ProxiedListener.maxPending {
        var peer = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let taken = withUnsafeMutablePointer(to: &peer) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            Glibc.accept(socket, $0, &length)
          }
        }
        guard taken >= 0 else {
          // Without descriptors the connection stays where it is; a moment later there may be one.
          if errno == EMFILE || errno == ENFILE { usleep(50_000) }
          return
        }
        _ = fcntl(taken, F_SETFD, FD_CLOEXEC)
        _ = fcntl(taken, F_SETFL, O_NONBLOCK)
        if proxies.isTrusted(Self.text(of: peer)) {
          pending.append(
            Pending(socket: taken, peer: peer, end: now &+ ProxiedListener.nanoseconds))
        } else {
          handOn(taken, peer)
        }
      }
    }

    /// Reads on. Nil: it was handed on, or closed.
    private func read(_ connection: Pending) -> Pending? {
      var connection = connection
      var bytes = [UInt8](repeating: 0, count: ProxyHeader.maxBytes)
      let count = recv(
        connection.socket, &bytes, bytes.count, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
      if count < 0, errno == EAGAIN || errno == EINTR { return connection }
      guard count > 0 else {
        close(connection.socket)
        return nil
      }
      let all = connection.header + bytes.prefix(count)
      switch ProxyHeader.read(all) {
      case .malformed: close(connection.socket)
      case .incomplete:
        connection.header = all
        drop(count, from: connection.socket)
        return connection
      case .complete(let header):
        drop(header.count - connection.header.count, from: connection.socket)
        handOn(connection.socket, header.source.map(Self.address) ?? connection.peer)
      }
      return nil
    }

    /// Takes bytes that were looked at already.
    private func drop(_ count: Int, from socket: Int32) {
      var bytes = [UInt8](repeating: 0, count: max(1, count))
      if count > 0 { _ = recv(socket, &bytes, count, Int32(MSG_DONTWAIT)) }
    }

    private func handOn(_ connection: Int32, _ address: sockaddr_storage) {
      let isV6 = address.ss_family == sa_family_t(AF_INET6)
      let size = isV6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
      withUnsafePointer(to: address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          accept(connection, $0, socklen_t(size))
        }
      }
    }

    private static func address(_ source: ProxyHeader.Source) -> sockaddr_storage {
      var storage = sockaddr_storage()
      let bytes = source.address.bytes
      let isV6 = bytes.count == 16
      storage.ss_family = sa_family_t(isV6 ? AF_INET6 : AF_INET)
      withUnsafeMutableBytes(of: &storage) { raw in
        raw[2] = UInt8(source.port >> 8)
        raw[3] = UInt8(source.port & 0xFF)
        // Of IPv6, the label of the flow stands between.
        UnsafeMutableRawBufferPointer(rebasing: raw[(isV6 ? 8 : 4)...]).copyBytes(from: bytes)
      }
      return storage
    }

    private static func text(of address: sockaddr_storage) -> String {
      let isV6 = address.ss_family == sa_family_t(AF_INET6)
      return withUnsafeBytes(of: address) { raw in
        IPAddress(bytes: isV6 ? Array(raw[8..<24])[...] : Array(raw[4..<8])[...])?.description
          ?? "-"
      }
    }
  }
}
