internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVSQLite
package import KVSync

/// The operators that a pending write was made of: the columns `operators` and `sent_operators`.
///
/// What was sent and has no answer stays apart from what was changed since: the backend recognises it by its token when it is sent
/// again, and carries it out once.
struct QueuedOperators {
  /// Those that were not sent yet, in order; nil: the write is the whole entity.
  var open: EntityUpdates?
  /// Those that were sent and have no answer.
  var sent: Sent?

  struct Sent {
    let token: String
    /// When they were sent first, in milliseconds by our own clock.
    let at: Int64
    let updates: String
    /// Whether the backend was sent the entity that they have made.
    let isEntity: Bool

    var column: String {
      "{\"token\":\"\(token)\",\"at\":\(at),\"entity\":\(isEntity),\"updates\":\(updates)}"
    }

    init(token: String, at: Int64, updates: String, isEntity: Bool) {
      (self.token, self.at, self.updates, self.isEntity) = (token, at, updates, isEntity)
    }

    init?(column: String) {
      guard let json = try? JSONValue(parsing: column), let token = json["token"]?.stringValue,
        let at = json["at"]?.intValue, let updates = json["updates"]
      else { return nil }
      self.init(
        token: token, at: at, updates: updates.text, isEntity: json["entity"]?.boolValue ?? false)
    }
  }

  /// For how long a backend is sure to know a token, in milliseconds: a day less than it says.
  private static let tokenLifetime: Int64 = 29 * 86_400_000

  /// Those of a write of the whole entity.
  static let whole = QueuedOperators(open: nil, sent: nil)

  init(open: EntityUpdates?, sent: Sent?) { (self.open, self.sent) = (open, sent) }

  init?(operators: String?, sent: String?, _ table: Table) {
    if operators == nil, sent == nil { return nil }
    open = operators.flatMap { Self.updates($0, table) }
    self.sent = sent.flatMap { Sent(column: $0) }
  }

  /// Nil if the entity has no pending write, or one without operators.
  init?(_ id: String, _ table: Table, on db: borrowing Connection) throws(SQLiteError) {
    let row = try db.statement(
      "SELECT operators, sent_operators FROM pending WHERE \(table.isEntity(id))")
    guard try row.step() else { return nil }
    self.init(operators: row.text(0), sent: row.text(1), table)
  }

  /// Whether the backend may have forgotten the token of what was sent.
  func isExpired(at now: Int64) -> Bool {
    sent.map { now - $0.at > Self.tokenLifetime || now < $0.at - Self.tokenLifetime } ?? false
  }

  /// Whether there is something to send besides what was sent.
  var hasMore: Bool { open.map { !$0.isEmpty } ?? true }

  // MARK: Changing

  /// What the column `operators` is after one more update; nil: the write is, or becomes, one of the whole entity.
  static func adding(
    _ update: EntityUpdate, of id: String, _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> String? {
    let row = try db.statement(table.queuedOperators)
    try row.bind(id, at: .id)
    var updates = EntityUpdates()
    if try row.step() {
      guard let known = row.text(0).flatMap({ Self.updates($0, table) }) else { return nil }
      updates = known
    }
    return updates.adding(update, table.format)?.text
  }

  /// Keeps the operators of a pending write as sent, or makes it one of the whole entity.
  func write(of id: String, _ table: Table, on db: borrowing Connection) throws(SQLiteError) {
    try db.run(
      """
      UPDATE pending SET operators = \(bind: open?.text), sent_operators = \(bind: sent?.column)
      WHERE \(table.isEntity(id))
      """)
  }

  /// The same with what was sent before what was not, as if it had not been; nil: that is too much.
  func reopened(_ table: Table) -> QueuedOperators? {
    var all = sent.map { Self.updates($0.updates, table) } ?? EntityUpdates()
    if let open { all = all?.adding(open, table.format) }
    return all.map { QueuedOperators(open: $0, sent: nil) }
  }

  /// What the operators that were not sent make of what the backend has; nil: they do not fit it.
  func applied(to body: [UInt8], now: Int64) -> [UInt8]? {
    guard let open else { return nil }
    do throws(QueryError) {
      return try open.apply(to: body, now: Timestamp(milliseconds: now)) ?? body
    } catch {
      return nil
    }
  }

  private static func updates(_ text: String, _ table: Table) -> EntityUpdates? {
    guard let json = try? JSONValue(parsing: text) else { return nil }
    return try? EntityUpdates(json, table.format)
  }
}

/// Copies of a device's data. Both the device and its copy have the queue, and may send it: operators that both have must be
/// carried out once.
extension QueuedOperators {
  private static let isOpen = "operators NOT NULL AND operators <> '[]'"

  /// Gives a row if some operators were not sent.
  static let openRows = "SELECT 1 FROM pending WHERE \(isOpen) LIMIT 1"

  /// Before a copy is made: what was not sent gets its token, as if it had been. What comes later, here or there, is not part of it.
  static func freezing(at now: Timestamp) -> String {
    """
    UPDATE pending SET operators = '[]', sent_operators = json_object('token', printf('%x', revision),
      'at', \(now.milliseconds), 'entity', json('false'), 'updates', json(operators))
    WHERE \(isOpen) AND sent_operators IS NULL AND conditional = 0 AND confirmed IS NULL
    """
  }

  /// In the copy: what came in between is sent as what it makes of the entity, which must be what it was.
  static let closing = "UPDATE pending SET operators = NULL WHERE \(isOpen)"
}

extension Storage {
  package func turnIntoWhole(_ id: String, in collection: String) throws(StoreError) {
    try write(to: collection) { (db, change) throws(SQLiteError) in
      try db.run(
        """
        UPDATE pending SET operators = NULL, sent_operators = NULL
        WHERE \(change.table.isEntity(id))
        """)
    }
  }

