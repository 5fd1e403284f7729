internal import CSystem
internal import Glibc

/// A thread of our own: blocking work never parks a pool that others share.
///
/// All signals are blocked in it, so that the host's handlers run on the host's threads.
package final class Worker: Sendable {
  private let finished = Monitor(false)
  /// Whether the system may forget the thread once it has ended.
  private let isReleased = Monitor(false)
  private let thread: pthread_t

  /// Starts a thread named `name` (15 bytes at the most are shown) that runs `body` once.
  package init?(_ name: String, _ body: @escaping @Sendable () -> Void) {
    let box = Unmanaged.passRetained(Body(name: name, run: body, finished: finished))
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    var thread = pthread_t()
    let status = pthread_create(
      &thread, nil,
      { argument in
        if let argument { Body.perform(argument).withLockNotifyingAll { $0 = true } }
        return nil
      }, box.toOpaque())
    guard status == 0 else {
      box.release()
      self.thread = pthread_self()
      isReleased.withLock { $0 = true }
      return nil
    }
    self.thread = thread
  }

  deinit {
    isReleased.withLock { if !$0 { pthread_detach(thread) } }
  }

  /// Waits until the body has returned, what it held was let go, and the thread is gone: libraries tidy
  /// up at the end of a thread, which must not meet the end of the process. From the thread itself it
  /// returns at once.
  package func join() {
    if isCurrent { return }
    _ = finished.wait { $0 ? true : nil }
    isReleased.withLock { isReleased in
      if !isReleased { pthread_join(thread, nil) }
      isReleased = true
    }
  }

  /// Whether the calling thread is this one.
  package var isCurrent: Bool { pthread_equal(thread, pthread_self()) != 0 }

  private final class Body: Sendable {
    private let name: String
    private let run: @Sendable () -> Void
    private let finished: Monitor<Bool>

    init(name: String, run: @escaping @Sendable () -> Void, finished: Monitor<Bool>) {
      self.name = name
      self.run = run
      self.finished = finished
    }

    /// Runs the body and lets go of it, then gives what is to be told.
    static func perform(_ argument: UnsafeMutableRawPointer) -> Monitor<Bool> {
      let body = Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
      pthread_setname_np(pthread_self(), String(body.name.prefix(15)))
      body.run()
      return body.finished
    }
  }
}
