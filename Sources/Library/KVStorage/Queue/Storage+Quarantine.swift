internal import KVBase
internal import KVJSON
internal import KVSQLite
package import KVSync

/// Writes that were set aside, and what becomes of those that have met another version on the backend.
extension Storage {
  package func quarantine(_ refused: [QuarantinedWrite]) throws(StoreError) {
    try write { (db: borrowing Connection) throws(SQLiteError) in
      for entry in refused {
        let table = try catalog.entry(entry.write.collection, on: db).table
        let theirs = entry.theirs.map { String(decoding: $0.column, as: UTF8.self) }
        // What the backend had confirmed, has lost and does not take from this user is listed as before.
        if entry.state == .refused {
          try db.run(
            """
            UPDATE pending SET error = \(bind: entry.error.json), state = 3, remote = ifnull(base, 'null')
            WHERE \(table.isUnchanged(entry.write)) AND confirmed <> '' AND confirmed <> \(bind: PendingWrite.ofOtherData)
            """)
          if db.changes > 0 { continue }
        }
        try db.run(
          """
          UPDATE pending SET error = \(bind: entry.error.json), state = \(bind: entry.state.number),
          remote = \(bind: theirs), tried = iif(\(bind: entry.state.number) = 2, NULL, tried)
          WHERE \(table.isUnchanged(entry.write))
          """)
      }
    }
  }

  package func acceptRemote(
    _ settled: [(write: PendingWrite, theirs: RemoteVersion)]
  ) throws(StoreError) {
    try write { (db: borrowing Connection) throws(SQLiteError) in
      for (write, theirs) in settled {
        let change = Change(try catalog.entry(write.collection, on: db))
        let version = try Self.baseVersion(of: write, change.table, on: db)
        try Self.settleUnqueued(write.id, change.table, on: db)
        guard try Self.removeUnchanged(write, change.table, on: db) else {
          _ = try Self.rebase(write, theirs.bytes, table: change.table, on: db)
          continue
        }
        try Self.replaceEntity(write.id, by: theirs.bytes, change: change, on: db)
        if theirs == .gone {
          try Self.insertTombstone(write.id, version, deleted: version, change: change, on: db)
        }
      }
    }
  }

  package func rebase(
    _ write: PendingWrite, onto theirs: RemoteVersion, as new: RebasedChange, replacesUnseen: Bool
  ) throws(StoreError) -> Bool {
    try self.write(to: write.collection) { (db, change) throws(SQLiteError) in
      let base = theirs.bytes.map { String(decoding: $0, as: UTF8.self) }
      let revision = new == .unchanged ? write.revision : Identifier.revision()
      let isChanged: Int64 = new == .unchanged ? 0 : 1
      var queued: QueuedOperators?
      if case .operated = new {
        queued = try QueuedOperators(write.id, change.table, on: db)?.reopened(change.table)
      }
      try db.run(
        """
        UPDATE pending SET base = \(bind: base), base_checksum = kv_checksum(\(bind: base)),
        operation = \(bind: new.operation(of: write).number), revision = \(bind: revision),
        state = 0, remote = NULL, tried = NULL, condition = NULL, operators = NULL, sent_operators = NULL,
        replaces_unseen = \(bind: replacesUnseen ? 1 : 0),
        confirmed = iif(confirmed NOT NULL AND \(bind: isChanged), '', nullif(confirmed, \(bind: PendingWrite.ofOtherData)))
        WHERE \(change.table.isUnchanged(write))
        """)
      guard db.changes > 0 else { return false }
      try Self.settleUnqueued(write.id, change.table, on: db)
      switch new {
      case .unchanged: break
      case .replaced(let body): try Self.replaceEntity(write.id, by: body, change: change, on: db)
      case .operated(let body):
        try queued?.write(of: write.id, change.table, on: db)
        try Self.replaceEntity(write.id, by: body, change: change, on: db)
      case .deleted: try Self.replaceEntity(write.id, by: nil, change: change, on: db)
      }
      return true
    }
  }

  package func releasePending(_ id: String, in collection: String) throws(StoreError) -> Bool {
    try write(to: collection) { (db, change) throws(SQLiteError) in
      try db.run("UPDATE pending SET \(sql: Self.releasing) WHERE \(change.table.isEntity(id))")
      return db.changes > 0
    }
  }

