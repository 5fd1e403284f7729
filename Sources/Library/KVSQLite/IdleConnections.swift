internal import KVBase
internal import Synchronization

/// Idle connections.
///
/// One waits in a slot of its own, which is exchanged without a lock: a thread that reads again and again finds its connection
/// there. The others wait in a list.
///
/// `@unchecked Sendable`: atomics are, except those of pointers; the thread that takes this one out owns what it points to.
final class IdleConnections: @unchecked Sendable {
  /// How many are kept in the list; each may hold a page cache.
  private static let limit = 8

  /// A retained `PooledConnection`, or nil.
  private let nearest = Atomic<UnsafeRawPointer?>(nil)
  private let rest = Monitor<[PooledConnection]>([])

  /// Takes one out; nil if there is none.
  func take() -> PooledConnection? { takeNearest() ?? rest.withLock { $0.popLast() } }

  /// Keeps one, or closes it if there are enough.
  func put(_ pooled: PooledConnection) {
    let kept = Unmanaged.passRetained(pooled)
    let (isKept, _) = nearest.compareExchange(
      expected: nil, desired: UnsafeRawPointer(kept.toOpaque()),
      ordering: .acquiringAndReleasing)
    guard !isKept else { return }
    kept.release()
    // Kept or not, the last reference goes outside the lock: closing takes time.
    rest.withLock { if $0.count < Self.limit { $0.append(pooled) } }
  }

  /// Closes all of them.
  func removeAll() {
    let nearest = takeNearest()
    let rest = rest.withLock { rest -> [PooledConnection] in
      defer { rest = [] }
      return rest
    }
    withExtendedLifetime((nearest, rest)) {}
  }

  private func takeNearest() -> PooledConnection? {
    nearest.exchange(nil, ordering: .acquiringAndReleasing)
      .map { Unmanaged<PooledConnection>.fromOpaque($0).takeRetainedValue() }
  }
}
