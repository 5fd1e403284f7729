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
    let rule: Permissions.Rule
    do throws(ServerError) { rule = try viewer.rule(for: write.operation) } catch {
      return .failure(error)
    }
    let result: Result<WrittenEntity?, ServerError>
    switch write {
    case .create(let draft):
      let acl = Self.owned(draft.acl ?? ACL(), by: viewer)
      result = try Self.insert(
        draft, acl, collection: collection, on: connection, at: clock.creationTime(now)
      ).map { $0 }
    case .put(let draft, let condition):
      let found = try Self.look(draft.id, in: collection, rule: rule, for: viewer, on: connection) {
        StoredRow($0)
      }
      result = try put(
        draft, over: found, if: condition, in: collection, for: viewer, on: connection, at: now)
    case .delete(let id, let condition):
      let found = try Self.look(id, in: collection, rule: rule, for: viewer, on: connection) {
        (row: $0.int64(1), modified: Timestamp(milliseconds: $0.int64(4)))
      }
      return try delete(
        id, found, if: condition, from: collection, on: connection, at: now, changes: &changes)
    }
    if case .success(let written?) = result {
      try Self.record(
        written.id, written.isNew ? .create(body: written.body) : .update(body: written.body),
        for: written.acl, in: collection, on: connection, changes: &changes)
    }
    return result
  }

  /// The result of looking up an id in order to write to it.
  private enum Found<Row> {
    case nothing
    case forbidden
    case row(Row)
  }

  private static func look<Row>(
    _ id: String, in collection: EntityCollection, rule: Permissions.Rule, for viewer: Viewer,
    on connection: borrowing Connection, read: (borrowing Statement) -> Row
  ) throws(SQLiteError) -> Found<Row> {
    let look = try connection.statement(
      collection.look(id, RowAccess(rule: rule, isWriting: true, user: viewer.user)))
    guard try look.step() else { return .nothing }
    return look.int64(0) != 0 ? .row(read(look)) : .forbidden
  }

  /// Creates the entity or replaces it.
  private func put(
    _ draft: EntityDraft, over found: Found<StoredRow>, if condition: Precondition,
    in collection: EntityCollection, for viewer: Viewer, on connection: borrowing Connection,
    at now: Timestamp
  ) throws(SQLiteError) -> Result<WrittenEntity?, ServerError> {
    var stored: StoredRow?
    do throws(ServerError) {
      switch found {
      case .nothing:
        try condition.check(nil)
        _ = try viewer.rule(for: .create)
      case .forbidden: throw Self.forbidden(draft.id)
      case .row(let row):
        try condition.check(row.modified)
        stored = row
      }
    } catch {
      return .failure(error)
    }
    guard let stored else {
      let acl = Self.owned(draft.acl ?? ACL(), by: viewer)
      return try Self.insert(
        draft, acl, collection: collection, on: connection, at: clock.creationTime(now)
      ).map { $0 }
    }
    return .success(
      try update(stored, draft, collection: collection, for: viewer, on: connection, at: now))
  }

  private func delete(
    _ id: String, _ found: Found<(row: Int64, modified: Timestamp)>, if condition: Precondition,
    from collection: EntityCollection, on connection: borrowing Connection, at now: Timestamp,
    changes: inout LiveChanges
  ) throws(SQLiteError) -> Result<WrittenEntity?, ServerError> {
    switch found {
    case .nothing: return .failure(ServerError(.entityNotFound))
    case .forbidden: return .failure(Self.forbidden(id))
    case .row(let stored):
      do throws(ServerError) { try condition.check(stored.modified) } catch {
        return .failure(error)
      }
      let time = clock.deletionTime(now, after: stored.modified)
      try Self.remove([stored.row], from: collection, on: connection, at: time, changes: &changes)
      return .success(nil)
    }
  }

  // MARK: Rows

  /// The stored version of an entity that is about to be replaced.
  struct StoredRow {
    let row: Int64
    let creator: String
    let created: Timestamp
    let modified: Timestamp
    let body: [UInt8]
    /// Whether the body is what was stored.
    let isIntact: Bool

    init(_ look: borrowing Statement) {
      row = look.int64(1)
      creator = look.text(2) ?? ""
      created = Timestamp(milliseconds: look.int64(3))
      modified = Timestamp(milliseconds: look.int64(4))
      body = look.copy(5)
      isIntact = look.hasEntity(5)
    }
  }

  /// Deletes rows, and keeps what they were if the collection has a history. That is looked up here,
  /// inside the transaction: a history that starts meanwhile must miss none.
  static func remove(
    _ rows: [Int64], from collection: EntityCollection, on connection: borrowing Connection,
    at now: Timestamp, changes: inout LiveChanges
  ) throws(SQLiteError) {
    let isRecorded = collection.history != .off
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
      if isRecorded { try run(collection.addTombstone(at: now), with: row, on: connection) }
      try run(collection.deleteRow, with: row, on: connection)
    }
  }

  static func insert(
    _ draft: EntityDraft, _ acl: ACL, collection: EntityCollection,
    on connection: borrowing Connection,
    at now: Timestamp
  ) throws(SQLiteError) -> Result<WrittenEntity, ServerError> {
    let body = draft.body(acl, created: now, modified: now)
    let head = RowHead(acl: acl, created: now, modified: now)
    try run(collection.insert(draft.id, head), with: body, on: connection)
    guard connection.changes == 1 else {
      return .failure(
        ServerError(
          .internalErrorRetry, "An entity with that _id already exists in this collection"))
    }
    return .success(WrittenEntity(id: draft.id, body: body, acl: acl, modified: now, isNew: true))
  }

  func update(
    _ stored: StoredRow, _ draft: EntityDraft, collection: EntityCollection, for viewer: Viewer,
    on connection: borrowing Connection, at now: Timestamp
  ) throws(SQLiteError) -> WrittenEntity {
    // A damaged body must not let anybody in.
    var acl = draft.acl ?? (stored.isIntact ? ACL(of: stored.body) : ACL())
    // Only the administrator may give an entity to somebody else.
    if viewer.principal != .master || acl.creator.isEmpty { acl.creator = stored.creator }
    let modified = clock.time(now, after: stored.modified)
    let body = draft.body(acl, created: stored.created, modified: modified)
    let head = RowHead(acl: acl, created: stored.created, modified: modified)
    // Looked up here, inside the transaction, as `remove` does it.
    if draft.acl != nil, collection.history != .off {
      try connection.run(collection.recordAccess(stored.row, replacedBy: head))
    }
    try Self.run(collection.update(stored.row, head), with: body, on: connection)
    return WrittenEntity(id: draft.id, body: body, acl: acl, modified: modified, isNew: false)
  }

  /// Adds a change for live data, with the present members of groups among those who may read.
  private static func record(
    _ id: String, _ what: LiveChange.What, for acl: ACL,
    in collection: EntityCollection, on connection: borrowing Connection,
    changes: inout LiveChanges
  ) throws(SQLiteError) {
    guard !changes.isFull else { return changes.cut() }
    var acl = acl
    acl.readers = try users(acl.readers, acl.groupReaders, of: collection.app, on: connection)
    acl.writers = try users(acl.writers, acl.groupWriters, of: collection.app, on: connection)
    changes.add(LiveChange(id: id, what, acl: acl))
  }

  /// Users, and the members of groups.
  private static func users(
    _ ids: [String], _ groups: [String], of app: Int64, on connection: borrowing Connection
  ) throws(SQLiteError) -> [String] {
    var users = ids.filter { ACL.group(in: $0) == nil }
    for group in ids.compactMap({ ACL.group(in: $0) }) + groups {
      users += try UserGroups.members(of: group, app: app, on: connection)
    }
    return users
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

  /// The `_acl` of a new entity: its creator is who creates it, unless the administrator names one.
  private static func owned(_ acl: ACL, by viewer: Viewer) -> ACL {
    var acl = acl
    if viewer.principal != .master || acl.creator.isEmpty { acl.creator = viewer.owner }
    return acl
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

  /// The character that tells ids of groups from those of users in columns. No id has it.
  private static let groupMark = "\u{1}"

  /// The text of a column `readers` or `writers`; nil: nobody.
  static func column(_ users: [String], groups: [String]) -> String? {
    let ids = users.filter { group(in: $0) == nil } + groups.map { groupMark + $0 }
    return ids.isEmpty ? nil : list(ids)
  }

  /// The group that a marked id names; nil: it is a user's.
  fileprivate static func group(in id: String) -> String? {
    id.utf8.first == groupMark.utf8.first ? String(Substring(id.utf8.dropFirst())) : nil
  }

  private static func ids(_ list: String?) -> [String] {
    let value = list.flatMap { try? JSONValue(parsing: $0) }
    return value?.arrayValue?.compactMap(\.stringValue) ?? []
  }
}