  package func releaseQuarantined(in collection: String) throws(StoreError) {
    try write(to: collection) { (db, change) throws(SQLiteError) in
      try db.run(
        """
        UPDATE pending SET \(sql: Self.releasing)
        WHERE collection = \(bind: change.table.number) AND state > 0
        """)
    }
  }

  package func revertPending(_ id: String, in collection: String) throws(StoreError) -> Bool {
    try write(to: collection) { (db, change) throws(SQLiteError) in
      let statement = try db.statement(
        """
        DELETE FROM pending WHERE \(change.table.isEntity(id)) RETURNING base, base_checksum, id, remote
        """)
      guard try statement.step() else { return false }
      let isNoted = !statement.isNull(3)
      var known: RemoteVersion?
      if isNoted {
        known = RemoteVersion(column: try statement.copy(3))
      } else if !statement.isNull(0) {
        known = .entity(
          try [UInt8](change.table.body(of: statement), or: SQLiteError.noMemory))
      }
      statement.reset()
      try Self.forgetRequests(change.table, db)
      try Self.expectNothing(of: id, change.table, on: db)
      try Self.replaceEntity(id, by: known?.bytes, change: change, on: db)
      // What the change started from may itself be something that was given up.
      if !isNoted { try Self.forgetVersion(of: id, change, on: db) }
      return true
    }
  }

  // MARK: Steps

  /// Makes an entity what it is on the backend; nil: it is gone there.
  private static func replaceEntity(
    _ id: String, by body: [UInt8]?, change: Change, on db: borrowing Connection
  ) throws(SQLiteError) {
    if let body {
      try put(body, as: id, change: change, on: db)
    } else {
      _ = try run(change.table.delete, id, on: db)
    }
  }

  /// Notes what a read has shown of an entity whose write is set aside: the write itself is left alone.
  static func record(
    _ theirs: UnsafeRawBufferPointer?, of id: String, table: Table, on db: borrowing Connection
  ) throws(SQLiteError) {
    let update = BoundSQL(
      "UPDATE pending SET remote = \(open: ()) WHERE \(table.isEntity(id)) AND state > 0")
    let statement = try db.statement(update)
    if let theirs {
      try statement.bind(borrowedText: theirs, at: update.openIndex)
    } else {
      try statement.bind("null", at: update.openIndex)
    }
    try statement.run()
  }

  /// What takes a write out of quarantine: the version that it met is what it changes from now on.
  static let releasing = """
    state = 0, base = iif(state >= 2 AND remote NOT NULL, nullif(remote, 'null'), base),
    base_checksum = iif(state >= 2 AND remote NOT NULL, kv_checksum(nullif(remote, 'null')), base_checksum),
    operation = iif(state >= 2 AND remote NOT NULL, max(operation, 2), operation), remote = NULL,
    condition = iif(state = 2, NULL, condition), replaces_unseen = iif(state = 2, 0, replaces_unseen)
    """
}

extension RebasedChange {
  /// The operation that is sent after the rebase. A create whose id is taken can only be an update.
  fileprivate func operation(of write: PendingWrite) -> PendingWrite.Operation {
    switch self {
    case .unchanged: write.operation == .delete ? .delete : .update
    case .replaced, .operated: .update
    case .deleted: .delete
    }
  }
}

extension RemoteVersion {
  private static let nothing = Array("null".utf8)

  /// How the table writes it.
  var column: [UInt8] { bytes ?? Self.nothing }

  init(column: [UInt8]) { self = column == Self.nothing ? .gone : .entity(column) }

  /// Several of them with commas in between.
  fileprivate static func list(_ column: [UInt8]) throws(SQLiteError) -> [RemoteVersion] {
    try Memory.require(2 * column.count, or: SQLiteError.noMemory)
    var array = JSONArrayWriter(reservingCapacity: column.count + 2)
    array.add(json: column)
    return array.finish().withBorrowedBytes { bytes in
      var versions: [RemoteVersion] = []
      guard var cursor = try? ElementCursor(ByteScanner(bytes), at: 0) else { return versions }
      while let range = try? cursor.next() {
        versions.append(RemoteVersion(column: Array(bytes[range])))
      }
      return versions
    }
  }
}

extension Statement {
  /// The versions that a column has with commas in between; none for NULL.
  func versions(_ column: Int32) throws(SQLiteError) -> [RemoteVersion] {
    try isNull(column) ? [] : RemoteVersion.list(copy(column))
  }
}
