internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVSQLite

/// Creating, replacing and deleting.
extension Entities {
  /// What a write left behind.
  struct Written: Sendable {
    var id: String
    var body: [UInt8]
    var modified: Timestamp
    /// False: an older version was replaced.
    var isNew: Bool
  }

  /// Inserts entities, each on its own: one that is refused does not keep the others out.
  func insert(
    _ drafts: [Result<EntityDraft, ServerError>], into collection: EntityCollection,
    for viewer: Viewer
  ) throws(ServerError) -> [Result<Written, ServerError>] {
    _ = try viewer.rule(for: .create)
    return try write(announcing: collection) { (connection, now, noted) throws(SQLiteError) in
      var results: [Result<Written, ServerError>] = []
      results.reserveCapacity(drafts.count)
      for draft in drafts {
        switch draft {
        case .failure(let error): results.append(.failure(error))
        case .success(let draft):
          let acl = draft.acl.map { Self.owned($0, by: viewer) } ?? Self.owned(ACL(), by: viewer)
          let result = try Self.insert(draft, acl, collection, connection, now)
          if case .success(let written) = result { noted.add(LiveChange(written)) }
          results.append(result)
        }
      }
      return results
    }
  }

  /// Creates the entity or replaces it.
  func put(
    _ draft: EntityDraft, into collection: EntityCollection, for viewer: Viewer,
    if precondition: Precondition = .none
  ) throws(ServerError) -> Written {
    let rule = try viewer.rule(for: .update)
    let result = try write(announcing: collection) {
      (connection, now, noted) throws(SQLiteError) -> Result<Written, ServerError> in
      let look = try connection.statement(collection.sql(.look(rule)))
      try look.bind(viewer.user, at: 1)
      try look.bind(draft.id, at: 2)
      guard try look.step() else {
        do throws(ServerError) {
          try precondition.check(nil)
          _ = try viewer.rule(for: .create)
        } catch {
          return .failure(error)
        }
        let result = try Self.insert(
          draft, Self.owned(draft.acl ?? ACL(), by: viewer), collection, connection, now)
        if case .success(let written) = result { noted.add(LiveChange(written)) }
        return result
      }
      guard look.int64(0) != 0 else { return .failure(Self.forbidden(draft.id)) }
      let stored = StoredRow(look)
      do throws(ServerError) { try precondition.check(stored.modified) } catch {
        return .failure(error)
      }
      let written = try update(stored, draft, collection, viewer, connection, now)
      noted.add(LiveChange(written))
      return .success(written)
    }
    return try result.get()
  }

  /// Deletes one entity.
  func delete(
    _ id: String, in collection: EntityCollection?, for viewer: Viewer,
    if precondition: Precondition = .none
  ) throws(ServerError) {
    let rule = try viewer.rule(for: .delete)
    guard let collection else { throw Self.missing(id) }
    let problem = try write(announcing: collection, makingRoom: true) {
      (connection, now, noted) throws(SQLiteError) -> ServerError? in
      let look = try connection.statement(collection.sql(.look(rule)))
      try look.bind(viewer.user, at: 1)
      try look.bind(id, at: 2)
      guard try look.step() else { return Self.missing(id) }
      guard look.int64(0) != 0 else { return Self.forbidden(id) }
      let row = look.int64(1)
      do throws(ServerError) {
        try precondition.check(Timestamp(milliseconds: look.int64(4)))
      } catch {
        return error
      }
      look.reset()
      try Self.remove([row], from: collection, connection, now, &noted)
      return nil
    }
    if let problem { throw problem }
  }

  /// Deletes what matches and may be deleted; gives how many that were.
  ///
  /// What matches is looked for among the readers: a filter that takes long must not keep other writers waiting.
  /// Only what has changed since is held against the filter once more.
  func delete(
    _ query: Query, in collection: EntityCollection?, for viewer: Viewer, within budget: WorkBudget
  ) throws(ServerError) -> Int {
    let selection = try RowSelection(query, for: viewer, .delete, within: budget)
    guard let collection else { return 0 }
    let start = clock.readStart()
    let found = try Self.storage { () throws(SQLiteError) in
      try Self.versions(of: selection, in: collection, database)
    }
    return try write(announcing: collection, makingRoom: true) {
      (connection, now, noted) throws(SQLiteError) -> Int in
      var rows: [Int64] = []
      for version in found
      where try Self.isDeletable(version, since: start, selection, in: collection, connection) {
        rows.append(version.row)
      }
      try Self.remove(rows, from: collection, connection, now, &noted)
      return rows.count
    }
  }

  /// A row as it was at one moment. What is written after a moment never has an earlier time, and no two versions of
  /// an entity have the same.
  private struct RowVersion {
    let row: Int64
    let modified: Int64
  }

  private static func versions(
    of selection: RowSelection, in collection: EntityCollection, _ database: Database
  ) throws(SQLiteError) -> [RowVersion] {
    try database.withReader(within: selection.budget) {
      (connection: borrowing Connection) throws(SQLiteError) in
      var found: [RowVersion] = []
      let select = try connection.statement(collection.sql(.versions(selection.shape)))
      try selection.bind(to: select)
      while try select.step() {
        found.append(RowVersion(row: select.int64(0), modified: select.int64(1)))
      }
      return found
    }
  }

