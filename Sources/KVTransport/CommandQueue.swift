internal import CCurl
internal import KVBase

/// What other threads tell the transport's thread. Safe from any thread; never waits.
final class CommandQueue: Sendable {
  struct Mail {
    var starting: [Exchange] = []
    var resuming: [Exchange] = []
    var dropping: [Exchange] = []
    var isClosing = false
    var isEmpty: Bool {
      starting.isEmpty && resuming.isEmpty && dropping.isEmpty && !isClosing
    }
  }

  private struct State {
    var mail = Mail()
    var isClosed = false
    /// Nil once the thread is about to give it up.
    var multi: MultiHandle?
  }

  private let state: Monitor<State>

  init(waking multi: MultiHandle) {
    state = Monitor(State(multi: multi))
  }

  /// Asks to start an exchange. False: the transport is closed.
  func start(_ exchange: Exchange) -> Bool { post { $0.starting.append(exchange) } }

  /// Asks to go on with an exchange that was paused.
  func resume(_ exchange: Exchange) { _ = post { $0.resuming.append(exchange) } }

  /// Asks to stop an exchange whose sink has ended.
  func drop(_ exchange: Exchange) { _ = post { $0.dropping.append(exchange) } }

  /// Asks to end everything. Nothing is accepted from now on.
  func close() {
    _ = post { $0.isClosing = true }
    state.withLock { $0.isClosed = true }
  }

  /// The transport's thread takes what has come.
  func take() -> Mail {
    state.withLock { state in
      defer { state.mail = Mail() }
      return state.mail
    }
  }

  /// The transport's thread is ending: nobody wakes it any more. Gives what came too late.
  func shut() -> Mail {
    state.withLock { state in
      state.isClosed = true
      state.multi = nil
      defer { state.mail = Mail() }
      return state.mail
    }
  }

  private func post(_ write: (inout Mail) -> Void) -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      let mustWake = state.mail.isEmpty
      write(&state.mail)
      if mustWake, let multi = state.multi { curl_multi_wakeup(multi.raw) }
      return true
    }
  }
}

/// A multi handle that other threads may name.
///
/// `@unchecked Sendable`: off the transport's thread it is used for `curl_multi_wakeup` only, which
/// libcurl allows, and only under the lock of the mailbox, which lets go of it before it is freed.
struct MultiHandle: @unchecked Sendable {
  let raw: UnsafeMutableRawPointer
}
