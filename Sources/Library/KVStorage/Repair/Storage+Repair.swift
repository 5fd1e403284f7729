internal import KVBase
internal import KVJSON
internal import KVSQLite
package import KVSync

/// Finds what is damaged and takes it out of the way, while others read and write.
///
/// A damaged entity is removed, and the records of what was read are forgotten, so that the next pull brings it again. One with an
/// unsent write stays, and its write is set aside: only the application can say what it was. Indexes are made anew, since they
/// repeat what bodies say. What was stored before there were checksums, and can be read, gets one.
extension Storage {
  /// How many entities are looked at in one transaction.
  private static let repairStep = 2_000

  /// Throws `.corrupt` if the file's own structure is damaged: then `Salvage` copies out what can be read.
  package func repair() throws(StoreError) -> RepairReport {
    var report = RepairReport()
    try remakeKeys()
    for status in try collectionStatuses() { try repair(status.name, &report) }
    return report
  }

  private func repair(_ collection: String, _ report: inout RepairReport) throws(StoreError) {
    let indexes = try write(to: collection) { (db, change) throws(SQLiteError) in
      try Self.emptyIndexes(of: change.table, on: db)
    }
    var page = RepairPage()
    repeat {
      page = try look(after: page.last, in: collection)
      report.entities += page.count
      if !page.suspects.isEmpty { try repair(page.suspects, in: collection, &report) }
    } while page.count == Self.repairStep
    try repairQueue(of: collection, &report)
    for index in indexes { try fill(index) }
  }

  // MARK: Entities

  /// Some rows that were looked at.
  private struct RepairPage {
    var last = Int64.min
    var count = 0
    /// The rows that may be damaged.
    var suspects: [Int64] = []
  }

  private func look(
    after row: Int64, in collection: String
  ) throws(StoreError) -> RepairPage {
    try read(from: collection) { (db, table) throws(SQLiteError) in
      let select = try db.prepare(
        """
        SELECT \(sql: Table.body), n FROM \(sql: table.entities)
        WHERE n > \(bind: row) ORDER BY n LIMIT \(bind: Self.repairStep)
        """)
      var page = RepairPage(last: row)
      while try select.step() {
        (page.last, page.count) = (select.int64(3), page.count + 1)
        if try StoredState(select, table) != .whole { page.suspects.append(page.last) }
      }
      return page
    } ?? RepairPage()
  }

  /// How a row of entities, with the columns of a body, is stored.
  private enum StoredState: Equatable {
    case whole
    /// The body can be read, and was stored before there were checksums.
    case unchecked
    /// The body is of an entity with another id, this one.
    case misnamed(String)
    case damaged

    init(_ row: borrowing Statement, _ table: Table) throws(SQLiteError) {
      guard row.isIntact(0),
        let id = (try? EntityScanner.outline(of: row.bytes(0), table.format))?.id
      else {
        self = .damaged
        return
      }
      if row.text(2)?.hasSameBytes(as: id) != true {
        self = .misnamed(id)
      } else {
        self = row.isNull(1) ? .unchecked : .whole
      }
    }
  }

  private func repair(
    _ rows: [Int64], in collection: String, _ report: inout RepairReport
  ) throws(StoreError) {
    let found = try write(to: collection, makingRoom: true) {
      (db, change) throws(SQLiteError) -> RepairReport in
      var found = RepairReport()
      let select = try db.prepare(
        "SELECT \(Table.body) FROM \(change.table.entities) WHERE n = \(Parameter.row)")
      for row in rows {
        try select.bind(row, at: .row)
        guard try select.step() else { continue }
        let (state, id) = (try StoredState(select, change.table), select.text(2) ?? "")
        select.reset()
        try Self.repair(row, id, state: state, change: change, on: db, report: &found)
      }
      return found
    }
    report.add(found)
  }

