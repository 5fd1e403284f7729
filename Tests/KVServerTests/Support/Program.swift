internal import Glibc
internal import KVTestSupport

/// A running kvstored, as users run it: a process of its own. Ended with its last reference.
final class Program {
  /// What it has written to standard output so far.
  private(set) var output = ""
  private let process: pid_t
  private let pipe: Int32
  private var status: Int32?

  /// Starts the program that was built beside these tests.
  init?(_ arguments: [String]) {
    var ends: [Int32] = [0, 0]
    guard let path = Self.path, Glibc.pipe(&ends) == 0 else { return nil }
    // A program that is started beside this one must not hold the pipe open.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO)
    defer { posix_spawn_file_actions_destroy(&actions) }
    var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    var process = pid_t()
    let started = posix_spawn(&process, path, &actions, nil, words, environ)
    close(ends[1])
    pipe = ends[0]
    self.process = process
    if started != 0 { return nil }
  }

  deinit {
    if status == nil { kill() }
    close(pipe)
  }

  /// Waits for a line that starts so, and gives the rest of it; nil if the program ends before.
  func rest(ofLine start: String) -> String? {
    while true {
      let lines = output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      if let line = lines.first(where: { $0.hasPrefix(start) }) {
        return String(line.dropFirst(start.count))
      }
      guard read() else { return nil }
    }
  }

  /// The port of the line that says where it listens.
  func port() -> UInt16? {
    rest(ofLine: "kvstored listening on http://127.0.0.1:").flatMap { UInt16($0) }
  }

  func send(signal: Int32) { Glibc.kill(process, signal) }

  /// Ends it at once, as a power failure would.
  func kill() {
    send(signal: SIGKILL)
    _ = waitForEnd()
  }

  /// Reads what is left and gives the exit status; -1 if a signal ended it.
  func waitForEnd() -> Int32 {
    if let status { return status }
    while read() {}
    var raw: Int32 = 0
    waitpid(process, &raw, 0)
    let ended = raw & 0x7F == 0 ? raw >> 8 & 0xFF : -1
    status = ended
    return ended
  }

  /// How much memory it has, and has had at the most.
  var residentKiB: Int? { memory("VmRSS:") }
  var peakKiB: Int? { memory("VmHWM:") }

  /// How much time of processors it has used.
  var cpuSeconds: Double? {
    guard let file = fopen("/proc/\(process)/stat", "r") else { return nil }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 1024)
    guard fgets(&line, Int32(line.count), file) != nil else { return nil }
    // Behind the name, which is in brackets.
    let text = String(
      decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let fields = text.split(separator: ")").last?.split(separator: " ").compactMap { Double($0) }
    guard let fields, fields.count > 11 else { return nil }
    return (fields[10] + fields[11]) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  private func memory(_ name: String) -> Int? {
    guard let file = fopen("/proc/\(process)/status", "r") else { return nil }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
      let words = String(
        decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self
      )
      .split { $0 == " " || $0 == "\t" }
      if words.first == Substring(name) { return Int(words[1]) }
    }
    return nil
  }

  private func read() -> Bool {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = Glibc.read(pipe, &buffer, buffer.count)
    guard count > 0 else { return false }
    output += String(decoding: buffer.prefix(count), as: UTF8.self)
    return true
  }

  private static var path: String? {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    guard count > 0 else { return nil }
    let own = String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard let slash = own.lastIndex(of: "/") else { return nil }
    return own[..<slash] + "/kvstored"
  }
}
