internal import CKVStore
internal import KVBase

/// Brings lines of the log to the host's function, if there is one. Safe from any thread.
final class LogSink: Sendable {
  private let queue: CallbackQueue
  private let callback = Monitor<LogCallback?>(nil)

  init(_ queue: CallbackQueue) { self.queue = queue }

  /// Replaces the function. Lines that wait for the old one still reach it; then its context is freed.
  func set(_ new: LogCallback?) {
    let old = callback.withLock { callback in
      defer { callback = new }
      return callback
    }
    if let old, !queue.add({ old.retire() }) { old.retire() }
  }

  func write(_ level: Int32, _ text: String) {
    guard let callback = callback.withLock({ $0 }) else { return }
    queue.add { text.withCString { callback.function(callback.context, level, $0) } }
  }
}
