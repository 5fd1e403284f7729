internal import KVBase
internal import KVQuery
internal import KVServerCore

/// The entities in one table of PostgreSQL. Safe from any thread.
final class PostgresEntities: ServerEntityStore {
  let database: PostgresDatabase
  let collections: PostgresCollections
  let known = KnownCollections()
  private let writer: AppWriter
  let shared: SharedWriter
  private let reader: SharedReader
  private let clocks: AppClocks
  private let automatic: AutomaticIndexes?

  init(
    _ writer: AppWriter, _ collections: PostgresCollections, reader: SharedReader,
    clocks: AppClocks,
    automatic: AutomaticIndexes?
  ) {
    self.automatic = automatic
    database = writer.database
    self.reader = reader
    self.writer = writer
    shared = SharedWriter(writer, collections)
    self.collections = collections
    self.clocks = clocks
  }

  func readStart(in app: Int64) throws(ServerError) -> Timestamp {
    clocks.refresh(app)
    return try storage { () throws(PostgresError) in try clocks.read(app) }
  }

  // MARK: Reading

  func get(
    _ id: String, in key: CollectionKey, for claim: Claim
  ) throws(ServerError) -> FoundEntity {
    let rows = try storage { () throws(PostgresError) in
      try database.read(CollectionState.select(key, for: claim, with: id))
    }
    return try entity(id, rows, in: key, for: claim)
  }

  func get(
    _ id: String, in key: CollectionKey, for claim: Claim,
    then tell: @escaping @Sendable (Result<FoundEntity, ServerError>) -> Void
  ) -> Bool {
    reader.read(CollectionState.select(key, for: claim, with: id)) { [self] rows in
      tell(
        Result { () throws(ServerError) in
          try entity(id, rows.mapError { ServerError($0) }.get(), in: key, for: claim)
        })
    }
  }

  /// Reads what `CollectionState.select` gives with an entity.
  private func entity(
    _ id: String, _ rows: ResultRows, in key: CollectionKey, for claim: Claim
  ) throws(ServerError) -> FoundEntity {
    let state = collections.state(key, rows, for: claim)
    let viewer = try state.viewer()
    let access = state.access(try viewer.rule(for: .read), for: viewer)
    guard !rows.isNull(0, 1) else { throw ServerError(.entityNotFound) }
    let row = StoredRow(rows, 0, from: 1)
    guard access.allows(row) else { throw .forbidden(id) }
    return (Payload(row.version.body), row.version.modified, state.readTime)
  }

  func find(
    _ query: Query, in key: CollectionKey, for claim: Claim, within budget: WorkBudget
  ) throws(ServerError) -> (cursor: any EntityCursor, start: Timestamp) {
    if let page = try firstPage(query, in: key, for: claim, within: budget) { return page }
    let state = try state(key, for: claim)
    let wanted = query.walk.map { Query($0.rest) } ?? query
    guard
      let selection = try selection(wanted, of: state, to: .read, within: budget)
    else {
      return (EmptyCursor(), state.readTime)
    }
    let cursor = PostgresCursor(
      CursorPlan(query), selection, skip: query.skip, of: database,
      note: note(of: query, in: key, by: selection))
    return (cursor, state.readTime)
  }

  func count(
    _ query: Query, in key: CollectionKey, for claim: Claim, within budget: WorkBudget
  ) throws(ServerError) -> (count: Int, start: Timestamp) {
    if let count = try countDirectly(query, in: key, for: claim, within: budget) { return count }
    let state = try state(key, for: claim)
    guard let selection = try selection(query, of: state, to: .read, within: budget) else {
      return (0, state.readTime)
    }
    let note = note(of: query, in: key, by: selection)
    if selection.isExact {
      let count = try storage { () throws(PostgresError) in
        try database.snapshot { (connection) throws(PostgresError) -> Int64? in
          let selection = try selection.current(on: connection)
          guard selection.isExact else { return nil }
          return try connection.run(
            "SELECT count(*) FROM entity WHERE \(selection.condition)", within: budget
          ).int64(0, 0)
        }
      }
      if let count { return (Int(count), state.readTime) }
    }
    var count = 0
    try forEachEntity(of: selection, restart: { count = 0 }) { _, _, _ in
      count += 1
      return true
    }
    note?.scanned(found: count, by: selection.use)
    return (count, state.readTime)
  }

  func group(
    _ query: Query, in key: CollectionKey, for claim: Claim, within budget: WorkBudget,
    into groups: inout GroupReader
  ) throws(ServerError) {
    let state = try state(key, for: claim)
    guard let selection = try selection(query, of: state, to: .read, within: budget) else {
      return
    }
    let note = note(of: query, in: key, by: selection)
    let empty = groups
    var found = 0
    try forEachEntity(
      of: selection,
      restart: { (groups, found) = (empty, 0) }
    ) { _, _, body in
      found += 1
      return groups.add(body)
    }
    note?.scanned(found: found, by: selection.use)
  }

  /// For noting how a query is answered; that indexes find what it asks for is noted.
  private func note(
    of query: Query, in key: CollectionKey, by selection: RowSelection
  ) -> QueryNote? {
    let note = automatic?.note(of: query, in: key)
    if let use = selection.use { note?.found(by: use) }
    return note
  }

