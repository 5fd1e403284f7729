internal import CCurl
internal import KVBase

/// Commands of other threads to the transport's thread. Safe from any thread; never waits.
final class CommandQueue: Sendable {
  struct Commands {
    var starting: [Exchange] = []
    var resuming: [Exchange] = []
    var dropping: [Exchange] = []
    /// WebSockets to connect.
    var connecting: [WebSocketLink] = []
    /// WebSockets that have something to send, or room again for what comes, or are not wanted any more.
    var moving: [WebSocketLink] = []
    var isClosing = false
    var isEmpty: Bool {
      starting.isEmpty && resuming.isEmpty && dropping.isEmpty && connecting.isEmpty
        && moving.isEmpty && !isClosing
    }
  }

  private struct State {
    var commands = Commands()
    var isClosed = false
    /// Nil once the thread is about to give it up.
    var multi: MultiHandle?
  }

  private let state: Monitor<State>

  init(waking multi: MultiHandle) {
    state = Monitor(State(multi: multi))
  }

  /// Asks to start an exchange. False: the transport is closed.
  func start(_ exchange: Exchange) -> Bool { enqueue { $0.starting.append(exchange) } }

  /// Asks to go on with an exchange that was paused.
  func resume(_ exchange: Exchange) { _ = enqueue { $0.resuming.append(exchange) } }

  /// Asks to stop an exchange whose sink has ended.
  func drop(_ exchange: Exchange) { _ = enqueue { $0.dropping.append(exchange) } }

  /// Asks to connect a WebSocket. False: the transport is closed.
  func connect(_ link: WebSocketLink) -> Bool { enqueue { $0.connecting.append(link) } }

  /// Asks to look at a WebSocket.
  func move(_ link: WebSocketLink) { _ = enqueue { $0.moving.append(link) } }

  /// Asks to end everything. Nothing is accepted from now on.
  func close() {
    _ = enqueue { $0.isClosing = true }
    state.withLock { $0.isClosed = true }
  }

  /// Returns what has come, which is not in the queue any more. Called by the transport's thread.
  func removeAll() -> Commands {
    state.withLock { state in
      defer { state.commands = Commands() }
      return state.commands
    }
  }

  /// Accepts nothing from now on, wakes no thread any more, and returns what came too late. Called by the transport's
  /// thread as it ends.
  func shutDown() -> Commands {
    state.withLock { state in
      state.isClosed = true
      state.multi = nil
      defer { state.commands = Commands() }
      return state.commands
    }
  }

  private func enqueue(_ write: (inout Commands) -> Void) -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      let mustWake = state.commands.isEmpty
      write(&state.commands)
      if mustWake, let multi = state.multi { curl_multi_wakeup(multi.raw) }
      return true
    }
  }
}

/// A multi handle that other threads may name.
///
/// `@unchecked Sendable`: off the transport's thread it is used for `curl_multi_wakeup` only, which
/// libcurl allows, and only under the lock of the queue, which lets go of it before it is freed.
struct MultiHandle: @unchecked Sendable {
  let raw: UnsafeMutableRawPointer
}
