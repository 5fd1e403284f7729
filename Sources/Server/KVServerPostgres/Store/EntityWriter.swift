internal import KVBase
internal import KVServerCore

/// Carries out writes of a collection's entities inside a transaction that has taken its app's time.
///
/// The rows that it may meet are given to it: as no other transaction writes to the app meanwhile, they are what is
/// stored. So it waits for the server only where it has to ask more.
struct EntityWriter {
  let transaction: AppWriter.Transaction
  let collection: CollectionState
  let number: Int64
  /// The stored rows, by id.
  private var stored: [RecordID: StoredRow] = [:]
  /// What is known of the writes that have a token.
  var tokens: WriteTokens
  private var changes: LiveChanges
  private var now: Timestamp { transaction.now }

  init(
    _ transaction: AppWriter.Transaction, _ collection: CollectionState, number: Int64,
    stored rows: ResultRows? = nil
  ) {
    self.transaction = transaction
    self.collection = collection
    self.number = number
    changes = LiveChanges(rule: collection.permissions.read)
    tokens = WriteTokens(collection.key)
    guard let rows else { return }
    for row in 0..<rows.count {
      let found = StoredRow(rows, row)
      stored[RecordID(found.id)] = found
    }
  }

  /// Every write of an app has a time of its own, which is later than all before.
  private struct Times: WriteTimes {
    let now: Timestamp
    func creation() -> Timestamp { now }
    func change(after previous: Timestamp) -> Timestamp { now }
    func deletion(after previous: Timestamp) -> Timestamp { now }
  }

  // MARK: Writes

  /// Carries out one write. Nil: the entity was deleted.
  mutating func perform(
    _ write: EntityWrite, for viewer: Viewer
  ) throws(PostgresError) -> Result<WrittenEntity?, ServerError> {
    let row = stored[RecordID(write.id)]
    if let done = tokens.find(write, by: viewer) {
      let access = viewer.accessToRead.map { NamedAccess(access: $0, groups: collection.groups) }
      let mayRead = row.flatMap { row in access?.allows(row) } ?? false
      return done.answer(
        write.id, stored: row?.version, mayRead: mayRead, in: collection.key.name)
    }
    let step: WriteStep
    do throws(ServerError) {
      let access = try viewer.access(for: write).get()
      let found = Self.found(
        row, by: access.map { NamedAccess(access: $0, groups: collection.groups) })
      step = try write.step(over: found, for: viewer, at: Times(now: now))
      if case .insert = step, row != nil { throw .alreadyExists }
    } catch {
      return .failure(error)
    }
    tokens.add(step.done, write, by: viewer, in: transaction)
    switch step {
    case .insert(let record):
      try insert(record)
      return .success(record.written(isNew: true))
    case .update(let record, let changesAccess):
      try update(record, changesAccess: changesAccess)
      return .success(record.written(isNew: false))
    case .delete:
      if let row { try remove([row]) }
      return .success(nil)
    }
  }

  private static func found(_ row: StoredRow?, by access: NamedAccess?) -> StoredEntity {
    guard let row, let access else { return .missing }
    return access.allows(row) ? .found(row.version) : .forbidden
  }

  // MARK: Rows

  mutating func insert(_ record: EntityRecord) throws(PostgresError) {
    let acl = record.acl
    transaction.enqueue(
      """
      INSERT INTO entity (collection, id, creator, gr, gw, readers, writers, created, modified, body)
      VALUES (\(bind: number), \(bind: record.id), \(bind: acl.creator), \(bind: acl.everybodyReads),
        \(bind: acl.everybodyWrites), \(bind: acl.readerNames), \(bind: acl.writerNames),
        \(bind: record.created.milliseconds), \(bind: record.modified.milliseconds),
        \(bind: record.body))
      """)
    for index in collection.indexes { add(index.entry(record.body), of: record.id, to: index) }
    stored[RecordID(record.id)] = StoredRow(record)
    try recordChange(record.id, .create(body: record.body), for: acl)
  }