  package func finishOperators(
    _ write: PendingWrite, token: String
  ) throws(StoreError) -> Bool {
    try self.write(to: write.collection) { (db, change) throws(SQLiteError) in
      guard var queued = try QueuedOperators(write.id, change.table, on: db),
        queued.sent?.token == token, queued.hasMore
      else { return false }
      queued.sent = nil
      try queued.write(of: write.id, change.table, on: db)
      return true
    }
  }

  package func reopenOperators(_ write: PendingWrite, token: String) throws(StoreError) {
    try self.write(to: write.collection) { (db, change) throws(SQLiteError) in
      guard let queued = try QueuedOperators(write.id, change.table, on: db),
        queued.sent?.token == token
      else { return }
      try (queued.reopened(change.table) ?? .whole).write(of: write.id, change.table, on: db)
    }
  }

  // MARK: Steps

  /// What is sent in place of an entity. Where that is the entity itself, its write is a whole one from now on. `isFree`: not so is a
  /// change of what the backend has lost, or one on a condition, which are about a certain version.
  static func takeOperators(
    _ queued: QueuedOperators, of write: PendingWrite, asOperators: Bool, isFree: Bool,
    now: Int64,
    _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> OutgoingOperators? {
    if asOperators, let sent = queued.sent, !sent.isEntity, !queued.isExpired(at: now) {
      return OutgoingOperators(
        updates: sent.updates, token: sent.token, hasMore: queued.hasMore)
    }
    let isFirst = queued.sent == nil
    guard isFree, isFirst || !asOperators, queued.open != nil,
      let all = queued.reopened(table)?.open, !all.isEmpty
    else {
      try QueuedOperators.whole.write(of: write.id, table, on: db)
      return nil
    }
    let sent = QueuedOperators.Sent(
      token: OutgoingWrite.token(of: write.revision), at: now, updates: all.text,
      isEntity: !asOperators)
    try QueuedOperators(open: EntityUpdates(), sent: sent).write(of: write.id, table, on: db)
    return OutgoingOperators(
      updates: sent.updates, token: sent.token, hasMore: false,
      form: asOperators ? .operators : .entity(isFirst: isFirst))
  }

  /// What the success of operators means; false: they are not known here any more.
  ///
  /// - Nothing was changed since: the row has done its work, and the backend's entity replaces ours.
  /// - More operators: these are carried out on what the backend has now, which is their base.
  /// - Saved whole since: the save is still to be sent, and meets what the backend has as a version of others, unless that is what we
  ///   had before the save.
  /// - The backend has lost what was changed here: the entity is sent whole, so that this is decided and not overwritten.
  static func confirmOperators(
    _ accepted: AcceptedWrite, token: String, _ change: Change, on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    let (id, table) = (accepted.write.id, change.table)
    guard var queued = try QueuedOperators(id, table, on: db), queued.sent?.token == token else {
      return false
    }
    queued.sent = nil
    let row = try db.statement("SELECT confirmed FROM pending WHERE \(table.isEntity(id))")
    let isLost = try row.step() && row.text(0) == PendingWrite.ofOtherData
    row.reset()
    if isLost { queued.open = nil }
    guard queued.open != nil, let stored = accepted.stored else {
      try queued.write(of: id, table, on: db)
      return true
    }
    guard queued.hasMore else {
      try db.run("DELETE FROM pending WHERE \(table.isEntity(id))")
      try put(stored, as: id, change: change, on: db)
      return true
    }
    _ = try rebase(accepted.write, stored, table: table, on: db)
    try queued.write(of: id, table, on: db)
    // What does not fit is for the backend to refuse.
    if let body = queued.applied(to: stored, now: change.now) {
      try replace(body, of: id, change: change, on: db)
    }
    return true
  }

  /// Makes what a read has shown the base of a write that consists of operators, and the entity what these make of it. False: there is
  /// no such write, or it starts from a later version.
  static func rebaseOperators(
    of id: String, onto body: UnsafeRawBufferPointer, _ change: Change, on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    let table = change.table
    let row = try db.statement(
      """
      SELECT p.operators, p.base, p.base_checksum, p.id, e.body FROM pending AS p
      JOIN \(sql: table.entities) AS e ON e.id = p.id
      WHERE p.collection = \(bind: table.number) AND p.id = \(bind: id) AND p.operation = 2 AND p.operators NOT NULL
        AND p.sent_operators IS NULL AND p.state = 0 AND p.confirmed IS NULL AND p.conditional = 0
      """)
    guard try row.step(), !row.isNull(1), row.isIntact(1) else { return false }
    let queued = QueuedOperators(operators: row.text(0), sent: nil, table)
    let (base, ours) = (try row.copy(1), try row.copy(4))
    row.reset()
    let theirs = try [UInt8](body, or: SQLiteError.noMemory)
    let format = table.format
    guard let old = format.version(of: base), let new = format.version(of: theirs),
      !format.isOlder(new, than: old), old == new || format.isOlder(old, than: new),
      let changed = queued?.applied(to: theirs, now: change.now)
    else { return false }
    guard theirs != base || changed != ours else { return false }
    let update = BoundSQL(
      """
      UPDATE pending SET base = \(open: ()), base_checksum = kv_checksum(\(openAgain: ()))
      WHERE \(table.isEntity(id))
      """)
    let statement = try db.statement(update)
    try statement.bind(borrowedText: body, at: update.openIndex)
    try statement.run()
    try replace(changed, of: id, change: change, on: db)
    return true
  }
}
