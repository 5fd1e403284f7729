internal import CSQLite
internal import Glibc
internal import KVBase

/// The connection that writes, and the queue of those who want to.
///
/// A thread that finds it free leads: it runs its body in a transaction of its own. Threads that come
/// meanwhile queue and sleep. When the leader has committed it hands the lead to the first in the
/// queue, who runs the bodies of all that wait in one transaction and commits once for them:
///
///     A  ├ BEGIN a COMMIT ┤ done
///     B    queued         ├ BEGIN b c d COMMIT ┤ done
///     C      queued         sleeps             │ done
///     D        queued       sleeps             │ done
///
/// So a commit costs one wait for the disk however many savers share it. Each body runs in a savepoint, so that its
/// failure undoes nothing but its own changes. If all bodies of a group can be repeated they run without: when one fails,
/// all is undone and they run once more, in savepoints. Those who have just been served
/// tend to come back at once: the next leader gives them a moment, up to half the time of the last
/// group, so that groups do not fall apart into small ones. A single thread does not wait.
final class Writer: Sendable {
  /// How many bodies share a commit at the most, so that the first one's wait has a bound.
  private static let maxGroupSize = 256
  /// How long a leader waits for others at the most, in nanoseconds.
  private static let longestWait: Int64 = 5_000_000

  private struct State {
    var pooled: PooledConnection?
    /// No new thread is admitted; those in the queue still have their turn.
    var isClosing = false
    /// The thread that leads; nil: the writer is free, and then the queue is empty.
    var leader: pthread_t?
    var queue: [Job] = []
    /// How many shared the last commit, and how long it took, in nanoseconds.
    var lastGroup = 1
    var lastDuration: Int64 = 0
    /// The leader waits for more to come.
    var isGathering = false

    var isGathered: Bool { queue.count >= lastGroup }
  }

  private let state: Monitor<State>
  /// Where the leader waits for others: separate, so that a new thread wakes only the leader.
  private let gathering = Monitor(())
  /// What a commit waits for that is to be durable.
  private let durability: Database.Durability

  init(_ pooled: PooledConnection, _ durability: Database.Durability) {
    state = Monitor(State(pooled: pooled))
    self.durability = durability
  }

  /// Runs `body` in a transaction, alone or with others; see `Database.write`.
  func write<R>(
    durably: Bool, repeatable: Bool, _ body: (borrowing Connection) throws(SQLiteError) -> R
  ) throws(SQLiteError) -> R {
    switch try enter() {
    case .lead(let pooled):
      defer { endLead([]) }
      return try pooled.connection.transaction(durably ? durability : .normal, body)
    case .queue:
      return try queueUp(Job.Kind(isDurable: durably, isRepeatable: repeatable), body)
    }
  }

  /// Runs `body` while no other thread of this process writes, outside of a transaction: for what makes its own, or cannot run
  /// inside of one.
  func withConnection<R>(
    _ body: (borrowing Connection) throws(SQLiteError) -> R
  ) throws(SQLiteError) -> R {
    switch try enter() {
    case .lead(let pooled):
      defer { endLead([]) }
      return try body(pooled.connection)
    case .queue: return try queueUp(Job.Kind(isAlone: true), body)
    }
  }

  /// Takes the lead if it is free.
  private func enter() throws(SQLiteError) -> Entry {
    let me = pthread_self()
    return try state.withLock { (state) throws(SQLiteError) in
      guard let pooled = state.pooled, !state.isClosing else {
        throw SQLiteError(.misuse, "The database is closed.")
      }
      guard let leader = state.leader else {
        guard state.lastGroup == 1 else { return .queue }
        state.leader = me
        return .lead(pooled)
      }
      guard pthread_equal(leader, me) == 0 else {
        throw SQLiteError(.misuse, "A write transaction cannot contain another one.")
      }
      return .queue
    }
  }

  /// Waits for those who are writing or queue to write, then gives the connection up.
  func close() {
    let me = pthread_self()
    state.withLock { $0.isClosing = true }
    let pooled = state.wait { state -> PooledConnection?? in
      // From inside a body there is nothing to wait for: the body holds its connection itself.
      if let leader = state.leader, pthread_equal(leader, me) == 0 { return nil }
      defer { state.pooled = nil }
      return .some(state.pooled)
    }
    withExtendedLifetime(pooled) {}
  }

  private enum Entry {
    case lead(PooledConnection)
    case queue
  }

  // MARK: Groups

