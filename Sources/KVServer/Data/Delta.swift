internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVSQLite

/// What has changed in a collection since a moment, as one viewer may see it.
struct Delta: Sendable {
  private var changed: [Int64] = []
  private var deleted: [String] = []
  private var left: [String] = []
  private let selection: RowSelection

  /// Reads the changes in one snapshot. Throws if there are more than an answer may hold: a part of them
  /// would be taken for all.
  ///
  /// What changed at the very moment `since` is included, since a client's read may have missed it. What the viewer may
  /// not read any more has `left`; a client that does not know this list is told that it was deleted. Ids are told
  /// only of what he could read at some time since.
  init(
    _ query: Query, since: Timestamp, withLeft: Bool, in collection: EntityCollection,
    of database: Database, for viewer: Viewer, within budget: WorkBudget
  ) throws(ServerError) {
    selection = try RowSelection(query, for: viewer, operation: .read, within: budget)
    var bytes = 0
    try Entities.storage { () throws(SQLiteError) in
      try database.read(within: budget) { (connection: borrowing Connection) throws(SQLiteError) in
        let rows = try connection.statement(
          collection.changed(selection, since: since, limit: Self.limit))
        while try rows.step() {
          changed.append(rows.int64(0))
          bytes += rows.int(1)
        }
        deleted = try Self.ids(
          collection.deleted(selection, since: since, limit: Self.limit), on: connection)
        if withLeft {
          left = try Self.ids(
            collection.left(selection, since: since, limit: Self.limit), on: connection)
        } else {
          deleted += try Self.ids(
            collection.closed(selection, since: since, limit: Self.limit), on: connection)
        }
      }
    }
    let count = changed.count + deleted.count + left.count
    guard count <= Finding.maxEntities, bytes <= Finding.maxBytes else {
      throw ServerError(
        .resultSetSizeExceeded, "more than \(Finding.maxEntities) changes: read everything instead"
      )
    }
  }

  /// `{"changed":[…],"deleted":[…]}`, made while it is sent.
  func body(
    _ projection: Projection?, withLeft: Bool, in collection: EntityCollection,
    of database: Database
  ) -> Finding {
    var tail = "],\"deleted\":" + Self.list(deleted)
    if withLeft { tail += ",\"left\":" + Self.list(left) }
    return Finding(
      changed, selection, projection: projection, in: collection, of: database,
      head: "{\"changed\":[",
      tail: tail + "}")
  }

  /// Each id once.
  private static func list(_ ids: [String]) -> String {
    var seen: Set<RecordID> = []
    let once = ids.filter { seen.insert(RecordID($0)).inserted }
    return JSONValue.array(once.map { ["_id": .string($0)] }).text
  }

  /// One more than may be, to notice that there are too many.
  private static let limit = Finding.maxEntities + 1

  private static func ids(
    _ sql: SQLFragment, on connection: borrowing Connection
  ) throws(SQLiteError) -> [String] {
    let rows = try connection.statement(sql)
    var ids: [String] = []
    while try rows.step() { ids.append(rows.text(0) ?? "") }
    return ids
  }
}
