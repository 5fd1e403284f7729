internal import CSQLite
internal import Glibc
internal import KVBase

/// The connection that writes, and the queue of those who want to.
///
/// Whoever finds it free leads: it runs its body in a transaction of its own. Whoever comes
/// meanwhile queues and sleeps. When the leader has committed it hands the lead to the first in the
/// queue, who runs the bodies of all that wait in one transaction, each in a savepoint, and commits
/// once for them:
///
///     A  ├ BEGIN a COMMIT ┤ done
///     B    queued         ├ BEGIN b c d COMMIT ┤ done
///     C      queued         sleeps             │ done
///     D        queued       sleeps             │ done
///
/// So a commit costs one wait for the disk however many savers share it, and nobody waits who is alone.
final class Writer: Sendable {
  /// How many bodies share a commit at the most, so that the first one's wait has a bound.
  private static let mostInGroup = 256

  private struct State {
    var seat: Seat?
    /// The thread that leads; nil: the writer is free, and then the queue is empty.
    var leader: pthread_t?
    var queue: [Job] = []
  }

  private let state: Monitor<State>

  init(_ seat: Seat) { state = Monitor(State(seat: seat)) }

  /// Runs `body` in a transaction, alone or with others; see `Database.write`.
  func write<R>(
    _ body: (borrowing Connection) throws(SQLiteError) -> R
  ) throws(SQLiteError) -> R {
    let me = pthread_self()
    let place = state.peek { state -> Place in
      guard let seat = state.seat else { return .closed }
      guard let leader = state.leader else {
        state.leader = me
        return .lead(seat)
      }
      return pthread_equal(leader, me) != 0 ? .nested : .queue
    }
    switch place {
    case .closed: throw SQLiteError(.misuse, "The database is closed.")
    case .nested: throw SQLiteError(.misuse, "A write transaction cannot contain another one.")
    case .lead(let seat):
      defer { handOver([]) }
      return try seat.connection.transaction(body)
    case .queue: return try queueUp(body)
    }
  }

  /// Waits for the running transactions, then gives the connection up.
  func close() {
    let me = pthread_self()
    let seat = state.wait { state -> Seat?? in
      // From inside a body there is nothing to wait for: the body holds its connection itself.
      if let leader = state.leader, pthread_equal(leader, me) == 0 { return nil }
      defer { state.seat = nil }
      return .some(state.seat)
    }
    withExtendedLifetime(seat) {}
  }

  private enum Place {
    case lead(Seat)
    case queue
    case nested
    case closed
  }

  // MARK: Groups

  private func queueUp<R>(
    _ body: (borrowing Connection) throws(SQLiteError) -> R
  ) throws(SQLiteError) -> R {
    var result: R?
    // The closure does not outlive this call: it returns only when the job is done.
    let error = withoutActuallyEscaping(body) { body -> SQLiteError? in
      let job = Job { (connection: borrowing Connection) throws(SQLiteError) in
        result = try body(connection)
      }
      return wait(with: job)
    }
    if let error { throw error }
    guard let result else { throw SQLiteError(.misuse, "The database is closed.") }
    return result
  }

  /// Sleeps until the job is done, or until it is its turn to lead; gives the job's error.
  private func wait(with job: Job) -> SQLiteError? {
    state.peek { state in
      // The leader may have left since we looked: then nobody would ever promote us.
      if state.leader == nil {
        state.leader = job.thread
        job.isPromoted = true
      }
      state.queue.append(job)
    }
    let group = state.wait { state -> [Job]? in
      if job.isDone { return [] }
      guard job.isPromoted else { return nil }
      let group = Array(state.queue.prefix(Self.mostInGroup))
      state.queue.removeFirst(group.count)
      return group
    }
    if let group, !group.isEmpty { lead(group) }
    return job.error
  }

  private func lead(_ group: [Job]) {
    defer { handOver(group) }
    guard let seat = state.peek({ $0.seat }) else {
      let closed = SQLiteError(.misuse, "The database is closed.")
      for job in group { job.error = closed }
      return
    }
    do {
      try seat.connection.transaction { (connection) throws(SQLiteError) in
        for job in group { try job.run(on: connection, alone: group.count == 1) }
      }
    } catch {
      // The transaction is gone, and with it what every body did.
      for job in group { job.error = job.error ?? error }
    }
  }

  /// Ends the lead: wakes the group that is done, and the next leader.
  private func handOver(_ group: [Job]) {
    state.withLock { state in
      for job in group { job.finish() }
      state.leader = nil
      // The next one leads in its own thread; until it wakes, newcomers queue behind it.
      guard let next = state.queue.first else { return }
      next.isPromoted = true
      state.leader = next.thread
    }
  }
}

/// One body that waits for its turn.
///
/// `@unchecked Sendable`: its fields are touched with the writer's lock held, except `body` and
/// `error`, which the leader touches before it marks the job as done.
private final class Job: @unchecked Sendable {
  let thread = pthread_self()
  var isPromoted = false
  private(set) var isDone = false
  var error: SQLiteError?
  private var body: ((borrowing Connection) throws(SQLiteError) -> Void)?

  init(_ body: @escaping (borrowing Connection) throws(SQLiteError) -> Void) { self.body = body }

  /// Runs the body so that its failure undoes its own changes only. Throws when the transaction as a
  /// whole is lost.
  func run(on connection: borrowing Connection, alone: Bool) throws(SQLiteError) {
    guard let body else { return }
    if alone { return try body(connection) }
    do {
      try connection.savepoint { () throws(SQLiteError) in try body(connection) }
    } catch {
      self.error = error
      if !connection.isInTransaction { throw error }
    }
  }

  /// Lets its thread go on. The body is dropped first: it lives on that thread's stack.
  func finish() {
    body = nil
    isDone = true
  }
}