  // MARK: Writing

  func perform(
    _ writes: [Result<EntityWrite, ServerError>], in key: CollectionKey, for claim: Claim
  ) throws(ServerError) -> [Result<WrittenEntity?, ServerError>] {
    let results = try shared.perform(.init(key: key, claim: claim, writes: writes))
    automatic?.changed(results.count { (try? $0.get()) != nil }, in: key)
    return results
  }

  /// What matches is looked for before the transaction: a filter that takes long must not keep writers waiting. Only what
  /// has changed since is held against the filter once more.
  func delete(
    _ query: Query, in key: CollectionKey, for claim: Claim, within budget: WorkBudget
  ) throws(ServerError) -> Int {
    let state = try state(key, for: claim)
    guard
      let selection = try selection(query, of: state, to: .delete, within: budget)
    else { return 0 }
    var found: [RecordID: Timestamp] = [:]
    try forEachEntity(of: selection, restart: { found = [:] }) { id, modified, _ in
      found[RecordID(id)] = modified
      return true
    }
    guard !found.isEmpty else { return 0 }
    let reading = [
      CollectionState.select(key, for: claim),
      StoredRow.select(found.keys.map(\.text), in: key, withBodies: false),
    ]
    let count = try writer.write(app: key.app, for: claim, reading: reading) {
      (transaction, rows) throws(PostgresError) -> Int in
      let state = collections.state(key, rows[0], for: claim)
      guard let number = state.number else { return 0 }
      var (deletable, changed): ([StoredRow], [String]) = ([], [])
      for index in 0..<rows[1].count {
        let row = StoredRow(rows[1], index)
        if found[RecordID(row.id)] == row.version.modified {
          deletable.append(row)
        } else {
          changed.append(row.id)
        }
      }
      for id in changed {
        let rows = try transaction.run(StoredRow.select([id], in: key))
        let row = StoredRow(rows, 0)
        if try selection.selects(row) { deletable.append(row) }
      }
      if budget.exhaustion != nil { throw PostgresError(.stopped, "The delete was stopped.") }
      var entities = EntityWriter(transaction, state, number: number)
      if !deletable.isEmpty { try entities.remove(deletable) }
      entities.announce()
      return deletable.count
    }
    automatic?.changed(count, in: key)
    return count
  }

  // MARK: Parts

  /// The collection as it is now. The time of the read is not older than a moment.
  func state(
    _ key: CollectionKey, for claim: Claim
  ) throws(ServerError) -> CollectionState {
    let select = CollectionState.select(key, for: claim, [.indexes, .rights])
    return state(key, try read(select, of: key.app, within: .unlimited), for: claim)
  }

  /// Reads a state from rows that `read` has given.
  func state(
    _ key: CollectionKey, _ rows: ResultRows, column: Int = 0, for claim: Claim
  ) -> CollectionState {
    let state = collections.state(key, rows, column: column, for: claim)
    clocks.saw(state.clock, of: key.app)
    known.note(state)
    return state
  }

  func read(
    _ sql: SQL, of app: Int64, within budget: WorkBudget
  ) throws(ServerError) -> ResultRows {
    clocks.refresh(app)
    return try storage { () throws(PostgresError) in try database.read(sql, within: budget) }
  }

  /// Nil: the collection does not exist. Throws if its rule forbids this to all users.
  func selection(
    _ query: Query, of state: CollectionState, to action: Permissions.Action,
    within budget: WorkBudget
  ) throws(ServerError) -> RowSelection? {
    let viewer = try state.viewer()
    let access = state.access(
      try viewer.rule(for: action), for: viewer, isWriting: action != .read)
    let looksInside = query.namedIDs?.isExact != true && query.matcher(within: budget) != nil
    let readAccess = try viewer.readAccess(toDelete: action == .delete, byMembers: looksInside)
    return state.number.map {
      RowSelection(
        query, in: $0, access,
        and: readAccess.map { state.access($0.rule, for: viewer) }, within: budget,
        indexes: state.indexes)
    }
  }

  /// Calls `body` for each selected entity, in the order of storage, as long as it says that it wants more. `restart` is
  /// called before each beginning: there may be more than one.
  private func forEachEntity(
    of selection: RowSelection, restart: () -> Void,
    _ body: (_ id: String, _ modified: Timestamp, _ body: UnsafeRawBufferPointer) -> Bool
  ) throws(ServerError) {
    try storage { () throws(PostgresError) in
      try database.snapshot { (connection) throws(PostgresError) in
        restart()
        let selection = try selection.current(on: connection)
        try connection.forEachRow(
          of: "SELECT id, modified, body FROM entity WHERE \(selection.condition) ORDER BY n",
          within: selection.budget
        ) { (rows, row) throws(PostgresError) in
          guard try selection.matches(rows.bytes(row, 2)) else { return true }
          return body(
            rows.text(row, 0), Timestamp(milliseconds: rows.int64(row, 1)), rows.bytes(row, 2))
        }
      }
    }
  }
}
