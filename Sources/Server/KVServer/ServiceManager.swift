internal import Glibc
internal import KVBase

/// Tells systemd how the server is: the protocol of sd_notify(3), datagrams to a socket that the environment names. Does
/// nothing where the environment does not ask for it.
struct ServiceManager: Sendable {
  private let path: String?

  init() { path = getenv("NOTIFY_SOCKET").map { String(cString: $0) } }

  /// The server listens.
  func ready() { send("READY=1") }

  /// The server loads its settings again; `ready` says that it has.
  func reloading() { send("RELOADING=1\nMONOTONIC_USEC=\(monotonicNanoseconds() / 1000)") }

  /// The server ends.
  func stopping() { send("STOPPING=1") }

  /// Tells the watchdog, twice as often as it wants, that the server works: `isAlive` may wait for as long as it takes to
  /// find out. Ends with the process.
  func watch(_ isAlive: @escaping @Sendable () -> Bool) {
    guard path != nil, let seconds = Self.watchdogSeconds else { return }
    let isOver = Monitor(false)
    _ = Worker("kv-watchdog") {
      while isOver.wait(until: .after(seconds: seconds / 2), for: { $0 ? true : nil }) == nil {
        if isAlive() { send("WATCHDOG=1") }
      }
    }
  }

  /// Nil: there is no watchdog, or it is for another process.
  private static var watchdogSeconds: Double? {
    guard let text = getenv("WATCHDOG_USEC"), let micros = Double(String(cString: text)),
      micros > 0
    else { return nil }
    if let process = getenv("WATCHDOG_PID"), Int32(String(cString: process)) != getpid() {
      return nil
    }
    return micros / 1e6
  }

  private func send(_ text: String) {
    guard let path, var address = Self.address(path) else { return }
    let socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { return }
    defer { close(socket) }
    let size = MemoryLayout<sa_family_t>.size + path.utf8.count
    let bytes = Array(text.utf8)
    withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = sendto(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, socklen_t(size))
      }
    }
  }

  /// `@` stands for the zero of an abstract address.
  private static func address(_ path: String) -> sockaddr_un? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var name = Array(path.utf8)
    guard name.count > 1, name.count < MemoryLayout.size(ofValue: address.sun_path) else {
      return nil
    }
    if name[0] == UInt8(ascii: "@") { name[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    return address
  }
}
