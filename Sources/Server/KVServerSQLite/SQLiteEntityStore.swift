internal import KVBase
internal import KVQuery
internal import KVSQLite
internal import KVServerCore

/// The entities in tables of SQLite, one for each collection. Safe from any thread.
final class SQLiteEntityStore: ServerEntityStore {
  private let entities: Entities
  private let collections: CollectionRegistry
  private let histories: Histories
  private let sessions: Sessions
  private let automatic: AutomaticIndexes?
  private var database: Database { entities.database }

  init(
    _ entities: Entities, collections: CollectionRegistry, histories: Histories, sessions: Sessions,
    automatic: AutomaticIndexes?
  ) {
    self.automatic = automatic
    self.sessions = sessions
    self.entities = entities
    self.collections = collections
    self.histories = histories
  }

  func readStart(in app: Int64) -> Timestamp { entities.readStart() }

  /// Stores nothing, so that it waits for no writer.
  func get(
    _ id: String, in key: CollectionKey, for claim: Claim
  ) throws(ServerError) -> (body: Payload, modified: Timestamp, start: Timestamp) {
    let (start, collection) = collections.finding.withLock {
      (entities.clock.readStart(), collections.find(key))
    }
    let found = try entities.get(
      id, in: collection, for: try viewer(of: key, collection, for: claim))
    return (found.body, found.modified, start)
  }

  func find(
    _ query: Query, in key: CollectionKey, for claim: Claim, within budget: WorkBudget
  ) throws(ServerError) -> (cursor: any EntityCursor, start: Timestamp) {
    let (start, found) = begin(key)
    let viewer = try viewer(of: key, found, for: claim)
    guard let collection = found else {
      _ = try viewer.rule(for: .read)
      return (EmptyCursor(), start)
    }
    let cursor = try SelectionCursor(
      query, in: collection, of: database, for: viewer, within: budget,
      note: automatic?.note(of: query, in: key))
    return (cursor, start)
  }

  func count(
    _ query: Query, in key: CollectionKey, for claim: Claim, within budget: WorkBudget
  ) throws(ServerError) -> (count: Int, start: Timestamp) {
    let (start, collection) = begin(key)
    let count = try entities.count(
      query, in: collection, for: try viewer(of: key, collection, for: claim), within: budget,
      note: automatic?.note(of: query, in: key))
    return (count, start)
  }

  func group(
    _ query: Query, in key: CollectionKey, for claim: Claim, within budget: WorkBudget,
    into groups: inout GroupReader
  ) throws(ServerError) {
    let found = collections.find(key)
    let rows = try RowSelection(
      query, for: try viewer(of: key, found, for: claim), operation: .read, within: budget)
    guard let collection = found else { return }
    try Entities.storage { () throws(SQLiteError) in
      try database.read(within: budget) {
        (connection: borrowing Connection) throws(SQLiteError) in
        let note = automatic?.note(of: query, in: key)
        let rows = try rows.planned(in: collection, on: connection, note)
        let select = try connection.statement(collection.page(rows))
        var found = 0
        // What is damaged is left out.
        while try select.step(), !select.hasEntity(1) || groups.add(select.bytes(1)) { found += 1 }
        note?.scanned(found: found, by: rows.use)
      }
    }
  }

  func perform(
    _ writes: [Result<EntityWrite, ServerError>], in key: CollectionKey, for claim: Claim
  ) throws(ServerError) -> [Result<WrittenEntity?, ServerError>] {
    try collections.naming.withLock { () throws(ServerError) in
      let found = collections.find(key)
      let viewer = try viewer(of: key, found, for: claim)
      let creates = writes.contains { (try? $0.get().mayCreate) ?? false }
      guard let collection = creates ? try histories.make(key) : found else {
        return writes.map { $0.flatMap { _ in .failure(ServerError(.entityNotFound)) } }
      }
      let results = try entities.perform(writes, in: collection, for: viewer)
      automatic?.changed(results.count { (try? $0.get()) != nil }, in: key)
      return results
    }
  }

