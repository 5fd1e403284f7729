internal import KVBase
internal import Synchronization

/// Connections for reading: taken, given back, made when none is idle.
final class ReaderPool: Sendable {
  private let idle = IdleConnections()
  /// Ends kept snapshots that nobody has used for a while: other processes may wait for it.
  private let idleTime: IdleTime
  private let isClosed = Atomic(false)
  private let configuration: Database.Configuration
  private let generation = ProcessGeneration.current

  init(_ configuration: Database.Configuration) {
    self.configuration = configuration
    idleTime = IdleTime("kv-readers", milliseconds: configuration.idleSnapshotMilliseconds) {
      [idle] in
      idle.endKept()
    }
  }

  deinit {
    guard generation.isCurrent else { return }
    close()
  }

  func acquire() throws(SQLiteError) -> PooledConnection {
    guard !isClosed.load(ordering: .acquiring) else {
      throw SQLiteError(.misuse, "The database is closed.")
    }
    guard let pooled = idle.take() else { return try Database.openReader(configuration) }
    pooled.beginUse()
    return pooled
  }

  /// Takes a connection back, ending what it left open.
  func release(_ pooled: PooledConnection) {
    guard generation.isCurrent else { return leak(pooled) }
    // What cannot be ended closes with its connection.
    guard (try? pooled.endUse()) != nil, !isClosed.load(ordering: .acquiring) else { return }
    let isKeeping = pooled.isKeeping
    idle.put(pooled)
    if isKeeping { idleTime.noteUse() }
  }

  /// Ends the snapshots that idle connections keep.
  func endKept() {
    if idleTime.isRunning { idle.endKept() }
  }

  /// Closes the idle connections. One that is given back at this moment closes with the pool.
  func close() {
    isClosed.store(true, ordering: .releasing)
    idleTime.stop()
    idle.removeAll()
  }
}

/// Connections that nobody uses at the moment.
///
/// One waits in a slot of its own, which is exchanged without a lock: a thread that reads again and again finds its connection
/// there. The others wait in a list.
///
/// `@unchecked Sendable`: atomics are, except those of pointers; whoever takes this one out owns what it points to.
private final class IdleConnections: @unchecked Sendable {
  /// How many are kept in the list; each may hold a page cache.
  private static let limit = 8

  /// A retained `PooledConnection`, or nil.
  private let nearest = Atomic<UnsafeRawPointer?>(nil)
  private let rest = Monitor<[PooledConnection]>([])

  func take() -> PooledConnection? { takeNearest() ?? rest.withLock { $0.popLast() } }

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

  /// Ends the snapshots that they keep.
  func endKept() {
    if let pooled = takeNearest() {
      pooled.endKeeping()
      put(pooled)
    }
    rest.withLock { for pooled in $0 { pooled.endKeeping() } }
  }

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
