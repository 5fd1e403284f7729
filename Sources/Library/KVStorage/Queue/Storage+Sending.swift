internal import KVBase
internal import KVJSON
internal import KVSQLite
package import KVSync

extension Storage {
  package func beginSending(
    _ writes: [PendingWrite], asOperators: Bool
  ) throws(StoreError) -> [OutgoingWrite] {
    try write(makingRoom: true) { (db: borrowing Connection) throws(SQLiteError) in
      var outgoing: [OutgoingWrite] = []
      outgoing.reserveCapacity(writes.count)
      for write in writes {
        let change = Change(try catalog.entry(write.collection, on: db))
        if let next = try Self.beginSending(write, asOperators: asOperators, change, on: db) {
          outgoing.append(next)
        }
      }
      return outgoing
    }
  }

  /// In one transaction; on a disk that is nearly full in as many as it takes, since confirming is what makes room there.
  package func confirm(_ done: [AcceptedWrite]) throws(StoreError) {
    do throws(StoreError) { try confirmAtOnce(done) } catch {
      guard error.kind == .full, done.count > 1 else { throw error }
      try confirm(Array(done[..<(done.count / 2)]))
      try confirm(Array(done[(done.count / 2)...]))
    }
  }

  private func confirmAtOnce(_ done: [AcceptedWrite]) throws(StoreError) {
    try write(makingRoom: true) { (db: borrowing Connection) throws(SQLiteError) in
      for accepted in done {
        let change = Change(try catalog.entry(accepted.write.collection, on: db))
        try Self.confirm(accepted, change, on: db)
        try Self.settleUnqueued(accepted.write.id, change.table, on: db)
      }
    }
  }

  package func recordFailure(
    _ failed: [(write: PendingWrite, error: StoreError)]
  ) throws(StoreError) {
    try write(makingRoom: true) { (db: borrowing Connection) throws(SQLiteError) in
      for (write, error) in failed {
        let table = try catalog.entry(write.collection, on: db).table
        try db.run(
          "UPDATE pending SET error = \(bind: error.json) WHERE \(table.isUnchanged(write))")
      }
    }
  }

  // MARK: Steps

  private static func beginSending(
    _ write: PendingWrite, asOperators: Bool, _ change: Change, on db: borrowing Connection
  ) throws(SQLiteError) -> OutgoingWrite? {
    let table = change.table
    let count = try db.statement(
      """
      UPDATE pending SET attempts = attempts + 1, sent = iif(sent = 0, revision, sent), last = revision,
      conditional = min(conditional * 2, 2), replaces_unseen = iif(replaces_unseen, min(replaces_unseen + 1, 3), 0)
      WHERE \(table.isUnchanged(write))
      RETURNING operation, attempts, sent, iif(replaces_unseen, ifnull(base, 'null'), NULL), replaces_unseen > 2,
        operators, sent_operators, confirmed IS NULL AND conditional = 0
      """)
    guard try count.step() else { return nil }
    var write = write
    write.operation = .init(number: count.int64(0))
    write.attempts = count.int(1)
    write.isAsFirstSent = count.int64(2) == write.revision
    var outgoing = OutgoingWrite(write: write, body: nil)
    if !count.isNull(3) {
      outgoing.replaced = RemoteVersion(column: try count.copy(3))
      outgoing.mayHaveReplaced = count.int(4) != 0
    }
    let queued = QueuedOperators(operators: count.text(5), sent: count.text(6), table)
    let isFree = count.int(7) != 0
    let get = try db.statement(table.get)
    try get.bind(write.id, at: .id)
    guard try get.step() else {
      return write.operation == .delete ? outgoing : nil
    }
    guard write.operation != .delete else {
      // Damage has made it of another write: it would delete what was to be sent.
      try undeleteAndSetAside(write.id, table, on: db)
      return nil
    }
    // What is damaged is not sent; `pending` says so.
    guard get.isIntact(0) else { return nil }
    outgoing.body = try get.copy(0)
    if let queued {
      outgoing.operators = try takeOperators(
        queued, of: write, asOperators: asOperators, isFree: isFree, now: change.now, table, on: db)
    }
    return outgoing
  }

