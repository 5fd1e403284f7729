import KVBase

/// A function on a thread of its own that runs in steps: from `resume` until it pauses or returns. Whoever resumes waits
/// meanwhile, so that only one side runs at a time, and the schedule is the caller's.
final class Coroutine: Sendable {
  private enum Turn { case caller, coroutine, over }

  private let turn = Monitor(Turn.caller)

  init(_ body: @escaping @Sendable () -> Void) {
    // It needs nobody to wait for its thread: that ends after the last `resume`.
    _ = Worker("coroutine") { [turn] in
      Self.wait(for: .coroutine, turn)
      body()
      turn.withLockNotifyingAll { $0 = .over }
    }
  }

  /// Lets it go on until it pauses; false: it has returned.
  func resume() -> Bool {
    turn.withLockNotifyingAll { if $0 == .caller { $0 = .coroutine } }
    return turn.wait { $0 == .coroutine ? nil : $0 == .caller } ?? false
  }

  /// Gives the turn back to the caller; from within the function only.
  func pause() {
    turn.withLockNotifyingAll { $0 = .caller }
    Self.wait(for: .coroutine, turn)
  }

  private static func wait(for mine: Turn, _ turn: Monitor<Turn>) {
    _ = turn.wait { $0 == mine ? true : nil }
  }
}