  private func queueUp<R>(
    _ kind: Job.Kind, _ body: (borrowing Connection) throws(SQLiteError) -> R
  ) throws(SQLiteError) -> R {
    var result: R?
    // The closure does not outlive this call: it returns only when the job is done.
    let error = withoutActuallyEscaping(body) { body -> SQLiteError? in
      let job = Job(kind) { (connection: borrowing Connection) throws(SQLiteError) in
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
    enqueue(job)
    if job.waitForTurn() == .lead { lead(gather()) }
    return job.error
  }

  private func enqueue(_ job: Job) {
    let wakesLeader = state.withLock { state in
      // The leader may have left since we looked: then we would never be promoted.
      if state.leader == nil {
        state.leader = job.thread
        job.promote()
      }
      state.queue.append(job)
      return state.isGathering && state.isGathered
    }
    if wakesLeader { gathering.withLockNotifyingAll { _ in } }
  }

  /// Takes those who wait, having given those who are about to come a moment.
  private func gather() -> [Job] {
    let pause = state.withLock { state -> Int64 in
      state.isGathering = !state.isGathered
      return state.isGathering ? min(state.lastDuration / 2, Self.longestWait) : 0
    }
    if pause > 0 {
      let deadline = Deadline(nanoseconds: monotonicNanoseconds() &+ pause)
      _ = gathering.wait(until: deadline) { _ in state.withLock { $0.isGathered } ? true : nil }
    }
    return state.withLock { state in
      state.isGathering = false
      // The first is this thread's own: so is the connection, if the job wants it for itself.
      let isAlone = state.queue.first?.kind.isAlone == true
      let shared = state.queue.prefix(Self.maxGroupSize).prefix { !$0.kind.isAlone }
      let group = isAlone ? Array(state.queue.prefix(1)) : Array(shared)
      state.queue.removeFirst(group.count)
      state.lastGroup = group.count
      return group
    }
  }

  private func lead(_ group: [Job]) {
    let start = monotonicNanoseconds()
    run(group)
    endLead(group, after: monotonicNanoseconds() &- start)
  }

  private func run(_ group: [Job]) {
    guard let pooled = state.withLock({ $0.pooled }) else {
      let closed = SQLiteError(.misuse, "The database is closed.")
      for job in group { job.error = closed }
      return
    }
    if let job = group.first, job.kind.isAlone {
      do { try job.run(on: pooled.connection, alone: true) } catch { job.error = error }
      return
    }
    let isDurable = group.contains { $0.kind.isDurable }
    let durability = isDurable ? self.durability : .normal
    if group.count > 1, group.allSatisfy(\.kind.isRepeatable),
      runOnce(group, on: pooled, durability: durability)
    {
      return
    }
    do {
      try pooled.connection.transaction(durability) { (connection) throws(SQLiteError) in
        for job in group { try job.run(on: connection, alone: group.count == 1) }
      }
    } catch {
      // The transaction is gone, and with it what every body did.
      for job in group { job.error = job.error ?? error }
    }
  }

  /// Runs a group without savepoints; false if a body failed, and everything was undone.
  private func runOnce(_ group: [Job], on pooled: PooledConnection, durability: Database.Durability)
    -> Bool
  {
    var failsInBody = false
    do {
      try pooled.connection.transaction(durability) { (connection) throws(SQLiteError) in
        failsInBody = true
        for job in group { try job.run(on: connection, alone: true) }
        failsInBody = false
      }
    } catch {
      if failsInBody { return false }
      for job in group { job.error = error }
    }
    return true
  }

  /// Ends the lead: wakes the group that is done, and the next leader.
  private func endLead(_ group: [Job], after duration: Int64 = 0) {
    state.withLockNotifyingAll { state in
      state.lastDuration = duration
      // The next one leads in its own thread; until it wakes, newcomers queue behind it.
      state.leader = state.queue.first?.thread
      state.queue.first?.promote()
    }
    for job in group { job.finish() }
  }
}

/// One body that waits for its turn.
///
/// `@unchecked Sendable`: `body` and `error` are touched by the leader, before it says that the job is
/// done, and by the job's own thread, after.
private final class Job: @unchecked Sendable {
  enum Turn { case waiting, lead, done }

  /// How a job wants to be run.
  struct Kind {
    var isDurable = false
    var isRepeatable = false
    /// Outside of a transaction, alone.
    var isAlone = false
  }

  let thread = pthread_self()
  let kind: Kind
  var error: SQLiteError?
  private var body: ((borrowing Connection) throws(SQLiteError) -> Void)?
  /// Each waits on a condition of its own, so only the thread that was served wakes.
  private let turn = Monitor(Turn.waiting)

  init(
    _ kind: Kind, _ body: @escaping (borrowing Connection) throws(SQLiteError) -> Void
  ) {
    self.kind = kind
    self.body = body
  }

  /// Sleeps until the job is done, or its thread has to lead.
  func waitForTurn() -> Turn { turn.wait { $0 == .waiting ? nil : $0 } ?? .done }

  /// Makes its thread the leader.
  func promote() { turn.withLockNotifyingAll { $0 = .lead } }

  /// Lets its thread go on. The body is dropped first: it lives on that thread's stack.
  func finish() {
    body = nil
    turn.withLockNotifyingAll { $0 = .done }
  }

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
}
