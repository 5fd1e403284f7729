internal import KVBase
internal import Synchronization

/// Connections for reading: taken, given back, made when none is idle.
///
/// One idle connection waits in a slot of its own, which is exchanged without a lock: a thread that reads
/// again and again finds its connection there. The others wait in a list.
///
/// `@unchecked Sendable`: atomics are, except those of pointers; whoever takes this one out owns what it
/// points to.
final class ReaderPool: @unchecked Sendable {
  /// Idle connections that are kept; each may hold a page cache.
  private static let maxIdle = 8

  /// A retained `PooledConnection`, or nil.
  private let nearest = Atomic<UnsafeRawPointer?>(nil)
  private let isClosed = Atomic(false)
  private let idle = Monitor<[PooledConnection]>([])
  private let configuration: Database.Configuration
  private let generation = ProcessGeneration.current

  init(_ configuration: Database.Configuration) { self.configuration = configuration }

  deinit {
    guard generation.isCurrent else { return }
    close()
  }

  func acquire() throws(SQLiteError) -> PooledConnection {
    guard !isClosed.load(ordering: .acquiring) else {
      throw SQLiteError(.misuse, "The database is closed.")
    }
    if let pooled = popNearest() { return pooled }
    if let pooled = idle.withLock({ $0.popLast() }) { return pooled }
    return try Database.openReader(configuration)
  }

  /// Takes a connection back, ending what it left open.
  func release(_ pooled: PooledConnection) {
    guard generation.isCurrent else { return leak(pooled) }
    // An error may have left a transaction open; one that cannot be ended closes with its connection.
    if pooled.connection.isInTransaction {
      guard (try? pooled.connection.run(Connection.Control.rollback)) != nil else { return }
    }
    guard !isClosed.load(ordering: .acquiring) else { return }
    let kept = Unmanaged.passRetained(pooled)
    let (isKept, _) = nearest.compareExchange(
      expected: nil, desired: UnsafeRawPointer(kept.toOpaque()),
      ordering: .acquiringAndReleasing)
    guard !isKept else { return }
    kept.release()
    // Kept or not, the last reference goes outside the lock: closing takes time.
    idle.withLock { if $0.count < Self.maxIdle { $0.append(pooled) } }
  }

  /// Closes the idle connections. One that is given back at this moment closes with the pool.
  func close() {
    isClosed.store(true, ordering: .releasing)
    let nearest = popNearest()
    let rest = idle.withLock { idle -> [PooledConnection] in
      defer { idle = [] }
      return idle
    }
    withExtendedLifetime((nearest, rest)) {}
  }

  private func popNearest() -> PooledConnection? {
    nearest.exchange(nil, ordering: .acquiringAndReleasing)
      .map { Unmanaged<PooledConnection>.fromOpaque($0).takeRetainedValue() }
  }
}
