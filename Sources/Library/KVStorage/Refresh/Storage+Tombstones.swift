internal import KVBase
internal import KVJSON
internal import KVSQLite
package import KVSync

/// Records deletions as tombstones, in the transaction that deletes.
extension Storage {
  package func tombstone(
    of id: String, in collection: String
  ) throws(StoreError) -> Tombstone? {
    try read(from: collection) { (db, table) throws(SQLiteError) in
      let statement = try db.statement(
        "SELECT version, local_version, sent FROM gone WHERE \(table.isEntity(id))")
      guard try statement.step() else { return nil }
      let sent = try statement.versions(2)
      return Tombstone(
        version: statement.text(0).map { RecordVersion($0) },
        localVersion: statement.text(1).map { RecordVersion($0) }, sent: sent.compactMap(\.bytes))
    }
  }

  package func expectsLateWrites(in collection: String) throws(StoreError) -> Bool {
    try read(from: collection) { (db, table) throws(SQLiteError) in
      try Self.expectsLateWrites(table, db)
    } ?? false
  }

  package func awaitedLateWrites(
    in collection: String, limit: Int
  ) throws(StoreError) -> [String] {
    let hourAgo = Timestamp.microsecondsNow() / 1000 - 3_600_000
    return try read(from: collection) { (db, table) throws(SQLiteError) in
      let statement = try db.statement(
        """
        SELECT id FROM gone AS g WHERE collection = \(bind: table.number) AND sent NOT NULL AND noted > \(bind: hourAgo)
        AND NOT EXISTS (SELECT 1 FROM pending AS p WHERE p.collection = g.collection AND p.id = g.id)
        ORDER BY n DESC LIMIT \(bind: limit)
        """)
      var ids: [String] = []
      while try statement.step() { if let id = statement.text(0) { ids.append(id) } }
      return ids
    } ?? []
  }

  package func removeArrived(
    _ entity: [UInt8], _ id: String, in collection: String
  ) throws(StoreError) -> Bool {
    try write(to: collection) { (db, change) throws(SQLiteError) in
      let statement = try db.statement(change.table.queueDeletionOfArrived)
      try statement.bind(id, at: .id)
      try statement.bind(Identifier.revision(), at: .revision)
      try statement.bind(change.now, at: .time)
      try statement.bind(String(decoding: entity, as: UTF8.self), at: .body)
      try statement.run()
      return db.changes > 0
    }
  }

  // MARK: Steps

  static func expectsLateWrites(
    _ table: Table, _ db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    try db.statement(
      "SELECT 1 FROM gone WHERE collection = \(bind: table.number) AND sent NOT NULL LIMIT 1"
    ).step()
  }

  /// Notes that a version of an entity has gone, unless a write of it is pending. Of an older one than is known, or if it is
  /// not known which (nil), only that it went just now is noted. `deleted`: the version that a deletion is known to have
  /// removed or made; nil: what is known is that a read has not brought the entity. `local`: the version that was here; nil: none
  /// was, or what is noted of it stays. `confirmed`: what a deletion made here is known to have removed.
  static func insertTombstone(
    _ id: String, _ version: RecordVersion?, deleted: RecordVersion? = nil,
    local: RecordVersion? = nil, confirmed: RecordVersion? = nil, change: Change,
    on db: borrowing Connection
  ) throws(SQLiteError) {
    let table = change.table
    let known = try version ?? deleted == nil ? nil : tombstoneVersions(id, table, on: db)
    let order = table.format.versionOrder
    let localText = local?.text
    let newest = newer(version, than: known?.version, order, column: "version")
    let newestDeleted = newer(deleted, than: known?.deleted, order, column: "deleted")
    // Replacing makes it the latest.
    try db.run(
      """
      INSERT OR REPLACE INTO gone (collection, id, version, deleted, local_version, sent, noted, confirmed)
      SELECT \(bind: table.number), \(bind: id), \(newest), \(newestDeleted),
        ifnull(\(bind: localText), g.local_version), g.sent, \(bind: change.now),
        ifnull(\(bind: confirmed?.text), g.confirmed)
      FROM (SELECT 1)
      LEFT JOIN gone AS g ON g.collection = \(bind: table.number) AND g.id = \(bind: id)
      WHERE NOT EXISTS (SELECT 1 FROM pending WHERE \(table.isEntity(id)))
      """)
  }

  /// The versions of a tombstone; nil: there is none, or SQL compares them.
  private static func tombstoneVersions(
    _ id: String, _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> (version: RecordVersion?, deleted: RecordVersion?)? {
    guard table.format.versionOrder != .text else { return nil }
    let statement = try db.statement(
      "SELECT version, deleted FROM gone WHERE \(table.isEntity(id))")
    guard try statement.step() else { return nil }
    return (
      statement.text(0).map { RecordVersion($0) }, statement.text(1).map { RecordVersion($0) }
    )
  }

  /// The newer one of a version and of what a column of the tombstone `g` has, which is known unless SQL compares versions.
  private static func newer(
    _ version: RecordVersion?, than known: RecordVersion?, _ order: VersionOrder,
    column: String
  ) -> SQLFragment {
    guard let version else { return "g.\(sql: column)" }
    guard order != .text else {
      return "max(\(bind: version.text), ifnull(g.\(sql: column), ''))"
    }
    return "\(bind: (known.map { order.newer($0, version) } ?? version).text)"
  }

  /// Notes that writes which had no answer may still arrive: to be called before the last of them leaves the queue.
  static func expectLateWrites(
    of id: String, _ change: Change, on db: borrowing Connection
  ) throws(SQLiteError) {
    let statement = try db.statement(change.table.expectLateWrites)
    try statement.bind(id, at: .id)
    try statement.bind(change.now, at: .time)
    try statement.run()
  }

  /// An entity is wanted after all, or its deletion was given up: what arrives of it from now on may stay.
  static func expectNothing(
    of id: String, _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) {
    try db.run("UPDATE gone SET sent = NULL WHERE \(table.isEntity(id)) AND sent NOT NULL")
  }

  /// The same for all entities whose deletion is pending.
  static func expectNothingPending(
    _ table: Table, _ db: borrowing Connection
  ) throws(SQLiteError) {
    try db.run(
      """
      UPDATE gone SET sent = NULL WHERE collection = \(bind: table.number) AND sent NOT NULL
      AND id IN (SELECT id FROM pending WHERE collection = \(bind: table.number))
      """)
  }

  enum Tombstones {
    /// How many are noted at once: there are no more.
    static let maxCount = 16_384
  }
}
