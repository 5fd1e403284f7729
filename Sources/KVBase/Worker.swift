internal import CSystem
internal import Glibc

/// A thread of our own: blocking work never parks a pool that others share.
///
/// All signals are blocked in it, so that the host's handlers run on the host's threads.
package final class Worker: Sendable {
  private let finished = Monitor(false)
  private let thread: pthread_t

  /// Starts a thread named `name` (15 bytes at the most are shown) that runs `body` once.
  package init?(_ name: String, _ body: @escaping @Sendable () -> Void) {
    let finished = self.finished
    let box = Unmanaged.passRetained(
      Body(name: name) {
        body()
        finished.withLock { $0 = true }
      })
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { argument in
        if let argument {
          let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
          pthread_setname_np(pthread_self(), String(body.name.prefix(15)))
          body.run()
        }
        return nil
      }, box.toOpaque())
    guard status == 0 else {
      box.release()
      self.thread = pthread_self()
      return nil
    }
    self.thread = thread
    pthread_detach(thread)
  }

  /// Waits until the body has returned. From the thread itself it returns at once.
  package func join() {
    if isCurrent { return }
    _ = finished.wait { $0 ? true : nil }
  }

  /// Whether the calling thread is this one.
  package var isCurrent: Bool { pthread_equal(thread, pthread_self()) != 0 }

  private final class Body: Sendable {
    let name: String
    let run: @Sendable () -> Void
    init(name: String, run: @escaping @Sendable () -> Void) {
      self.name = name
      self.run = run
    }
  }
}
