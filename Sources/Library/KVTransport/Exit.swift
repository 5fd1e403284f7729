internal import Glibc
internal import KVBase

/// Ends the threads of open transports before the process ends.
///
/// The TLS library frees its tables when the process exits. A host that exits without closing its clients
/// would have our threads read them at that moment, and crash now and then.
final class Exit: Sendable {
  static let shared = Exit()

  private let open = Monitor<[ObjectIdentifier: (CommandQueue, Worker)]>([:])
  private let process = ProcessGeneration.current

  /// Handlers run in reverse order: this one is registered after libcurl was initialised, and so after
  /// that of the TLS library.
  private init() {
    atexit { Exit.shared.closeAll() }
  }

  /// Adds the transport of this queue: it ends with the process at the latest.
  func add(_ queue: CommandQueue, _ worker: Worker) {
    open.withLock { $0[ObjectIdentifier(queue)] = (queue, worker) }
  }

  /// Removes the transport of this queue, whose thread is about to end.
  func remove(_ queue: CommandQueue) {
    open.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(queue)) }
  }

  private func closeAll() {
    guard process.isCurrent else { return }
    for (queue, worker) in open.withLock({ Array($0.values) }) {
      queue.close()
      worker.join()
    }
  }
}
