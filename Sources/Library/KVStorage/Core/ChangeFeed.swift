internal import CSystem
internal import Glibc
internal import KVBase
internal import Synchronization

/// Tells observers that something was committed to a file, by this process or another one.
///
/// After a commit, a writer touches a file beside the database, if there is one: the first observer
/// makes it, and it stays. Observing processes are notified through inotify, so nothing is polled. Every five
/// seconds an observing process looks by itself, for a writer that was killed between its commit and the touch, and
/// for file systems that tell nothing.
///
/// A writer that has found no file does not look for it again until another connection has committed: the observer that makes the
/// file commits something afterwards, and reads afterwards (see `Storage.observe`).
final class ChangeFeed: Sendable {
  typealias Signal = @Sendable () -> Void

  private struct State {
    var listeners: [Int: Signal] = [:]
    var next = 0
    var watcher: Watcher?
    var isClosed = false
  }

  private let path: String
  private let isHeard = Atomic(false)
  /// The epoch of the writer's connection in which there was no file; below 0: it is not known, and a different number
  /// each time it ceased to be.
  private let epochWithoutFile = Atomic(-1)
  private let state = Monitor(State())

  init(path: String) { self.path = path + "-watch" }

  /// Something was committed, in an epoch of the writer's connection (see `Connection.epoch`). Called with no lock held.
  func publish(in epoch: Int) {
    let known = epochWithoutFile.load(ordering: .acquiring)
    if known != epoch, utimensat(AT_FDCWD, path, nil, 0) != 0, errno == ENOENT {
      // Not if the file was made meanwhile.
      _ = epochWithoutFile.compareExchange(
        expected: known, desired: epoch, ordering: .acquiringAndReleasing)
    }
    if isHeard.load(ordering: .acquiring) { signal() }
  }

  /// Makes the file, unless it is there. True: it was not there, and other processes do not know of it before something
  /// is committed.
  func prepare() -> Bool {
    let made = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
    if made >= 0 { Glibc.close(made) }
    let turn = state.withLock { state in
      state.next += 1
      return state.next
    }
    epochWithoutFile.store(-1 - turn, ordering: .releasing)
    return made >= 0
  }

  /// Adds a listener; gives what `remove` takes.
  func add(_ listener: @escaping Signal) -> Int {
    state.withLock { state in
      state.next += 1
      guard !state.isClosed else { return state.next }
      state.listeners[state.next] = listener
      isHeard.store(true, ordering: .releasing)
      if state.watcher == nil { state.watcher = Watcher(path) { [weak self] in self?.signal() } }
      return state.next
    }
  }

  /// The last one that goes takes the watching thread with it.
  func remove(_ number: Int) {
    let watcher = state.withLock { state -> Watcher? in
      state.listeners[number] = nil
      guard state.listeners.isEmpty else { return nil }
      isHeard.store(false, ordering: .releasing)
      defer { state.watcher = nil }
      return state.watcher
    }
    watcher?.end()
  }

  func close() {
    let watcher = state.withLock { state -> Watcher? in
      state.isClosed = true
      state.listeners = [:]
      isHeard.store(false, ordering: .releasing)
      defer { state.watcher = nil }
      return state.watcher
    }
    watcher?.end()
  }

  private func signal() {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener() }
  }
}

/// A thread that waits for a file to be touched.
private final class Watcher: Sendable {
  private let stop: EventDescriptor
  private let worker: Worker

  /// Nil if the process has no descriptor or no thread left: other processes are then not heard.
  init?(_ path: String, _ signal: @escaping ChangeFeed.Signal) {
    guard let stop = EventDescriptor() else { return nil }
    let notices = inotify_init1(Int32(O_CLOEXEC | O_NONBLOCK))
    if notices >= 0 { inotify_add_watch(notices, path, UInt32(IN_ATTRIB)) }
    let worker = Worker("kv-observers") {
      Self.watch(notices, stop, signal: signal)
      if notices >= 0 { Glibc.close(notices) }
    }
    guard let worker else {
      if notices >= 0 { Glibc.close(notices) }
      return nil
    }
    self.stop = stop
    self.worker = worker
  }

  func end() {
    stop.raise()
    worker.join()
  }

  private static let interval: Int32 = 5_000

  private static func watch(
    _ notices: Int32, _ stop: EventDescriptor, signal: ChangeFeed.Signal
  ) {
    withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 2) { waiting in
      waiting.initializeElement(
        at: 0, to: pollfd(fd: stop.number, events: Int16(POLLIN), revents: 0))
      // One that is below 0 is passed over.
      waiting.initializeElement(
        at: 1, to: pollfd(fd: notices, events: Int16(POLLIN), revents: 0))
      withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { read in
        while true {
          let count = poll(waiting.baseAddress, 2, interval)
          guard count >= 0 || errno == EINTR else { return }
          if waiting[0].revents != 0 { return }
          while waiting[1].revents != 0,
            Glibc.read(notices, read.baseAddress, read.count) == read.count
          {}
          signal()
        }
      }
    }
  }
}
