internal import KVBase
internal import KVServerCore

/// Writes entities for many callers at once: requests of an app that come while others of it are carried out gather, and are then
/// carried out in one transaction. They could only have followed one another; so they wait for the disk together. Safe from any
/// thread; callers wait.
///
/// They have the time of the transaction, as the writes of one request have: no reader sees some of them only.
final class SharedWriter: Sendable {
  typealias Results = Result<[Result<WrittenEntity?, ServerError>], ServerError>

  /// The writes of one request, to one collection.
  struct Job: Sendable {
    let key: CollectionKey
    let claim: Claim
    let writes: [Result<EntityWrite, ServerError>]

    fileprivate var ids: [String] { writes.compactMap { try? $0.get().id } }

    /// What it has to know: the collection, the rows that it may meet, and what is known of its tokens, if it has any.
    fileprivate var reading: [SQL] {
      [
        CollectionState.select(key, for: claim, [.indexes, .listeners]),
        StoredRow.select(ids, in: key),
      ] + [WriteTokens.select(writes, in: key)].compactMap { $0 }
    }
  }

  /// A job whose caller waits.
  private final class Ticket: Sendable {
    enum Turn {
      case waiting
      /// The caller carries it out, with those that wait behind it.
      case leads
      case done(Results)
    }

    let job: Job
    let turn = Monitor(Turn.waiting)

    init(_ job: Job) { self.job = job }

    func end(with results: Results) { turn.withLockNotifyingAll { $0 = .done(results) } }
  }

  private struct Line {
    var waiting: [Ticket] = []
    /// How many are being carried out.
    var running = 1
  }

  private struct Row: Hashable {
    let collection: RecordID
    let id: RecordID
  }

  /// How many requests, and how many writes, go together at the most: fewer than a time has room for their messages.
  private static let maxTogether = 32
  private static let maxRows = 2_000

  private let writer: AppWriter
  private let collections: PostgresCollections
  /// Of each app for which something is being carried out.
  private let lines = Monitor([Int64: Line]())

  init(_ writer: AppWriter, _ collections: PostgresCollections) {
    self.writer = writer
    self.collections = collections
  }

  /// How many requests of an app are being carried out, or wait for that.
  func count(of app: Int64) -> Int {
    lines.withLock { lines in lines[app].map { $0.running + $0.waiting.count } ?? 0 }
  }

  /// Carries out the writes of a request in one transaction, each on its own. Gives what each has stored.
  func perform(_ job: Job) throws(ServerError) -> [Result<WrittenEntity?, ServerError>] {
    let ticket = Ticket(job)
    if !begins(ticket) {
      let results = ticket.turn.wait { turn -> Results?? in
        switch turn {
        case .waiting: nil
        case .leads: .some(nil)
        case .done(let results): .some(results)
        }
      }
      if let results = results ?? nil { return try results.get() }
    }
    let group = [ticket] + takeOthers(for: ticket)
    var outage: PostgresError?
    let results = carryOut(group.map(\.job), &outage)
    if let outage { giveUp(job.key.app, outage) } else { handOver(job.key.app) }
    for (other, results) in zip(group, results).dropFirst() { other.end(with: results) }
    return try results[0].get()
  }

  // MARK: Turns

  /// True: nothing is carried out for its app. Else it waits from now on.
  private func begins(_ ticket: Ticket) -> Bool {
    lines.withLock { lines in
      let app = ticket.job.key.app
      if lines[app]?.waiting.append(ticket) != nil { return false }
      lines[app] = Line()
      return true
    }
  }

  /// Takes those that can go together with one: none writes what another one writes, as each has read what is there before.
  private func takeOthers(for first: Ticket) -> [Ticket] {
    lines.withLock { lines in
      let app = first.job.key.app
      guard let all = lines[app]?.waiting, !all.isEmpty else { return [] }
      var rows = Set<Row>()
      _ = Self.add(first.job, to: &rows)
      let others = all.prefix(Self.maxTogether - 1).prefix { Self.add($0.job, to: &rows) }
      lines[app]?.waiting.removeFirst(others.count)
      lines[app]?.running += others.count
      return Array(others)
    }
  }

