internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVSQLite
internal import KVServerCore

/// Reads and writes the entities of collections. Safe from any thread.
///
/// Every call is one transaction; a write is durable when it returns.
final class Entities: Sendable {
  let database: Database
  let clock: ServerClock
  let outbox: CommitOrderedQueue
  /// Held while a history is interrupted.
  private let interruption = Monitor(())

  init(_ database: Database, clock: ServerClock, outbox: CommitOrderedQueue) {
    self.database = database
    self.clock = clock
    self.outbox = outbox
  }

  // MARK: Reading

  /// Gives one entity. `collection` nil: it does not exist yet.
  func get(
    _ id: String, in collection: EntityCollection?, for viewer: Viewer
  ) throws(ServerError) -> (body: Payload, modified: Timestamp) {
    let rule = try viewer.rule(for: .read)
    guard let collection else { throw ServerError(.entityNotFound) }
    typealias Found = (body: Payload, modified: Timestamp)
    let found = try Self.storage { () throws(SQLiteError) -> Result<Found, ServerError> in
      try database.withReader { (connection: borrowing Connection) throws(SQLiteError) in
        let select = try connection.statement(
          collection.get(id, RowAccess(rule: rule, user: viewer.user)))
        guard try select.step() else { return .failure(ServerError(.entityNotFound)) }
        guard select.int64(0) != 0 else { return .failure(.forbidden(id)) }
        guard select.hasEntity(2) else {
          return .failure(.damaged(id, in: collection.name))
        }
        let body = Payload(capacity: select.bytes(2).count)
        body.append(select.bytes(2))
        return .success((body, Timestamp(milliseconds: select.int64(1))))
      }
    }
    return try found.get()
  }

  /// How many match; skip and limit do not count here.
  func count(
    _ query: Query, in collection: EntityCollection?, for viewer: Viewer, within budget: WorkBudget,
    note: QueryNote?
  ) throws(ServerError) -> Int {
    let selection = try RowSelection(query, for: viewer, operation: .read, within: budget)
    guard let collection else { return 0 }
    let count = try Self.storage { () throws(SQLiteError) -> Int in
      try database.read(within: budget) {
        (connection: borrowing Connection) throws(SQLiteError) in
        let selection = try selection.planned(in: collection, on: connection, note)
        let select = try connection.statement(collection.count(selection))
        let count = try select.step() ? select.int(0) : 0
        note?.scanned(found: count, by: selection.use)
        return count
      }
    }
    return count
  }

  /// The time of a read, to be taken before everything that decides what it sees.
  func readStart() -> Timestamp {
    if let time = clock.timeToStore() {
      // If that fails the read gets an earlier time, which is as good. What a power failure takes back is a gap.
      _ = try? Self.storage { () throws(SQLiteError) in
        try database.write(durably: false) {
          (connection: borrowing Connection) throws(SQLiteError) in
          try Self.store(time, connection)
        }
        clock.cover(time)
      }
    }
    return clock.readStart()
  }

  // MARK: Parts

  /// Runs `body` in a write transaction, with its time. `collection`: the one whose entities it writes, whose history is given up
  /// if the disk is full; then `body` may run more than once. `isDeletion`: it does nothing but delete.
  func write<R>(
    to collection: EntityCollection? = nil, isDeletion: Bool = false,
    _ body: (borrowing Connection, Timestamp) throws(SQLiteError) -> R
  ) throws(ServerError) -> R {
    try Self.storage { () throws(SQLiteError) -> R in
      do throws(SQLiteError) { return try transaction(body) } catch {
        guard error.kind == .full, let collection else { throw error }
        return try interruptingHistory(of: collection) { (madeRoom) throws(SQLiteError) -> R in
          guard isDeletion || madeRoom else { throw error }
          return try transaction(makingRoom: isDeletion, body)
        }
      }
    }
  }

