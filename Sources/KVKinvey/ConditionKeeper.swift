internal import Synchronization

/// Remembers whether the backend has shown that it keeps the conditions of writes. Safe from any thread.
final class ConditionKeeper: Sendable {
  private let flag = Atomic(false)

  var isFound: Bool { flag.load(ordering: .relaxed) }

  func found() { flag.store(true, ordering: .relaxed) }
}
