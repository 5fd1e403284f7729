internal import KVBase
internal import KVJSON
internal import KVSQLite
internal import KVServerCore

/// The statements that writes run, inside their transaction.
extension Entities {
  // MARK: One write

  func perform(
    _ write: EntityWrite, in collection: EntityCollection, for viewer: Viewer,
    on connection: borrowing Connection, at now: Timestamp, changes: inout LiveChanges
  ) throws(SQLiteError) -> Result<WrittenEntity?, ServerError> {
    let log = WriteTokens(collection, viewer)
    if let token = write.token, let done = try log.find(token, of: write.id, on: connection) {
      return try answer(done, to: write.id, in: collection, for: viewer, on: connection)
    }
    var stored = StoredEntity.missing
    var row: Int64 = 0
    let step: WriteStep
    switch viewer.access(for: write) {
    case .failure(let error): return .failure(error)
    case .success(let access?):
      let look = try connection.statement(collection.look(write.id, access))
      (stored, row) = try Self.stored(look, isDelete: write.isDelete)
    case .success(nil): break
    }
    do throws(ServerError) {
      step = try write.step(over: stored, for: viewer, at: RowTimes(clock: clock, now: now))
    } catch {
      return .failure(error)
    }
    let result = try carryOut(
      step, write.id, row: row, in: collection, on: connection, changes: &changes)
    if let token = write.token, case .success = result {
      try log.add(step.done, token, of: write.id, on: connection)
    }
    return result
  }

  /// The answer to a write that was carried out before.
  private func answer(
    _ done: DoneWrite, to id: String, in collection: EntityCollection, for viewer: Viewer,
    on connection: borrowing Connection
  ) throws(SQLiteError) -> Result<WrittenEntity?, ServerError> {
    func look(_ access: RowAccess) throws(SQLiteError) -> StoredVersion? {
      let rows = try connection.statement(collection.look(id, access))
      guard case .found(let version) = try Self.stored(rows, isDelete: false).0 else { return nil }
      return version
    }
    let stored = try look(RowAccess(rule: .always, user: ""))
    let readable = try viewer.accessToRead.flatMap(look)
    return done.answer(id, stored: stored, mayRead: readable != nil, in: collection.name)
  }

  /// What a look-up in order to write has found, and the number of its row.
  private static func stored(
    _ look: borrowing Statement, isDelete: Bool
  ) throws(SQLiteError) -> (StoredEntity, row: Int64) {
    guard try look.step() else { return (.missing, 0) }
    guard look.int64(0) != 0 else { return (.forbidden, 0) }
    return (
      .found(isDelete ? StoredVersion(deleting: look) : try StoredVersion(look)), look.int64(1)
    )
  }

  private func carryOut(
    _ step: WriteStep, _ id: String, row: Int64, in collection: EntityCollection,
    on connection: borrowing Connection, changes: inout LiveChanges
  ) throws(SQLiteError) -> Result<WrittenEntity?, ServerError> {
    let (record, what): (EntityRecord, LiveChange.What)
    switch step {
    case .insert(let new):
      guard try Self.insert(new, collection: collection, on: connection) else {
        return .failure(.alreadyExists)
      }
      (record, what) = (new, .create(body: new.body))
    case .update(let new, let changesAccess):
      let former = changesAccess ? try Self.acl(of: row, in: collection, on: connection) : nil
      try Self.update(
        row, new, changesAccess: changesAccess, collection: collection, on: connection)
      if let former, former.differs(from: new.acl) {
        try Self.record(
          id, .revoke(at: new.modified), for: former, except: new.acl, in: collection,
          on: connection, changes: &changes)
      }
      (record, what) = (new, .update(body: new.body))
    case .delete(let time):
      try Self.remove([row], from: collection, on: connection, at: time, changes: &changes)
      return .success(nil)
    }
    try Self.record(id, what, for: record.acl, in: collection, on: connection, changes: &changes)
    if case .insert = step { return .success(record.written(isNew: true)) }
    return .success(record.written(isNew: false))
  }

  // MARK: Rows

  /// The times of a transaction that began at `now`.
  struct RowTimes: WriteTimes {
    let clock: ServerClock
    let now: Timestamp

    func creation() -> Timestamp { clock.creationTime(now) }
    func change(after previous: Timestamp) -> Timestamp { clock.time(now, after: previous) }
    func deletion(after previous: Timestamp) -> Timestamp {
      clock.deletionTime(now, after: previous)
    }
  }

