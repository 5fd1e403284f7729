internal import Glibc
internal import KVBase

/// A program that a test runs; its standard output is ours to read. It is ended with its last
/// reference.
package final class ChildProcess: Sendable {
  /// The program could not be started.
  package struct Refusal: Error {}

  private let id: pid_t
  private let output: Int32
  private let status = Monitor<Int32?>(nil)

  /// Starts `arguments[0]`, which is looked for on the path.
  package init(_ arguments: [String]) throws(Refusal) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw Refusal() }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    var words = arguments.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var id = pid_t()
    let result = words[0].map { posix_spawnp(&id, $0, &actions, nil, &words, environ) }
    close(ends[1])
    guard result == 0 else {
      close(ends[0])
      throw Refusal()
    }
    self.id = id
    output = ends[0]
  }

  deinit {
    end()
    close(output)
  }

  /// Runs a program to its end; gives its exit status.
  package static func run(_ arguments: [String]) throws(Refusal) -> Int32 {
    try ChildProcess(arguments).wait()
  }

  /// The path of a program that this package builds: it is next to the one that runs the tests.
  package static func built(_ name: String) -> String {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = buffer.withUnsafeMutableBytes { bytes in
      bytes.baseAddress.map { readlink("/proc/self/exe", $0, bytes.count) } ?? 0
    }
    let own = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    let parts = own.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    return (parts + [name[...]]).joined(separator: "/")
  }

  /// The next piece of the output; empty at its end.
  package func readPiece() -> String {
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = Glibc.read(output, &buffer, buffer.count)
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
  }

  /// Reads the output until it contains `text`; gives all that was read, nil if it ends before.
  package func read(until text: String) -> String? {
    var read = ""
    var buffer = [UInt8](repeating: 0, count: 4096)
    while !read.contains(text) {
      let count = Glibc.read(output, &buffer, buffer.count)
      guard count > 0 else { return nil }
      read += String(decoding: buffer[..<count], as: UTF8.self)
    }
    return read
  }

  /// Waits for the end; gives the exit status, or -1 if a signal ended it.
  @discardableResult
  package func wait() -> Int32 {
    status.withLockNotifyingAll { status in
      if let status { return status }
      var raw: Int32 = 0
      while waitpid(id, &raw, 0) < 0, errno == EINTR {}
      let result = raw & 0x7F == 0 ? raw >> 8 & 0xFF : -1
      status = result
      return result
    }
  }

  /// Ends the process if it still runs.
  package func end() {
    let isRunning = status.withLock { $0 == nil }
    if isRunning { kill(id, SIGKILL) }
    wait()
  }
}
