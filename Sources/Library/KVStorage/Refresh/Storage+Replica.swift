internal import KVBase
package import KVJSON
internal import KVSQLite
package import KVSync

/// What reads of the backend change. Several processes may read at the same time: whether another answer may be the later
/// one is looked at in the transaction that stores or deletes.
extension Storage {
  package func store(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], in collection: String,
    since mark: RefreshMark?
  ) throws(StoreError) -> ReplicaChange {
    guard outlines.allSatisfy({ $0.id != nil }) else {
      throw StoreError(
        .proto, "An entity of the backend has no id (\(layout.format(of: collection).idText)).")
    }
    let rule = resetRule.withLock { $0 }
    let (result, lost) = try write(to: collection, durably: false) {
      (db, change) throws(SQLiteError) in
      // Read once for all: no other connection writes while this transaction is open.
      let table = change.table
      let isGuarded = try Self.hasPending(table, db)
      let mayBeExpected = try Self.expectsLateWrites(table, db)
      let lastTombstone = try Self.lastTombstone(on: db)
      let mayBeLate = try Self.mayBeLate(table, mark, on: db)
      let mayBeDeleted = try Self.mayBeDeleted(table, now: change.now, on: db)
      let statement = try db.statement(isGuarded ? table.replaceUnlessPending : table.replace)
      try change.bindConstants(to: statement)
      var lost = try LostVersions(change, rule.policy, since: mark, on: db)
      var result = ReplicaChange()
      for outline in outlines {
        guard let id = outline.id else { continue }
        if let mark, mark.tombstone < lastTombstone,
          try Self.isDeleted(id, since: mark, table, on: db)
        {
          result.doubtful.append(id)
          continue
        }
        if mayBeLate, try Self.isLate(outline.version(in: bytes), of: id, change, on: db) {
          continue
        }
        if mayBeDeleted, try Self.isDeleted(id, at: outline.version(in: bytes), change, on: db) {
          continue
        }
        if try lost?.keep(outline, id, in: bytes, on: db) == true { continue }
        let body = UnsafeRawBufferPointer(rebasing: bytes[outline.range])
        try statement.bind(id, at: .id)
        try statement.bind(borrowedText: body, at: .body)
        try statement.bind(mark?.generation ?? .max, at: .mark)
        try change.insert(with: statement, on: db)
        var isStored = db.changes > 0
        if !isStored, let mark,
          let age = try Self.age(of: outline, in: bytes, since: mark, table, on: db)
        {
          guard age == .newerOrSame else {
            if age == .unknown { result.doubtful.append(id) }
            continue
          }
          try statement.bind(Int64.max, at: .mark)
          try change.insert(with: statement, on: db)
          isStored = true
        }
        if isStored {
          result.count += 1
          if mayBeExpected { try Self.expectNothing(of: id, table, on: db) }
        } else if isGuarded, try Self.rebaseOperators(of: id, onto: body, change, on: db) {
          result.count += 1
        } else {
          try Self.record(body, of: id, table: table, on: db)
        }
      }
      return (result, lost?.found ?? [])
    }
    rule.tell(lost, of: collection)
    return result
  }

  package func forget(
    _ ids: [String], in collection: String, at known: RecordVersion?, since mark: RefreshMark?
  ) throws(StoreError) -> ReplicaChange {
    let rule = resetRule.withLock { $0 }
    let (result, lost) = try write(to: collection, makingRoom: true) {
      (db, change) throws(SQLiteError) in
      let table = change.table
      var lost = try known == nil ? LostVersions(change, rule.policy, since: mark, on: db) : nil
      let laterRow = try db.statement(table.storedSince)
      var result = ReplicaChange()
      for id in ids {
        if table.format.versionsOnlyRise, try Self.isLate(known, of: id, change, on: db) {
          continue
        }
        if let mark {
          try laterRow.bind(mark.generation, at: .mark)
          try laterRow.bind(id, at: .id)
          defer { laterRow.reset() }
          if try laterRow.step() {
            result.doubtful.append(id)
            continue
          }
        }
        // The read that says so may be of other data than what was confirmed.
        if try lost?.keepLost(id, .gone, on: db) == true { continue }
        let ours = try Self.knownVersion(of: id, table, on: db)
        if try Self.run(table.deleteUnlessPending, id, on: db) {
          result.count += 1
        } else {
          try Self.record(nil, of: id, table: table, on: db)
        }
        try Self.insertTombstone(
          id, known ?? ours, deleted: known, local: ours, change: change, on: db)
      }
      return (result, lost?.found ?? [])
    }
    rule.tell(lost, of: collection)
    return result
  }

  package func release(
    _ ids: [String], in collection: String, at version: RecordVersion?,
    if isUnwanted: ([UInt8]) -> Bool
  ) throws(StoreError) -> Int {
    try write(to: collection, durably: false, makingRoom: true) {
      (db, change) throws(SQLiteError) in
      let table = change.table
      var count = 0
      for id in ids {
        let get = try db.statement(table.get)
        try get.bind(id, at: .id)
        guard try get.step(), get.isIntact(0), isUnwanted(try get.copy(0)) else { continue }
        get.reset()
        let ours = try Self.knownVersion(of: id, table, on: db)
        guard try Self.run(table.deleteUnlessPending, id, on: db) else { continue }
        count += 1
        try Self.insertTombstone(id, version ?? ours, local: ours, change: change, on: db)
      }
      return count
    }
  }

  // MARK: Which answer is the later one

  /// How an entity of an answer is related to what was stored since the answer was asked for.
  private enum Age {
    case newerOrSame, older, unknown
  }

  /// nil: nothing was stored since then, or a write of the entity is pending.
  private static func age(
    of outline: EntityOutline, in bytes: UnsafeRawBufferPointer, since mark: RefreshMark,
    _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> Age? {
    let statement = try db.statement(table.storedSince)
    try statement.bind(outline.id, at: .id)
    try statement.bind(mark.generation, at: .mark)
    guard try statement.step() else { return nil }
    // A damaged one is replaced by whatever the backend has.
    guard let stored = statement.intactBytes(0) else { return .newerOrSame }
    if bytes[outline.range].elementsEqual(stored) { return .newerOrSame }
    guard statement.int64(3) > 0, let theirs = outline.version(in: bytes),
      let ours = table.format.version(of: try statement.copy(0))
    else { return .unknown }
    if table.format.isOlder(theirs, than: ours) { return .older }
    return table.format.isOlder(ours, than: theirs) ? .newerOrSame : .unknown
  }

  /// Whether records may be here that `isLate` has to look at. Those that were stored since the answer was asked for are
  /// not among them: `age` looks at these, so that the first read of a collection looks nothing up.
  private static func mayBeLate(
    _ table: Table, _ mark: RefreshMark?, on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    guard table.format.versionsOnlyRise else { return false }
    guard let mark else { return true }
    return try mayHaveOlder(table, mark, on: db)
  }

  /// Whether a newer version is here than the one that has come, where the backend takes none back. The record counts as
  /// seen then: it is there.
  private static func isLate(
    _ theirs: RecordVersion?, of id: String, _ change: borrowing Change, on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    let table = change.table
    guard let theirs,
      let ours = try knownVersion(of: id, table, on: db), table.format.isOlder(theirs, than: ours)
    else { return false }
    let see = try db.statement(table.see)
    try see.bind(change.generation, at: .generation)
    try see.bind(change.now, at: .time)
    try see.bind(id, at: .id)
    try see.run()
    return true
  }

  /// For how long a read may still show what was deleted before, in milliseconds: an hour. Where versions only rise, a record
  /// that is made again goes on with the version of the deletion, until the backend has forgotten that, after days.
  private static let staleReads: Int64 = 3_600_000

  /// Whether tombstones may be here that `isDeleted` has to look at.
  private static func mayBeDeleted(
    _ table: Table, now: Int64, on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    guard table.format.versionsOnlyRise else { return false }
    return try db.statement(
      """
      SELECT 1 FROM (SELECT noted FROM gone ORDER BY n DESC LIMIT 1)
      WHERE noted > \(bind: now - staleReads)
      """
    ).step()
  }

  /// Whether a deletion of this version or of a later one is known, where the backend takes none back, and nothing is here:
  /// who shows the record read a copy that is behind. That a read has not brought a record says nothing of the kind.
  private static func isDeleted(
    _ id: String, at theirs: RecordVersion?, _ change: borrowing Change,
    on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    let table = change.table
    let tombstone = try db.statement(
      """
      SELECT deleted FROM gone WHERE \(table.isEntity(id))
      AND deleted NOT NULL AND noted > \(bind: change.now - staleReads)
      AND NOT EXISTS (SELECT 1 FROM \(sql: table.entities) WHERE id = \(bind: id))
      """)
    guard let theirs, try tombstone.step(), let deleted = tombstone.text(0) else { return false }
    return !table.format.isOlder(RecordVersion(deleted), than: theirs)
  }

  private static func isDeleted(
    _ id: String, since mark: RefreshMark, _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    try db.statement(
      "SELECT 1 FROM gone WHERE \(table.isEntity(id)) AND n > \(bind: mark.tombstone)"
    ).step()
  }

  /// The number of the latest tombstone of all collections; 0: there is none.
  static func lastTombstone(on db: borrowing Connection) throws(SQLiteError) -> Int64 {
    try db.integer("SELECT max(n) FROM gone") ?? 0
  }
}
