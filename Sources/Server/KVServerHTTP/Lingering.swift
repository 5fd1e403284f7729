internal import Glibc
internal import KVBase
/// Reads away what clients still send whose requests were refused before they had arrived.
///
/// A socket that is closed with input unread resets the connection, and the client's system then throws the answer
/// away that it has not read yet. So the other end is told that nothing more will come, and what it sends is thrown
/// away here, up to a number of bytes and for a few seconds.
final class Lingering: Sendable {
  private static let nanoseconds: Int64 = 5_000_000_000
  /// More connections than this are closed at once.
  private static let maxSockets = 256

  private struct Connection {
    let socket: Int32
    let end: Int64
    var bytesLeft: Int
  }

  private struct State {
    var arrived: [Connection] = []
    var count = 0
    var isClosed = false
  }

  private let state = Monitor(State())
  private let wakeUp = EventDescriptor()
  private let maxBytes: Int
  private let worker: Worker?

  /// `maxBytes`: how much of one connection is read.
  init(maxBytes: Int) {
    self.maxBytes = maxBytes
    guard let wakeUp else {
      worker = nil
      return
    }
    worker = Worker("kv-lingering") { [state] in Self.run(state, wakeUp) }
  }

  /// Adds a connection whose owner is about to close `socket`.
  func add(_ socket: Int32) {
    guard worker != nil else { return }
    let copy = fcntl(socket, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { return }
    shutdown(copy, Int32(SHUT_WR))
    let connection = Connection(
      socket: copy, end: monotonicNanoseconds() &+ Self.nanoseconds, bytesLeft: maxBytes)
    let isAdded = state.withLock { state in
      guard !state.isClosed, state.count < Self.maxSockets else { return false }
      state.count += 1
      state.arrived.append(connection)
      return true
    }
    if isAdded { wakeUp?.raise() } else { close(copy) }
  }

  /// Closes all connections and ends the thread.
  func stop() {
    state.withLock { $0.isClosed = true }
    wakeUp?.raise()
    worker?.join()
  }

  // MARK: On the thread

  private static func run(_ state: Monitor<State>, _ wakeUp: EventDescriptor) {
    var connections: [Connection] = []
    var buffer = [UInt8](repeating: 0, count: 256 << 10)
    while !state.withLock({ $0.isClosed }) {
      connections += state.withLock { state in
        defer { state.arrived = [] }
        return state.arrived
      }
      let ready = wait(for: connections, wakeUp)
      let now = monotonicNanoseconds()
      let before = connections.count
      connections = zip(connections, ready).compactMap { connection, isReady in
        var connection = connection
        if now < connection.end, !isReady || read(&connection, &buffer) { return connection }
        close(connection.socket)
        return nil
      }
      state.withLock { $0.count -= before - connections.count }
    }
    for connection in connections + state.withLock({ $0.arrived }) { close(connection.socket) }
  }

  /// Waits until something happens; returns which of the connections have input or have ended.
  private static func wait(for connections: [Connection], _ wakeUp: EventDescriptor) -> [Bool] {
    let input = Int16(POLLIN)
    var list = connections.map { pollfd(fd: $0.socket, events: input, revents: 0) }
    list.append(pollfd(fd: wakeUp.number, events: input, revents: 0))
    poll(&list, nfds_t(list.count), connections.isEmpty ? -1 : 500)
    wakeUp.lower()
    return list.dropLast().map { $0.revents != 0 }
  }

  /// Throws away what has come; false when the connection is at its end, or has sent too much.
  private static func read(_ connection: inout Connection, _ buffer: inout [UInt8]) -> Bool {
    let count = recv(connection.socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
    if count < 0 { return errno == EAGAIN || errno == EINTR }
    connection.bytesLeft -= count
    return count > 0 && connection.bytesLeft > 0
  }
}