  /// Deletes rows, and keeps what they were if the collection has a history. That is looked up here,
  /// inside the transaction: a history that starts meanwhile must miss none. One that is interrupted begins afterwards.
  static func remove(
    _ rows: [Int64], from collection: EntityCollection, on connection: borrowing Connection,
    at now: Timestamp, changes: inout LiveChanges
  ) throws(SQLiteError) {
    let history = collection.history
    let isRecorded = history != .off && history != .interrupted
    if history == .interrupted {
      try connection.run(collection.beginHistory(after: now))
    }
    let selecting = BoundSQL(collection.access)
    let access = try connection.statement(selecting)
    for row in rows {
      try access.bind(row, at: selecting.openIndex)
      if try access.step() {
        let (id, acl) = (access.text(0) ?? "", ACL(access, from: 1))
        access.reset()
        try record(
          id, .delete(at: now), for: acl, in: collection, on: connection, changes: &changes)
      }
      access.reset()
      if isRecorded { try run(collection.tombstoneInsertion(at: now), with: row, on: connection) }
      try run(collection.deleteRow, with: row, on: connection)
    }
  }

  /// False: there is one of this id.
  static func insert(
    _ record: EntityRecord, collection: EntityCollection, on connection: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    try run(
      collection.insert(record.id, RowHead(record)), with: record.body, on: connection)
    return connection.changes == 1
  }

  static func update(
    _ row: Int64, _ record: EntityRecord, changesAccess: Bool, collection: EntityCollection,
    on connection: borrowing Connection
  ) throws(SQLiteError) {
    let head = RowHead(record)
    // Looked up here, inside the transaction, as `remove` does it.
    if changesAccess, collection.history != .off {
      try connection.run(collection.recordAccess(row, replacedBy: head))
    }
    try run(collection.update(row, head), with: record.body, on: connection)
  }

  /// The access list of a row.
  private static func acl(
    of row: Int64, in collection: EntityCollection, on connection: borrowing Connection
  ) throws(SQLiteError) -> ACL? {
    let selecting = BoundSQL(collection.access)
    let access = try connection.statement(selecting)
    try access.bind(row, at: selecting.openIndex)
    defer { access.reset() }
    return try access.step() ? ACL(access, from: 1) : nil
  }

  /// Adds a change for live data.
  private static func record(
    _ id: String, _ what: LiveChange.What, for acl: ACL, except others: ACL? = nil,
    in collection: EntityCollection, on connection: borrowing Connection,
    changes: inout LiveChanges
  ) throws(SQLiteError) {
    guard let groups = changes.groups(of: acl, except: others) else { return }
    var members: [(group: String, user: String)] = []
    if !groups.isEmpty {
      let select = try connection.statement(
        MemberStatements.users(inAny: groups, app: collection.app))
      while try select.step() { members.append((select.text(0) ?? "", select.text(1) ?? "")) }
    }
    changes.add(id, what, acl: acl, except: others, members: members)
  }

  /// Runs a statement that leaves a body open.
  static func run(
    _ fragment: SQLFragment, with body: [UInt8], on connection: borrowing Connection
  ) throws(SQLiteError) {
    let sql = BoundSQL(fragment)
    let statement = try connection.statement(sql)
    try body.withBorrowedBytes { (bytes) throws(SQLiteError) in
      try statement.bind(borrowedText: bytes, at: sql.openIndex)
      try statement.run()
    }
  }

  /// Runs a statement that leaves the number of a row open.
  static func run(
    _ fragment: SQLFragment, with row: Int64, on connection: borrowing Connection
  ) throws(SQLiteError) {
    let sql = BoundSQL(fragment)
    let statement = try connection.statement(sql)
    try statement.bind(row, at: sql.openIndex)
    try statement.run()
  }
}

extension StoredVersion {
  /// Reads what `EntityCollection.look` selects.
  init(_ look: borrowing Statement) throws(SQLiteError) {
    self.init(
      creator: look.text(2) ?? "", created: Timestamp(milliseconds: look.int64(3)),
      modified: Timestamp(milliseconds: look.int64(4)), body: try look.copy(5),
      isIntact: look.hasEntity(5))
  }

  /// Reads the part of the row that a deletion needs.
  init(deleting look: borrowing Statement) {
    self.init(modified: Timestamp(milliseconds: look.int64(4)))
  }
}

extension ACL {
  /// Reads the columns `creator` to `writers`.
  fileprivate init(_ row: borrowing Statement, from column: Int32) {
    self.init()
    creator = row.text(column) ?? ""
    everybodyReads = row.isNull(column + 1) ? nil : row.int64(column + 1) != 0
    everybodyWrites = row.isNull(column + 2) ? nil : row.int64(column + 2) != 0
    readers = Self.ids(row.text(column + 3))
    writers = Self.ids(row.text(column + 4))
  }

  private static func ids(_ list: String?) -> [String] {
    let value = list.flatMap { try? JSONValue(parsing: $0) }
    return value?.arrayValue?.compactMap(\.stringValue) ?? []
  }
}
