internal import Glibc
internal import KVBase
internal import KVJSON
internal import KVServerCore
internal import KVServerHTTP

/// One line for each request: time, client, method, path, status, bytes, milliseconds, request id.
///
/// Threads that serve never wait for it: a thread of its own writes. When the reader of a pipe or a disk
/// does not keep up, lines are dropped and their number is logged.
final class AccessLog: Sendable {
  enum Format: String, Sendable {
    case text, json

    /// The line that says how many could not be written in time.
    func note(dropped: Int) -> String {
      switch self {
      case .text: "# \(dropped) lines dropped\n"
      case .json: "{\"dropped\":\(dropped)}\n"
      }
    }
  }

  /// How much may wait to be written.
  private static let maxWaiting = 1 << 20

  private struct State {
    var waiting: [UInt8] = []
    var dropped = 0
    var wantsReopening = false
    var isClosed = false
    var isWritten = true
  }

  private let state = Monitor(State())
  private let format: Format
  private let worker: Worker?

  struct Failure: Error {
    var message: String
  }

  /// Appends to a file, made with mode 0600; `-` is standard output.
  init(_ path: String, _ format: Format = .text) throws(Failure) {
    self.format = format
    let descriptor = try Self.open(path)
    let state = self.state
    worker = Worker("kv-access-log") {
      Self.write(state, path, as: format, first: descriptor)
    }
  }

  func add(_ record: RequestRecord) {
    let line = Self.line(record, format)
    state.withLockNotifyingOne { state in
      guard state.waiting.count + line.utf8.count <= Self.maxWaiting else {
        state.dropped += 1
        return
      }
      state.waiting += line.utf8
    }
  }

  /// Closes the file and opens it by its name again, after a rotation has renamed it.
  func reopen() { state.withLockNotifyingAll { $0.wantsReopening = true } }

  /// Writes what waits, and ends. Waits ten seconds at most for a disk or a pipe that takes nothing.
  func close() {
    state.withLockNotifyingAll { $0.isClosed = true }
    _ = state.wait(until: .after(seconds: 10)) { $0.isWritten && $0.waiting.isEmpty ? true : nil }
  }

  static func line(_ record: RequestRecord, _ format: Format = .text) -> String {
    if format == .json { return json(record).text + "\n" }
    let micros = record.nanoseconds / 1000
    let fraction = String(micros % 1000 + 1000).dropFirst()
    return """
      \(record.startedAt) \(record.client) \(visible(record.method)) \(visible(record.path)) \
      \(record.status) \(record.bytes) \(micros / 1000).\(fraction) \(record.requestId)\n
      """
  }

  private static func json(_ record: RequestRecord) -> JSONValue {
    .object([
      "time": .string("\(record.startedAt)"), "client": .string(record.client),
      "method": .string(visible(record.method)), "path": .string(visible(record.path)),
      "route": .string("\(record.route)"), "status": .int(Int64(record.status)),
      "bytes": .int(Int64(record.bytes)),
      "milliseconds": .double(Double(record.nanoseconds / 1000) / 1000),
      "requestId": .string(record.requestId),
    ])
  }

  /// The path without what could break or forge a line, and without names and addresses of people.
  private static func visible(_ path: String) -> String {
    var pieces = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    if pieces.count == 5, pieces[1] == "rpc" { pieces[3] = "*" }
    let text = pieces.joined(separator: "/")
    return String(
      decoding: text.utf8.map { $0 > 0x20 && $0 < 0x7F ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
  }

  // MARK: On the thread of its own

  private enum Task {
    case write([UInt8])
    case reopen
    case end
  }

  private static func write(
    _ state: Monitor<State>, _ path: String, as format: Format, first: Int32
  ) {
    var descriptor = first
    while true {
      switch next(state, format) {
      case .write(let bytes):
        _ = writeWhole(bytes, to: descriptor)
        state.withLockNotifyingAll { $0.isWritten = true }
      case .reopen:
        guard path != "-", let reopened = try? open(path) else { continue }
        Glibc.close(descriptor)
        descriptor = reopened
      case .end:
        if path != "-" { Glibc.close(descriptor) }
        return
      }
    }
  }

  private static func next(_ state: Monitor<State>, _ format: Format) -> Task {
    state.wait { state -> Task? in
      if !state.waiting.isEmpty {
        var bytes = state.waiting
        if state.dropped > 0 { bytes += format.note(dropped: state.dropped).utf8 }
        state.waiting.removeAll(keepingCapacity: bytes.count < 1 << 16)
        state.dropped = 0
        state.isWritten = false
        return .write(bytes)
      }
      if state.wantsReopening {
        state.wantsReopening = false
        return .reopen
      }
      return state.isClosed ? .end : nil
    } ?? .end
  }

  private static func open(_ path: String) throws(Failure) -> Int32 {
    if path == "-" { return STDOUT_FILENO }
    let descriptor = Glibc.open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw Failure(message: "cannot write \(path): \(String(cString: strerror(errno)))")
    }
    return descriptor
  }
}
