internal import Glibc
internal import KVBase

/// What the operating system says of this process, under the names that all programs use for it.
package struct ProcessStatus: Sendable {
  private let startedAt = Timestamp.now()

  package init() {}

  package func write(to page: inout MetricsText) {
    page.add(
      "process_start_time_seconds", .gauge, help: "The start of the server, in seconds since 1970.",
      value: Double(startedAt.milliseconds) / 1000)
    page.add(
      "process_cpu_seconds_total", .counter, help: "Processor time of the server in seconds.",
      value: Self.cpuSeconds)
    let memory = Self.memory
    page.add(
      "process_virtual_memory_bytes", .gauge, help: "The server's address space.",
      value: memory.virtual)
    page.add(
      "process_resident_memory_bytes", .gauge, help: "The server's memory.", value: memory.resident)
    page.add(
      "process_open_fds", .gauge, help: "Open files, including connections.", value: Self.openFiles)
    page.add("process_max_fds", .gauge, help: "The limit of open files.", value: Self.maxFiles)
  }

  private static var cpuSeconds: Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return [usage.ru_utime, usage.ru_stime].reduce(0) {
      $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6
    }
  }

  private static var memory: (virtual: Int, resident: Int) {
    let words = (try? TextFile.read("/proc/self/statm"))?.split(separator: " ") ?? []
    let pages = words.prefix(2).compactMap { Int($0) }
    guard pages.count == 2 else { return (0, 0) }
    let size = sysconf(Int32(_SC_PAGESIZE))
    return (pages[0] * size, pages[1] * size)
  }

  private static var openFiles: Int {
    guard let entries = opendir("/proc/self/fd") else { return 0 }
    defer { closedir(entries) }
    var count = 0
    while readdir(entries) != nil { count += 1 }
    // "." and "..", and the directory itself.
    return count - 3
  }

  private static var maxFiles: Int {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return Int(clamping: limit.rlim_cur)
  }
}
