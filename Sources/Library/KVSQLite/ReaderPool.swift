internal import KVBase
internal import Synchronization

/// Connections for reading: taken, given back, made when none is idle.
final class ReaderPool: Sendable {
  private let idle = IdleConnections()
  private let sharedLock: SharedReadLock
  private let isClosed = Atomic(false)
  private let configuration: Database.Configuration
  private let generation = ProcessGeneration.current

  /// `isReadOnly`: whether the system lets us only read the file. It may have no log then.
  init(_ configuration: Database.Configuration, isReadOnly: Bool) {
    self.configuration = configuration
    sharedLock = SharedReadLock(
      idle, milliseconds: isReadOnly ? 0 : configuration.sharedReadLockMilliseconds)
  }

  deinit {
    guard generation.isCurrent else { return leak(idle) }
    close()
  }

  func acquire() throws(SQLiteError) -> PooledConnection {
    guard !isClosed.load(ordering: .acquiring) else {
      throw SQLiteError(.misuse, "The database is closed.")
    }
    if let pooled = idle.take() { return pooled }
    return try Database.openReader(configuration)
  }

  /// Takes a connection back, ending what it left open.
  func release(_ pooled: PooledConnection) {
    guard generation.isCurrent else { return leak(pooled) }
    // An error may have left a transaction open; one that cannot be ended closes with its connection.
    if pooled.connection.isInTransaction {
      guard (try? pooled.connection.run(Connection.Control.rollback)) != nil else { return }
    }
    guard !isClosed.load(ordering: .acquiring), !sharedLock.takes(pooled) else { return }
    idle.put(pooled)
  }

  /// Ends the lock that readers share, so that the log can be begun anew: see `SharedReadLock`.
  func endSharedLock() { sharedLock.end() }

  /// Closes the idle connections. One that is given back at this moment closes with the pool.
  func close() {
    isClosed.store(true, ordering: .releasing)
    sharedLock.stop()
    idle.removeAll()
  }
}