  /// Whether the row is still there, and what the selection asks for. `start`: of the read that found it.
  private static func isDeletable(
    _ version: RowVersion, since start: Timestamp, _ selection: RowSelection,
    in collection: EntityCollection,
    _ connection: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    if selection.budget.isExhausted { throw SQLiteError(.interrupted, "The delete was stopped.") }
    let modified = try connection.statement(collection.sql(.modified))
    try modified.bind(version.row, at: 1)
    guard try modified.step() else { return false }
    if modified.int64(0) == version.modified, version.modified < start.milliseconds { return true }
    let select = try connection.statement(collection.sql(.body(selection.shape)))
    try selection.bind(to: select)
    try select.bind(version.row, at: 4)
    return try connection.within(selection.budget) { () throws(SQLiteError) in try select.step() }
  }

  // MARK: Inside transactions

  /// What is stored under an id that is about to be replaced.
  struct StoredRow {
    let row: Int64
    let creator: String
    let created: Timestamp
    let modified: Timestamp
    let body: [UInt8]

    init(_ look: borrowing Statement) {
      row = look.int64(1)
      creator = look.text(2) ?? ""
      created = Timestamp(milliseconds: look.int64(3))
      modified = Timestamp(milliseconds: look.int64(4))
      body = look.copy(5)
    }
  }

  /// Deletes rows, and keeps what they were if the collection has a history. That is looked up here,
  /// inside the transaction: a history that starts meanwhile must miss none.
  private static func remove(
    _ rows: [Int64], from collection: EntityCollection, _ connection: borrowing Connection,
    _ now: Timestamp, _ noted: inout LiveChanges
  ) throws(SQLiteError) {
    let isRecorded = collection.history != .off
    for row in rows {
      let access = try connection.statement(collection.sql(.access))
      try access.bind(row, at: 1)
      if try access.step() {
        noted.add(
          LiveChange(id: access.text(0) ?? "", .delete(ACL(access, from: 1), at: now)))
      }
      access.reset()
      if isRecorded {
        let bury = try connection.statement(collection.sql(.bury))
        try bury.bind(row, at: 1)
        try bury.bind(now.milliseconds, at: 2)
        try bury.run()
      }
      let delete = try connection.statement(collection.sql(.deleteRow))
      try delete.bind(row, at: 1)
      try delete.run()
    }
  }

  static func insert(
    _ draft: EntityDraft, _ acl: ACL, _ collection: EntityCollection,
    _ connection: borrowing Connection,
    _ now: Timestamp
  ) throws(SQLiteError) -> Result<Written, ServerError> {
    let body = draft.body(acl, created: now, modified: now)
    let insert = try connection.statement(collection.sql(.insert))
    try insert.bind(draft.id, at: 1)
    try bind(acl, created: now, modified: now, to: insert)
    try run(insert, with: body)
    guard connection.changes == 1 else {
      return .failure(
        ServerError(
          .internalErrorRetry, "An entity with that _id already exists in this collection"))
    }
    return .success(Written(id: draft.id, body: body, modified: now, isNew: true))
  }

  func update(
    _ stored: StoredRow, _ draft: EntityDraft, _ collection: EntityCollection, _ viewer: Viewer,
    _ connection: borrowing Connection, _ now: Timestamp
  ) throws(SQLiteError) -> Written {
    var acl = draft.acl ?? ACL(of: stored.body)
    // Only the administrator may give an entity to somebody else.
    if viewer.principal != .master || acl.creator.isEmpty { acl.creator = stored.creator }
    let modified = clock.time(now, after: stored.modified)
    let body = draft.body(acl, created: stored.created, modified: modified)
    // Looked up here, inside the transaction, as `remove` does it.
    if draft.acl != nil, collection.history != .off {
      let note = try connection.statement(collection.sql(.noteAccess))
      try note.bind(stored.row, at: 1)
      try Self.bind(acl, created: stored.created, modified: modified, to: note)
      try note.run()
    }
    let update = try connection.statement(collection.sql(.update))
    try update.bind(stored.row, at: 1)
    try Self.bind(acl, created: stored.created, modified: modified, to: update)
    try Self.run(update, with: body)
    return Written(id: draft.id, body: body, modified: modified, isNew: false)
  }

  private static func bind(
    _ acl: ACL, created: Timestamp, modified: Timestamp, to statement: borrowing Statement
  ) throws(SQLiteError) {
    try statement.bind(acl.creator, at: 2)
    try bind(acl.everybodyReads, to: statement, at: 3)
    try bind(acl.everybodyWrites, to: statement, at: 4)
    try statement.bind(acl.readers.isEmpty ? nil : ACL.list(acl.readers), at: 5)
    try statement.bind(acl.writers.isEmpty ? nil : ACL.list(acl.writers), at: 6)
    try statement.bind(created.milliseconds, at: 7)
    try statement.bind(modified.milliseconds, at: 8)
  }

  private static func bind(
    _ flag: Bool?, to statement: borrowing Statement, at place: Int32
  ) throws(SQLiteError) {
    guard let flag else { return try statement.bindNull(at: place) }
    try statement.bind(flag ? 1 : 0, at: place)
  }

  /// Runs a statement whose parameter 9 is the body.
  static func run(
    _ statement: borrowing Statement, with body: [UInt8]
  ) throws(SQLiteError) {
    let result = body.withUnsafeBytes { bytes -> Result<Void, SQLiteError> in
      do throws(SQLiteError) {
        try statement.bind(borrowedText: bytes, at: 9)
        return .success(try statement.run())
      } catch {
        return .failure(error)
      }
    }
    try result.get()
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

  private static func ids(_ list: String?) -> [String] {
    let value = list.flatMap { try? JSONValue(parsing: $0) }
    return value?.arrayValue?.compactMap(\.stringValue) ?? []
  }
}
