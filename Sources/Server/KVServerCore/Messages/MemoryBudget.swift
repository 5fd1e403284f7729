internal import Synchronization

/// What the memory of a payload is reserved from. Safe from any thread.
package protocol MemoryReserve: AnyObject, Sendable {
  /// Reserves so many bytes; false, and nothing is reserved, if there are not so many left.
  func reserve(_ bytes: Int) -> Bool
  func release(_ bytes: Int)
}

/// Memory that many share, up to a limit. Safe from any thread.
package final class MemoryBudget: MemoryReserve {
  package let limit: Int
  private let used = Atomic<Int>(0)

  package init(limit: Int) { self.limit = limit }

  /// How much is reserved at this moment.
  package var reserved: Int { used.load(ordering: .relaxed) }

  package func reserve(_ bytes: Int) -> Bool {
    var known = used.load(ordering: .relaxed)
    while bytes <= limit - known {
      let (isReserved, now) = used.weakCompareExchange(
        expected: known, desired: known + bytes, ordering: .relaxed)
      if isReserved { return true }
      known = now
    }
    return false
  }

  package func release(_ bytes: Int) { used.subtract(bytes, ordering: .relaxed) }
}

/// What one user of a budget has reserved, released at its end. Safe from any thread.
package final class MemoryShare: Sendable {
  private let budget: MemoryBudget
  private let reserved = Atomic<Int>(0)

  package init(of budget: MemoryBudget) { self.budget = budget }

  /// Reserves so many bytes in all; false, and nothing changes, if there are not so many left.
  package func grow(to bytes: Int) -> Bool {
    let more = bytes - reserved.load(ordering: .relaxed)
    guard more > 0 else { return true }
    guard budget.reserve(more) else { return false }
    reserved.add(more, ordering: .relaxed)
    return true
  }

  deinit { budget.release(reserved.load(ordering: .relaxed)) }
}
