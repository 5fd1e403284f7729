internal import KVBase
internal import KVJSON
internal import KVQuery

/// Removes bytes that no file has any more, on a thread of its own: uploads that were given up, and whole files that were left
/// when a server ended between the removal of a file and that of its bytes. Safe from any thread.
final class FileJanitor: Sendable {
  /// Seconds from the start of the server to the first round, and between rounds.
  private static let firstPause = 600.0
  private static let pause = 6 * 3600.0
  /// How long an upload must have got nothing: by then its address has ended, so that it cannot go on.
  private static let partSeconds = Service.uploadSeconds + 3600
  /// How old a whole file must be.
  private static let wholeSeconds: Int64 = 86_400

  private let directory: FileDirectory
  private let store: any ServerStore
  private let log: Log
  private let isClosed = Monitor(false)
  private let worker = Monitor<Worker?>(nil)

  init(_ directory: FileDirectory, _ store: any ServerStore, log: Log) {
    self.directory = directory
    self.store = store
    self.log = log
  }

  func start() {
    let started = Worker("kv-files") { [self] in
      var pause = Self.firstPause
      while isClosed.wait(until: .after(seconds: pause), for: { $0 ? true : nil }) == nil {
        pause = Self.pause
        do throws(ServerError) {
          let (parts, files) = try run(at: Timestamp.now().milliseconds / 1000)
          if parts + files > 0 {
            log.info(
              "removed \(parts) uploads that were given up and \(files) files without a name")
          }
        } catch {
          log.warning("bytes that no file has stay: \(error.cause ?? error.debug)")
        }
      }
    }
    worker.withLock { $0 = started }
  }

  /// Returns when the thread does not use the store any more.
  func close() {
    isClosed.withLockNotifyingAll { $0 = true }
    worker.withLock { $0 }?.join()
  }

  /// Removes what is to be removed at a moment, in seconds since 1970. Returns how many uploads and how many whole files
  /// that were.
  func run(at now: Int64) throws(ServerError) -> (parts: Int, files: Int) {
    let parts = directory.removeParts(before: now - Self.partSeconds)
    guard directory.claim(store.epoch) else {
      log.warning(
        "the directory of files was used with other data: files without a name stay there")
      return (parts, 0)
    }
    // Listed first: a file that is named later is not among them.
    guard var nameless = directory.names(before: now - Self.wholeSeconds), !nameless.isEmpty else {
      return (parts, 0)
    }
    for key in try store.appKeys() {
      try forEachFile(of: try store.app(key)) { names in
        for name in names.all { nameless.remove(name) }
      }
    }
    for name in nameless { directory.remove(name) }
    return (parts, nameless.count)
  }

  /// Throws if one cannot be read, as its bytes must stay.
  private func forEachFile(
    of app: Int64, _ body: (FileNames) -> Void
  ) throws(ServerError) {
    let cursor = try store.entities.find(
      Query(), in: .files(of: app), for: .principal(.master), within: .unlimited
    ).cursor
    var isMore = true
    while isMore {
      if isClosed.withLock({ $0 }) { throw ServerError(.stopping) }
      let list = Payload()
      var page = EntityPage(
        list, nil, remaining: .max, bytes: 256 << 10, maxBytes: .max, isFirst: true)
      isMore = try cursor.read(into: &page)
      guard page.damaged.isEmpty else {
        throw ServerError(.internalErrorRetry, cause: "what is said about a file is damaged")
      }
      let files = try Service.each(of: list) { (bytes) throws(ServerError) in
        FileNames(try Service.object(Payload(bytes)))
      }
      for names in files.compactMap(\.self) { body(names) }
    }
  }
}
