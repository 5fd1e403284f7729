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
        let rows = try select(
          .changed(selection.shape), since, collection: collection, on: connection)
        while try rows.step() {
          changed.append(rows.int64(0))
          bytes += rows.int(1)
        }
        deleted = try ids(.deleted(selection.shape), since, collection: collection, on: connection)
        if withLeft {
          left = try ids(.left(selection.shape), since, collection: collection, on: connection)
        } else {
          deleted += try ids(
            .closed(selection.shape), since, collection: collection, on: connection)
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

  private func ids(
    _ shape: EntityCollection.Shape, _ since: Timestamp, collection: EntityCollection,
    on connection: borrowing Connection
  ) throws(SQLiteError) -> [String] {
    let rows = try select(shape, since, collection: collection, on: connection)
    var ids: [String] = []
    while try rows.step() { ids.append(rows.text(0) ?? "") }
    return ids
  }

  private func select(
    _ shape: EntityCollection.Shape, _ since: Timestamp, collection: EntityCollection,
    on connection: borrowing Connection
  ) throws(SQLiteError) -> Statement {
    let rows = try connection.statement(collection.sql(shape))
    try selection.bind(to: rows)
    try rows.bind(since.milliseconds, at: 4)
    // One more than may be, to notice that there are too many.
    try rows.bind(Finding.maxEntities + 1, at: 5)
    return rows
  }
}
