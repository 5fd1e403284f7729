internal import CSQLite
internal import KVBase

/// Connections for reading: taken, given back, made when none is idle.
final class ReaderPool: Sendable {
  /// Idle connections that are kept; each may hold a page cache.
  private static let mostIdle = 8

  private struct State {
    var idle: [Seat] = []
    var isClosed = false
  }

  private let configuration: Database.Configuration
  private let state = Monitor(State())
  private let generation = ProcessGeneration.current

  init(_ configuration: Database.Configuration) { self.configuration = configuration }

  func take() throws(SQLiteError) -> Seat {
    let (seat, isClosed) = state.peek { ($0.idle.popLast(), $0.isClosed) }
    if isClosed { throw SQLiteError(.misuse, "The database is closed.") }
    if let seat { return seat }
    return try Database.openReader(configuration)
  }

  /// Takes a connection back, ending what it left open.
  func giveBack(_ seat: Seat) {
    guard generation.isCurrent else { return leak(seat) }
    // An error may have left a transaction open; one that cannot be ended closes with its connection.
    if seat.connection.isInTransaction {
      guard (try? seat.connection.run(Connection.Control.rollback)) != nil else { return }
    }
    // Kept or not, the last reference goes outside the lock: closing takes time.
    state.peek { state in
      if !state.isClosed, state.idle.count < Self.mostIdle { state.idle.append(seat) }
    }
  }

  func close() {
    let idle = state.peek { state -> [Seat] in
      state.isClosed = true
      defer { state.idle = [] }
      return state.idle
    }
    withExtendedLifetime(idle) {}
  }
}