  /// False: it has one of these rows, or there would be too many.
  private static func add(_ job: Job, to rows: inout Set<Row>) -> Bool {
    let own = job.ids.map { Row(collection: RecordID(job.key.name), id: RecordID($0)) }
    guard rows.isDisjoint(with: own), rows.count + own.count <= maxRows else { return false }
    rows.formUnion(own)
    return true
  }

  /// Lets the next one that waits go on.
  private func handOver(_ app: Int64) {
    let next = lines.withLock { lines -> Ticket? in
      guard lines[app]?.waiting.isEmpty == false else {
        lines[app] = nil
        return nil
      }
      lines[app]?.running = 1
      return lines[app]?.waiting.removeFirst()
    }
    next?.turn.withLockNotifyingAll { $0 = .leads }
  }

  /// Fails all that wait: each would wait as long as the one before it to find out that there is no database.
  private func giveUp(_ app: Int64, _ error: PostgresError) {
    let all = lines.withLock { lines in lines.removeValue(forKey: app)?.waiting ?? [] }
    for ticket in all { ticket.end(with: .failure(ServerError(error))) }
  }

  // MARK: Work

  /// `outage`: why nothing can be written at all; then nothing else is tried.
  private func carryOut(_ jobs: [Job], _ outage: inout PostgresError?) -> [Results] {
    if let outage { return jobs.map { _ in .failure(ServerError(outage)) } }
    do throws(PostgresError) { return try transact(jobs) } catch {
      // One that fails takes the others along; nothing was stored.
      guard jobs.count > 1, !error.endsConnection else {
        if error.isOutage { outage = error }
        return jobs.map { _ in .failure(ServerError(error)) }
      }
      return jobs.flatMap { carryOut([$0], &outage) }
    }
  }

  private func transact(_ jobs: [Job]) throws(PostgresError) -> [Results] {
    // Among several, a caller without a session finds that out with the collection.
    let claim = jobs.count == 1 ? jobs[0].claim : .principal(.master)
    let reading = jobs.map(\.reading)
    return try writer.transact(
      app: jobs[0].key.app, for: claim, reading: Array(reading.joined())
    ) { (transaction, rows) throws(PostgresError) in
      var transaction = transaction
      var results: [Results] = []
      var rest = rows[...]
      for (index, job) in jobs.enumerated() {
        let rows = Array(rest.prefix(reading[index].count))
        rest = rest.dropFirst(rows.count)
        var state = rows[0]
        if index > 0, collections.state(job.key, state, for: job.claim).number == nil {
          // One before it may have made the collection.
          state = try transaction.run(reading[index][0])
        }
        results.append(try perform(job, over: Array(rows[1...]), state, in: &transaction))
      }
      return results
    }
  }

  /// `rows`: those that it may meet, then those of tokens; `state`: what was read of the collection.
  private func perform(
    _ job: Job, over rows: [ResultRows], _ state: ResultRows,
    in transaction: inout AppWriter.Transaction
  ) throws(PostgresError) -> Results {
    var state = collections.state(job.key, state, for: job.claim)
    let viewer: Viewer
    do throws(ServerError) { viewer = try state.viewer() } catch { return .failure(error) }
    if state.number == nil, job.writes.contains(where: { (try? $0.get().mayCreate) == true }) {
      state = try collections.make(state, in: transaction)
    }
    guard let number = state.number else {
      return .success(job.writes.map { $0.flatMap { _ in .failure(ServerError(.entityNotFound)) } })
    }
    var entities = EntityWriter(transaction, state, number: number, stored: rows[0])
    entities.tokens = WriteTokens(job.key, rows.count > 1 ? rows[1] : nil)
    var results: [Result<WrittenEntity?, ServerError>] = []
    for write in job.writes {
      switch write {
      case .failure(let error): results.append(.failure(error))
      case .success(let write): results.append(try entities.perform(write, for: viewer))
      }
    }
    transaction.messages += entities.announce()
    return .success(results)
  }
}