  private func transaction<R>(
    makingRoom: Bool = false,
    _ body: (borrowing Connection, Timestamp) throws(SQLiteError) -> R
  ) throws(SQLiteError) -> R {
    var (time, stored): (Timestamp?, Int64?)
    defer { if let time { clock.endWrite(time) } }
    let result = try database.write(makingRoom: makingRoom) {
      (connection: borrowing Connection) throws(SQLiteError) in
      if let time { clock.endWrite(time) }
      let now = clock.beginWrite()
      time = now
      stored = clock.timeToStore()
      if let stored { try Self.store(stored, connection) }
      return try body(connection, now)
    }
    if let stored { clock.cover(stored) }
    return result
  }

  /// Runs `body` on a full disk, without the history of a collection, which begins anew afterwards: it takes room, and clients
  /// that need it read everything instead. `body` is told whether there was anything to give up.
  private func interruptingHistory<R>(
    of collection: EntityCollection, _ body: (_ madeRoom: Bool) throws(SQLiteError) -> R
  ) throws(SQLiteError) -> R {
    try interruption.withLock { (_) throws(SQLiteError) -> R in
      guard case .on(let since, let days) = collection.history else { return try body(false) }
      collection.setHistory(from: .on(since: since, days: days), to: .interrupted)
      defer { resumeHistory(of: collection, days: days) }
      return try body((try? forgetHistory(of: collection)) ?? false)
    }
  }

  /// False: there was none.
  private func forgetHistory(of collection: EntityCollection) throws(SQLiteError) -> Bool {
    try transaction(makingRoom: true) { (connection, now) throws(SQLiteError) in
      var count = 0
      for table in [collection.tombstones, collection.formerAccess] {
        try connection.run("DELETE FROM \(sql: table)")
        count += connection.changes
      }
      if count > 0 { try connection.run(collection.beginHistory(after: now)) }
      return count > 0
    }
  }

  /// What has interrupted it has stored since when all is known again. If that cannot be read, clients read everything until
  /// the next start.
  private func resumeHistory(of collection: EntityCollection, days: Int) {
    collection.setHistory(from: .interrupted, to: .starting)
    // After the writes that have not recorded anything.
    let since = try? database.write { (connection: borrowing Connection) throws(SQLiteError) in
      let select = try connection.statement(collection.historySince)
      return try select.step() ? Timestamp(milliseconds: select.int64(0)) : nil
    }
    if let since {
      collection.setHistory(from: .starting, to: .on(since: since, days: days))
    }
  }

  /// Stores what covers the times that reads are given.
  private static func store(
    _ time: Int64, _ connection: borrowing Connection
  ) throws(SQLiteError) {
    try connection.run("UPDATE clock SET latest = max(latest, \(bind: time))")
  }

  /// Writes, and after the commit announces the changes that `body` has noted, in the order of commits.
  func write<R>(
    announcing collection: EntityCollection, isDeletion: Bool = false,
    body: (borrowing Connection, Timestamp, inout LiveChanges) throws(SQLiteError) -> R
  ) throws(ServerError) -> R {
    try outbox.announcing { (begin) throws(ServerError) in
      try write(to: collection, isDeletion: isDeletion) {
        (connection, now) throws(SQLiteError) -> R in
        let number = begin()
        var changes = LiveChanges(rule: collection.permissions.read)
        let result = try body(connection, now, &changes)
        try outbox.prepare(
          .changes(changes), for: collection.name, of: collection.app, as: number, on: connection)
        return result
      }
    }
  }

  /// Turns errors of the database into what a client may know.
  static func storage<R>(_ body: () throws(SQLiteError) -> R) throws(ServerError) -> R {
    do throws(SQLiteError) { return try body() } catch { throw ServerError(error) }
  }
}

extension ServerError {
  init(_ error: SQLiteError) {
    switch error.kind {
    case .evaluation: self.init(.invalidQuerySyntax, error.message)
    case .corrupt, .misuse, .key: self.init(.internalErrorStop, cause: "\(error)")
    case .full, .busy, .readOnly, .invalid, .io, .constraint, .interrupted, .rolledBack, .other:
      self.init(.internalErrorRetry, cause: "\(error)")
    }
  }
}