  mutating func update(_ record: EntityRecord, changesAccess: Bool) throws(PostgresError) {
    let acl = record.acl
    if changesAccess, collection.historySince != nil { keepAccess(replacedBy: record) }
    transaction.enqueue(
      """
      UPDATE entity SET creator = \(bind: acl.creator), gr = \(bind: acl.everybodyReads),
        gw = \(bind: acl.everybodyWrites), readers = \(bind: acl.readerNames),
        writers = \(bind: acl.writerNames), modified = \(bind: record.modified.milliseconds),
        body = \(bind: record.body)
      WHERE collection = \(bind: number) AND id = \(bind: record.id)
      """)
    for index in collection.indexes { update(index, to: record) }
    if changesAccess, let former = stored[RecordID(record.id)]?.acl, former.differs(from: acl) {
      try recordChange(record.id, .revoke(at: record.modified), for: former, except: acl)
    }
    stored[RecordID(record.id)] = StoredRow(record)
    try recordChange(record.id, .update(body: record.body), for: acl)
  }

  /// Keeps the access list that is about to be replaced, if it differs from the new one.
  private func keepAccess(replacedBy record: EntityRecord) {
    let acl = record.acl
    transaction.enqueue(
      """
      INSERT INTO former_access (collection, at, id, creator, gr, gw, readers, writers)
      SELECT collection, \(bind: now.milliseconds), id, creator, gr, gw, readers, writers
      FROM entity WHERE collection = \(bind: number) AND id = \(bind: record.id)
        AND (creator, gr, gw, readers, writers) IS DISTINCT FROM
          (\(bind: acl.creator), \(bind: acl.everybodyReads), \(bind: acl.everybodyWrites),
            \(bind: acl.readerNames), \(bind: acl.writerNames))
      """)
  }

  /// Deletes rows, and keeps what they were if the collection has a history.
  mutating func remove(_ rows: [StoredRow]) throws(PostgresError) {
    let ids = rows.map(\.id)
    if collection.historySince != nil {
      transaction.enqueue(
        """
        INSERT INTO tombstone (collection, at, id, creator, gr, gw, readers, writers, body)
        SELECT collection, \(bind: now.milliseconds), id, creator, gr, gw, readers, writers, body
        FROM entity WHERE collection = \(bind: number) AND id = ANY(\(bind: ids))
        """)
    }
    for index in collection.indexes { transaction.enqueue(index.remove(ids, from: number)) }
    transaction.enqueue(
      "DELETE FROM entity WHERE collection = \(bind: number) AND id = ANY(\(bind: ids))")
    for row in rows {
      stored[RecordID(row.id)] = nil
      try recordChange(row.id, .delete(at: now), for: row.acl)
    }
  }

  // MARK: Indexes

  /// Puts a row's new values in the place of the old ones, if they differ.
  private func update(_ index: EntityIndex, to record: EntityRecord) {
    let entry = index.entry(record.body)
    if let old = stored[RecordID(record.id)], index.entry(old.version.body) == entry { return }
    transaction.enqueue(index.remove([record.id], from: number))
    add(entry, of: record.id, to: index)
  }

  private func add(_ entry: EntityIndex.Entry, of id: String, to index: EntityIndex) {
    if !entry.rows.isEmpty { transaction.enqueue(index.insert(entry, id: id, in: number)) }
    if let note = index.note(entry.shape, isCut: entry.isCut) { transaction.enqueue(note) }
  }

  // MARK: Live data

  /// Notes a change for live data.
  private mutating func recordChange(
    _ id: String, _ what: LiveChange.What, for acl: ACL, except others: ACL? = nil
  ) throws(PostgresError) {
    guard collection.hasListeners, let groups = changes.groups(of: acl, except: others) else {
      return
    }
    var members: [(group: String, user: String)] = []
    if !groups.isEmpty {
      let rows = try transaction.run(MemberStatements.users(inAny: groups, app: transaction.app))
      members = (0..<rows.count).map { (rows.text($0, 0), rows.text($0, 1)) }
    }
    changes.add(id, what, acl: acl, except: others, members: members)
  }

  /// Stores what was recorded, to be sent to those who listen. The last step. Gives how many messages that are.
  @discardableResult
  func announce() -> Int {
    let content = LiveAnnouncement.Content.changes(changes)
    LiveJournal.add(content, of: collection.key.name, in: transaction)
    return content.count
  }
}