  /// What the backend's success means, by what has become of the row since it was sent:
  ///
  /// - unchanged: the row has done its work; the backend's entity replaces ours, or ours goes.
  /// - changed: the newer change stays and is sent later. What the backend has now is its base, and a
  ///   create has become an update. After a confirmed deletion the backend has nothing.
  /// - gone: it was dropped or purged, and our entity is taken to be clean: the backend's entity
  ///   replaces it. If the entity is gone as well, it was cleared, and is not brought back.
  private static func confirm(
    _ accepted: AcceptedWrite, _ change: Change, on db: borrowing Connection
  ) throws(SQLiteError) {
    let (write, stored) = (accepted.write, accepted.stored)
    if write.operation == .delete { return try confirmDeletion(accepted, change, on: db) }
    if let token = accepted.operatorsToken,
      try confirmOperators(accepted, token: token, change, on: db)
    {
      return
    }
    if try removeUnchanged(write, change.table, on: db) {
      if let stored { try put(stored, as: write.id, change: change, on: db) }
      return
    }
    if try rebase(write, stored, table: change.table, on: db) { return }
    if let stored, try isNewer(stored, than: write.id, table: change.table, on: db) {
      try replace(stored, of: write.id, change: change, on: db)
    }
  }

  private static func confirmDeletion(
    _ accepted: AcceptedWrite, _ change: Change, on db: borrowing Connection
  ) throws(SQLiteError) {
    let write = accepted.write
    var version = accepted.deletion
    if version == nil { version = try baseVersion(of: write, change.table, on: db) }
    // A deletion past the queue confirms what is queued: perhaps a write that had no answer.
    if try localWrite(of: write.id, change.table, on: db) == .mayBeSent {
      try expectLateWrites(of: write.id, change, on: db)
    }
    if try removeUnchanged(write, change.table, on: db) {
      // Here already, unless the deletion was not the queue's.
      _ = try run(change.table.delete, write.id, on: db)
      return try insertTombstone(
        write.id, version, deleted: version, confirmed: version, change: change, on: db)
    }
    if try rebase(write, nil, table: change.table, on: db) { return }
    let ours = try knownVersion(of: write.id, change.table, on: db)
    _ = try run(change.table.delete, write.id, on: db)
    try insertTombstone(
      write.id, accepted.deletion ?? ours, deleted: accepted.deletion, local: ours, change: change,
      on: db)
  }

  /// The version that a row whose revision is still this one started from, if it is known.
  static func baseVersion(
    of write: PendingWrite, _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> RecordVersion? {
    let statement = try db.statement("SELECT base FROM pending WHERE \(table.isUnchanged(write))")
    guard try statement.step(), !statement.isNull(0) else { return nil }
    return table.format.version(of: try statement.copy(0))
  }

  /// Removes a row whose revision is still this one; false: it was changed, or is gone.
  static func removeUnchanged(
    _ write: PendingWrite, _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    try db.run("DELETE FROM pending WHERE \(table.isUnchanged(write))")
    return db.changes > 0
  }

  /// Makes what the backend has now the base of a row that was changed; false: there is no row.
  static func rebase(
    _ write: PendingWrite, _ stored: [UInt8]?, table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    // A success without an answer says that the backend has it, not what it looks like there.
    guard let stored, write.operation != .delete else {
      return try bindBase(nil, write, table: table, on: db)
    }
    return try stored.withBorrowedBytes { (bytes) throws(SQLiteError) in
      try bindBase(bytes, write, table: table, on: db)
    }
  }

  private static func bindBase(
    _ base: UnsafeRawBufferPointer?, _ write: PendingWrite, table: Table,
    on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    let update = BoundSQL(
      """
      UPDATE pending SET operation = max(operation, 2), base = \(open: ()),
      base_checksum = kv_checksum(\(openAgain: ())), tried = NULL, replaces_unseen = 0, confirmed = NULL,
      conditional = CASE conditional WHEN 2 THEN 0 WHEN 3 THEN 1 ELSE conditional END,
      condition = CASE conditional WHEN 2 THEN NULL
        WHEN 3 THEN nullif(json_extract(condition, '$."$and"[1]'), '{}') ELSE condition END
      WHERE \(table.isEntity(write.id))
      """)
    let statement = try db.statement(update)
    if let base {
      try statement.bind(borrowedText: base, at: update.openIndex)
    } else {
      try statement.bindNull(at: update.openIndex)
    }
    try statement.run()
    return db.changes > 0
  }

  /// Whether the backend's entity is not older than ours: a late answer does not undo what a later
  /// push or pull has stored.
  private static func isNewer(
    _ stored: [UInt8], than id: String, table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    let get = try db.statement(table.get)
    try get.bind(id, at: .id)
    guard try get.step() else { return false }
    let format = table.format
    guard let ours = format.version(of: try get.copy(0)), let theirs = format.version(of: stored)
    else {
      return true
    }
    return !format.isOlder(theirs, than: ours)
  }
}
