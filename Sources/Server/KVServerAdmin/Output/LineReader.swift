internal import Glibc

/// Reads a file, or standard input, line by line. One thread at a time.
final class LineReader {
  /// The longest line: no entity is longer.
  private static let maxLine = 1 << 30
  private static let chunk = 1 << 18

  private let descriptor: Int32
  private let name: String
  private var buffer: [UInt8] = []
  private var start = 0
  private var isAtEnd = false

  /// `path` nil: standard input.
  init(_ path: String?) throws(AdminFailure) {
    name = path ?? "standard input"
    descriptor = path.map { open($0, O_RDONLY | O_CLOEXEC) } ?? dup(STDIN_FILENO)
    guard descriptor >= 0 else {
      throw AdminFailure(.failed, "cannot read \(name): \(String(cString: strerror(errno)))")
    }
  }

  deinit { close(descriptor) }

  /// The next line without its end; nil at the end of the file.
  func next() throws(AdminFailure) -> [UInt8]? {
    var scanned = start
    while true {
      if let end = buffer[scanned...].firstIndex(of: 0x0A) {
        defer { start = end + 1 }
        return Array(buffer[start..<end])
      }
      scanned = buffer.count
      if isAtEnd { break }
      try fill(&scanned)
    }
    defer { start = buffer.count }
    return start < buffer.count ? Array(buffer[start...]) : nil
  }

  private func fill(_ scanned: inout Int) throws(AdminFailure) {
    buffer.removeFirst(start)
    scanned -= start
    start = 0
    guard buffer.count < Self.maxLine else {
      throw AdminFailure(.failed, "\(name) has a line of more than \(Self.maxLine) bytes")
    }
    var chunk = [UInt8](repeating: 0, count: Self.chunk)
    let count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    guard count >= 0 else {
      if errno == EINTR { return }
      throw AdminFailure(.failed, "cannot read \(name): \(String(cString: strerror(errno)))")
    }
    isAtEnd = count == 0
    buffer += chunk[..<count]
  }
}