  private static func repair(
    _ row: Int64, _ id: String, state: StoredState, change: Change, on db: borrowing Connection,
    report: inout RepairReport
  ) throws(SQLiteError) {
    let entities = change.table.entities
    switch state {
    case .whole: return
    case .unchecked:
      try db.run(
        "UPDATE \(sql: entities) SET checksum = kv_checksum(body) WHERE n = \(bind: row)")
    case .misnamed(let id):
      report.damaged += 1
      try db.run(
        "UPDATE OR IGNORE \(sql: entities) SET id = \(bind: id) WHERE n = \(bind: row)")
      if db.changes == 0 { try remove(row, id, change: change, on: db, report: &report) }
    case .damaged:
      report.damaged += 1
      if try setAside(id, change.table, on: db) {
        report.addQuarantined(id, in: change.table.name)
      } else {
        try remove(row, id, change: change, on: db, report: &report)
      }
    }
  }

  private static func remove(
    _ row: Int64, _ id: String, change: Change, on db: borrowing Connection,
    report: inout RepairReport
  ) throws(SQLiteError) {
    try db.run("DELETE FROM \(sql: change.table.entities) WHERE n = \(bind: row)")
    try forgetRequests(change.table, db)
    report.addRemoved(id, in: change.table.name)
  }

  // MARK: The queue

  /// Sets the write of a damaged entity aside; false if there is none.
  private static func setAside(
    _ id: String, _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    let error = StoreError(.damaged(id, in: table.name)).json
    try db.run(
      """
      UPDATE pending SET state = 1, error = \(bind: error)
      WHERE \(table.isEntity(id)) AND operation < 3
      """)
    return db.changes > 0
  }

  /// Forgets damaged versions that changes started from, and writes whose entity is not there. A deletion of an entity that is
  /// there was another write: it is set aside, or it would delete what was to be sent.
  private func repairQueue(
    of collection: String, _ report: inout RepairReport
  ) throws(StoreError) {
    let (bases, lost, doubtful) = try write(to: collection, makingRoom: true) {
      (db, change) throws(SQLiteError) -> (Int, [String], [String]) in
      try db.execute(
        """
        UPDATE pending SET base = NULL, base_checksum = NULL WHERE collection = \(change.table.number)
        AND base_checksum <> kv_checksum(base)
        """)
      let bases = db.changes
      let delete = try db.prepare(
        """
        DELETE FROM pending WHERE collection = \(change.table.number) AND operation < 3
        AND NOT EXISTS (SELECT 1 FROM \(change.table.entities) AS e WHERE e.id = pending.id)
        RETURNING id
        """)
      var lost: [String] = []
      while try delete.step() { lost.append(delete.text(0) ?? "") }
      if !lost.isEmpty { try Self.forgetRequests(change.table, db) }
      return (bases, lost, try Self.undelete(change.table, on: db))
    }
    report.damaged += bases + lost.count + doubtful.count
    for id in lost { report.addRemoved(id, in: collection) }
    for id in doubtful { report.addQuarantined(id, in: collection) }
  }

  /// Makes deletions of entities that are there into changes, and sets these aside; gives their ids.
  private static func undelete(
    _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> [String] {
    let select = try db.prepare(
      """
      SELECT id FROM pending WHERE collection = \(table.number) AND operation = 3
      AND EXISTS (SELECT 1 FROM \(table.entities) AS e WHERE e.id = pending.id)
      """)
    var ids: [String] = []
    while try select.step() { ids.append(select.text(0) ?? "") }
    for id in ids { try undeleteAndSetAside(id, table, on: db) }
    return ids
  }

  /// Makes a deletion into a change, and sets this aside.
  static func undeleteAndSetAside(
    _ id: String, _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) {
    try db.run("UPDATE pending SET operation = 2 WHERE \(table.isEntity(id)) AND operation = 3")
    _ = try setAside(id, table, on: db)
  }

  // MARK: Indexes

  /// Makes the indexes of all keys anew, of entities, collections and the queue: they may lack rows, or name others.
  private func remakeKeys() throws(StoreError) {
    try write { (db: borrowing Connection) throws(SQLiteError) in
      do throws(SQLiteError) { try db.execute("REINDEX") } catch {
        guard error.kind == .constraint else { throw error }
        throw SQLiteError(.corrupt, "Two records are stored under one key: \(error.message)")
      }
    }
  }
}