  func delete(
    _ query: Query, in key: CollectionKey, for claim: Claim, within budget: WorkBudget
  ) throws(ServerError) -> Int {
    try collections.naming.withLock { () throws(ServerError) in
      let collection = collections.find(key)
      let count = try entities.delete(
        query, in: collection, for: try viewer(of: key, collection, for: claim), within: budget)
      automatic?.changed(count, in: key)
      return count
    }
  }

  /// Takes the time of a read and finds its collection.
  private func begin(_ key: CollectionKey) -> (start: Timestamp, collection: EntityCollection?) {
    collections.finding.withLock { (entities.readStart(), collections.find(key)) }
  }

  /// `collection`: what was found under the key, so that its permissions are those of what is read or written.
  private func viewer(
    of key: CollectionKey, _ collection: EntityCollection?, for claim: Claim
  ) throws(ServerError) -> Viewer {
    Viewer(
      principal: try sessions.principal(of: claim, in: key.app),
      permissions: collections.permissions(of: key, collection))
  }

  // MARK: Changes

  func changes(
    of query: Query, since: Timestamp, withLeft: Bool, in key: CollectionKey,
    for claim: Claim, within budget: WorkBudget
  ) throws(ServerError) -> EntityChanges {
    // First: what happens from now on is told the next time, a change of the rule included.
    let (start, collection) = begin(key)
    let viewer = try viewer(of: key, collection, for: claim)
    let rows = try RowSelection(query, for: viewer, operation: .read, within: budget)
    try check(since, collection, for: viewer.principal, app: key.app)
    guard let collection else {
      return EntityChanges(changed: EmptyCursor(), deleted: [], left: [], start: start)
    }
    let changes = try Entities.storage { () throws(SQLiteError) in
      try database.read(within: budget) { (connection: borrowing Connection) throws(SQLiteError) in
        try read(rows, since, withLeft: withLeft, start: start, in: collection, on: connection)
      }
    }.get()
    // The history may have been interrupted before what was read.
    try check(since, collection, for: viewer.principal, app: key.app)
    return changes
  }

  /// Throws unless all changes since a moment are known.
  private func check(
    _ since: Timestamp, _ collection: EntityCollection?, for principal: Principal, app: Int64
  ) throws(ServerError) {
    var rightsSince: Timestamp?
    if case .user(let id) = principal {
      rightsSince = try UserGroups.rightsChanged(of: id, app: app, in: database)
    }
    let known = KnownHistory(from: histories.start(of: collection), rightsSince: rightsSince)
    try known.check(since, isOfRead: entities.clock.hasGiven(since))
  }

  private func read(
    _ rows: RowSelection, _ since: Timestamp, withLeft: Bool, start: Timestamp,
    in collection: EntityCollection, on connection: borrowing Connection
  ) throws(SQLiteError) -> Result<EntityChanges, ServerError> {
    // One more than may be, to notice that there are too many.
    let limit = EntityList.maxEntities + 1
    var (changed, bytes): ([Int64], Int) = ([], 0)
    let select = try connection.statement(
      collection.changed(rows, since: since, limit: limit))
    while try select.step() {
      changed.append(select.int64(0))
      bytes += select.int(1)
    }
    var deleted = try Self.ids(
      collection.deleted(rows, since: since, limit: limit), on: connection)
    var left: [String] = []
    if withLeft {
      left = try Self.ids(collection.left(rows, since: since, limit: limit), on: connection)
    } else {
      deleted += try Self.ids(collection.closed(rows, since: since, limit: limit), on: connection)
    }
    do throws(ServerError) {
      let count = changed.count + deleted.count + left.count
      try KnownHistory.checkSize(count: count, bytes: bytes)
    } catch {
      return .failure(error)
    }
    let cursor = SelectionCursor(changed, rows, in: collection, of: database)
    return .success(EntityChanges(changed: cursor, deleted: deleted, left: left, start: start))
  }

  private static func ids(
    _ sql: SQLFragment, on connection: borrowing Connection
  ) throws(SQLiteError) -> [String] {
    let rows = try connection.statement(sql)
    var ids: [String] = []
    while try rows.step() { ids.append(rows.text(0) ?? "") }
    return ids
  }
}
