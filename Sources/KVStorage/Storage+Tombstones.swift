internal import KVBase
internal import KVJSON
internal import KVSQLite
package import KVSync

/// What has gone is remembered for a while, in the transaction in which it goes.
extension Storage {
  package func tombstone(
    of id: String, in collection: String
  ) throws(StoreError) -> Tombstone? {
    try read(from: collection) { (db, table) throws(SQLiteError) in
      let statement = try db.statement(Tombstones.find)
      try statement.bind(table.number, at: 1)
      try statement.bind(id, at: 2)
      guard try statement.step() else { return nil }
      let sent = statement.isNull(1) ? [] : RemoteVersion.list(statement.copy(1))
      return Tombstone(
        version: statement.text(0).map { RecordVersion($0) }, sent: sent.compactMap(\.bytes))
    }
  }

  package func expectsLateCreates(in collection: String) throws(StoreError) -> Bool {
    try read(from: collection) { (db, table) throws(SQLiteError) in
      try Self.expectsLateCreates(table, db)
    } ?? false
  }

  package func removeArrived(
    _ entity: [UInt8], _ id: String, in collection: String
  ) throws(StoreError) -> Bool {
    try write(to: collection) { (db, change) throws(SQLiteError) in
      let statement = try db.statement(change.table.queueDeletionOfArrived)
      try statement.bind(id, at: 1)
      try statement.bind(Identifier.revision(), at: 2)
      try statement.bind(change.now, at: 3)
      try statement.bind(String(decoding: entity, as: UTF8.self), at: 4)
      try statement.run()
      return db.changes > 0
    }
  }

  // MARK: Steps

  static func expectsLateCreates(
    _ table: Table, _ db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    let statement = try db.statement(Tombstones.expectsLateCreates)
    try statement.bind(table.number, at: 1)
    return try statement.step()
  }

  /// Notes that a version of an entity has gone, unless a write of it is pending. An older one than is known adds
  /// nothing; nil: it is not known which.
  static func insertTombstone(
    _ id: String, _ version: RecordVersion?, change: Change, on db: borrowing Connection
  ) throws(SQLiteError) {
    guard var version else { return }
    let table = change.table
    // Texts are compared by the statement; of others, the one that goes in is chosen here.
    if table.format.versionOrder != .text, let known = try tombstoneVersion(id, table, on: db) {
      version = table.format.versionOrder.newer(known, version)
    }
    let statement = try db.statement(
      table.format.versionOrder == .text ? Tombstones.insert : Tombstones.replace)
    try statement.bind(change.table.number, at: 1)
    try statement.bind(id, at: 2)
    try statement.bind(version.text, at: 3)
    try statement.bind(change.now, at: 4)
    try statement.run()
  }

  private static func tombstoneVersion(
    _ id: String, _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> RecordVersion? {
    let statement = try db.statement(Tombstones.find)
    try statement.bind(table.number, at: 1)
    try statement.bind(id, at: 2)
    return try statement.step() ? statement.text(0).map { RecordVersion($0) } : nil
  }

  /// Notes that a create which had no answer may still arrive: to be called before it leaves the queue.
  static func expectLateCreate(
    of id: String, _ change: Change, on db: borrowing Connection
  ) throws(SQLiteError) {
    let statement = try db.statement(change.table.expectLateCreate)
    try statement.bind(id, at: 1)
    try statement.bind(change.now, at: 2)
    try statement.run()
  }

  /// An entity is wanted after all, or its deletion was given up: what arrives of it from now on may stay.
  static func expectNothing(
    of id: String, _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) {
    let statement = try db.statement(Tombstones.expectNothing)
    try statement.bind(table.number, at: 1)
    try statement.bind(id, at: 2)
    try statement.run()
  }

  /// The same for all entities whose deletion is pending.
  static func expectNothingPending(
    _ table: Table, _ db: borrowing Connection
  ) throws(SQLiteError) {
    let statement = try db.statement(Tombstones.expectNothingPending)
    try statement.bind(table.number, at: 1)
    try statement.run()
  }

  enum Tombstones {
    private static let isEntity = "WHERE collection = ?1 AND id = ?2"
    static let find = SQL("SELECT version, sent FROM gone \(isEntity)")
    static let expectsLateCreates = SQL(
      "SELECT 1 FROM gone WHERE collection = ?1 AND sent NOT NULL LIMIT 1")
    static let insert = insert(as: "max(?3, ifnull(g.version, ''))")
    /// The same, whatever version is known.
    static let replace = insert(as: "?3")

    // Replacing makes it the latest.
    private static func insert(as version: String) -> SQL {
      SQL(
        """
        INSERT OR REPLACE INTO gone (collection, id, version, sent, noted)
        SELECT ?1, ?2, \(version), g.sent, ?4
        FROM (SELECT 1) LEFT JOIN gone AS g ON g.collection = ?1 AND g.id = ?2
        WHERE NOT EXISTS (SELECT 1 FROM pending \(isEntity))
        """)
    }
    static let expectNothing = SQL(
      "UPDATE gone SET sent = NULL \(isEntity) AND sent NOT NULL")
    static let expectNothingPending = SQL(
      """
      UPDATE gone SET sent = NULL WHERE collection = ?1 AND sent NOT NULL
      AND id IN (SELECT id FROM pending WHERE collection = ?1)
      """)
    /// How many are noted at once: there are no more.
    static let maxCount = 16_384
  }
}
