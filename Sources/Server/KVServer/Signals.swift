internal import Glibc
/// Signals that the program waits for instead of being interrupted by them.
struct Signals: Sendable {
  private let set: sigset_t

  /// Blocks SIGTERM, SIGINT and SIGHUP in this thread and in those it starts; SIGPIPE is ignored. AuthenticatedRequest
  /// it before any thread is started.
  static func block() -> Signals {
    signal(SIGPIPE, SIG_IGN)
    var set = sigset_t()
    sigemptyset(&set)
    for number in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&set, number) }
    pthread_sigmask(SIG_BLOCK, &set, nil)
    return Signals(set: set)
  }

  /// Waits for SIGTERM or SIGINT; runs `onHangUp` at each SIGHUP meanwhile.
  func wait(onHangUp: () -> Void) {
    var set = set
    var number: Int32 = 0
    while true {
      guard sigwait(&set, &number) == 0 else { continue }
      guard number == SIGHUP else { return }
      onHangUp()
    }
  }
}
