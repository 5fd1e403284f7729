internal import KVBase
package import KVQuery
internal import KVSQLite
package import KVSync

/// Requests that were sent without a queued write, until their outcome is known: a request that is lost leaves no pending
/// write that would remember it.
///
/// A note is deleted when its request is answered, or when a later request for the entity is settled, and after
/// a week in any case.
extension Storage {
  /// Microseconds after which a note is of no use, unless something is pending for its entity.
  private static let lifetime: Int64 = 7 * 86_400_000_000

  package func beginUnqueued(
    _ versions: [(id: String, sent: RemoteVersion)], in collection: String
  ) throws(StoreError) -> Int64 {
    let isDeletion = versions.allSatisfy { $0.sent == .gone }
    return try write(to: collection, makingRoom: isDeletion) { (db, change) throws(SQLiteError) in
      let request = try Self.newRequest(change, db)
      for (id, sent) in versions {
        try Self.record(sent, of: id, request: request, table: change.table, on: db)
      }
      return request
    }
  }

  package func beginRemoval(
    of query: Query, in collection: String
  ) throws(StoreError) -> Int64 {
    try write(to: collection, makingRoom: true) { (db, change) throws(SQLiteError) in
      let request = try Self.newRequest(change, db)
      try recordMatches(of: query, request, table: change.table, on: db)
      let sent = try Self.unanswered(matching: query, change.table, on: db)
      for id in try sent + Self.pending(matching: query, change.table, on: db) {
        try Self.record(.gone, of: id, request: request, table: change.table, on: db)
      }
      return request
    }
  }

  package func endUnqueued(
    _ request: Int64, _ outcome: UnqueuedOutcome
  ) throws(StoreError) {
    try write(durably: false, makingRoom: true) {
      (db: borrowing Connection) throws(SQLiteError) in
      try db.run(Self.deletion(of: request, outcome))
    }
  }

  // MARK: Steps

  /// Forgets the unanswered requests of an entity.
  static func settleUnqueued(
    _ id: String, _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) {
    try db.run("DELETE FROM unanswered WHERE \(table.isEntity(id))")
  }

  /// A number that no other request has; forgets the oldest.
  private static func newRequest(
    _ change: Change, _ db: borrowing Connection
  ) throws(SQLiteError) -> Int64 {
    let expired = change.now * 1000 - lifetime
    try db.run(
      "DELETE FROM unanswered WHERE request < \(bind: expired) AND NOT \(sql: Self.isPending)")
    return max(change.now * 1000, (try db.integer("SELECT max(request) FROM unanswered") ?? 0) + 1)
  }

  private static func record(
    _ version: RemoteVersion, of id: String, request: Int64, table: Table,
    on db: borrowing Connection
  ) throws(SQLiteError) {
    let insertion = BoundSQL(
      """
      INSERT OR REPLACE INTO unanswered
      VALUES (\(bind: table.number), \(bind: id), \(bind: request), \(open: ()))
      """)
    let statement = try db.statement(insertion)
    try version.column.withBorrowedBytes { (bytes) throws(SQLiteError) in
      try statement.bind(borrowedText: bytes, at: insertion.openIndex)
      try statement.run()
    }
  }

  /// Notes the deletion of what matches here.
  private func recordMatches(
    of query: Query, _ request: Int64, table: Table, on db: borrowing Connection
  ) throws(SQLiteError) {
    let selection = try indexes.plan(query.selection, table, on: db).selection
    let insertion: SQLFragment = """
      INSERT INTO unanswered SELECT \(bind: table.number), id, \(bind: request), 'null'
      FROM \(sql: table.entities) WHERE \(selection.condition)
      """
    try db.prepare(insertion).run()
  }

  /// The pending writes of entities that match in a version that the backend may have.
  private static func pending(
    matching query: Query, _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> [String] {
    let matcher = query.of(table.format).matcher
    let find = try db.prepare(
      """
      SELECT id, base, tried, remote FROM pending
      WHERE collection = \(bind: table.number) AND base NOT NULL
      """)
    var ids: [String] = []
    while try find.step() {
      let versions = try find.versions(1) + find.versions(2) + find.versions(3)
      let matches = versions.compactMap(\.bytes).contains { mayMatch($0, matcher) }
      if matches, let id = find.text(0) { ids.append(id) }
    }
    return ids
  }

  /// The entities that were sent past the queue in a version that matches.
  private static func unanswered(
    matching query: Query, _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> [String] {
    let matcher = query.of(table.format).matcher
    let find = try db.prepare(
      """
      SELECT id, version FROM unanswered
      WHERE collection = \(bind: table.number) AND version <> 'null'
      """)
    var ids: [String] = []
    while try find.step() {
      if mayMatch(try find.copy(1), matcher), let id = find.text(0) { ids.append(id) }
    }
    return ids
  }

  /// What cannot be evaluated here may match there.
  private static func mayMatch(_ body: [UInt8], _ matcher: Matcher?) -> Bool {
    (try? matcher?.matches(body)) ?? true
  }

  /// Deletes the notes that the end of a request makes superfluous.
  private static func deletion(of request: Int64, _ outcome: UnqueuedOutcome) -> SQLFragment {
    let isRequest: SQLFragment = "request = \(bind: request)"
    switch outcome {
    case .accepted:
      return """
        DELETE FROM unanswered WHERE (collection, id) IN
          (SELECT collection, id FROM unanswered WHERE \(isRequest))
        """
    case .removed:
      return """
        DELETE FROM unanswered WHERE \(isRequest) AND NOT \(sql: isPending) AND NOT EXISTS (
          SELECT 1 FROM unanswered AS u WHERE u.collection = unanswered.collection
          AND u.id = unanswered.id AND u.request <> \(bind: request))
        """
    case .refused: return "DELETE FROM unanswered WHERE \(isRequest)"
    }
  }

  private static let isPending = """
    EXISTS (SELECT 1 FROM pending AS p
      WHERE p.collection = unanswered.collection AND p.id = unanswered.id)
    """
}
