internal import KVBase
internal import KVQuery
internal import KVServerCore

/// The changes of a collection since a moment.
extension PostgresEntities {
  func changes(
    of query: Query, since: Timestamp, withLeft: Bool, in key: CollectionKey,
    for claim: Claim, within budget: WorkBudget
  ) throws(ServerError) -> EntityChanges {
    let state = try state(key, for: claim)
    // Of what has changed, each is matched: no index knows it better.
    let selection = try selection(query, of: state, to: .read, within: budget)?
      .withoutIndexes
    try check(since, state)
    guard let selection else {
      return EntityChanges(changed: EmptyCursor(), deleted: [], left: [], start: state.readTime)
    }
    let found = try storage { () throws(PostgresError) in
      try database.snapshot { (connection) throws(PostgresError) in
        try ChangeReader(selection, since: since, connection).read(withLeft: withLeft)
      }
    }
    guard let found else {
      throw ServerError(
        .resultSetSizeExceeded,
        "more than \(EntityList.maxEntities) changes; read everything instead")
    }
    let cursor = PostgresCursor(.rows(found.changed, next: 0), selection, of: database)
    return EntityChanges(
      changed: cursor, deleted: found.deleted, left: found.left, start: state.readTime)
  }

  /// Throws unless all changes since a moment are known.
  private func check(
    _ since: Timestamp, _ state: CollectionState
  ) throws(ServerError) {
    guard let first = state.historyStart else {
      throw ServerError(.missingConfiguration, "the collection keeps no history")
    }
    guard since >= first else {
      throw ServerError(.parameterValueOutOfRange, "the history starts at \(first)")
    }
    if case .success(.user) = state.principal, state.rightsSince > since {
      throw ServerError(.parameterValueOutOfRange, "the user has joined or left a group since")
    }
    guard since <= state.readTime else {
      throw ServerError(
        .parameterValueOutOfRange, "since is not the time of a former read of this data: \(since)")
    }
  }
}

/// Reads what has changed, in one snapshot.
private struct ChangeReader {
  typealias Changes = (changed: [Int64], deleted: [String], left: [String])

  private let selection: RowSelection
  private let since: Int64
  private let connection: PostgresConnection
  /// One more than may be, to notice that there are too many.
  private let limit = EntityList.maxEntities + 1

  init(_ selection: RowSelection, since: Timestamp, _ connection: PostgresConnection) {
    self.selection = selection
    self.since = since.milliseconds
    self.connection = connection
  }

  /// Nil: more than an answer may hold.
  func read(withLeft: Bool) throws(PostgresError) -> Changes? {
    let (changed, unmatched, bytes) = try written()
    let (deleted, closed) = try gone()
    guard bytes <= EntityList.maxBytes else { return nil }
    // What could be read and cannot any more, or is gone, and is not among what was deleted.
    let hidden = try self.hidden().union(withLeft && selection.hasFilter ? closed : [])
      .subtracting(deleted)
    let left = withLeft ? hidden.union(selection.hasFilter ? unmatched : []) : []
    let all = withLeft ? deleted : deleted.union(hidden)
    guard changed.count + all.count + left.count <= EntityList.maxEntities else { return nil }
    return (changed, all.map(\.text), left.map(\.text))
  }

  /// The entities that were written since then and may be read: the numbers of what matches, the ids of what does not, and
  /// the bytes of what matches.
  private func written() throws(PostgresError) -> ([Int64], Set<RecordID>, Int) {
    var (changed, bytes): ([Int64], Int) = ([], 0)
    var unmatched: Set<RecordID> = []
    let select: SQL = """
      SELECT n, id, body FROM entity
      WHERE collection = \(bind: selection.collection) AND modified >= \(bind: since)
        AND \(selection.access.condition)
      ORDER BY modified, n
      """
    try connection.forEachRow(of: select, within: selection.budget) {
      (rows, row) throws(PostgresError) in
      if try selection.matches(rows.text(row, 1), rows.bytes(row, 2)) {
        changed.append(rows.int64(row, 0))
        bytes += rows.bytes(row, 2).count
      } else {
        unmatched.insert(RecordID(rows.text(row, 1)))
      }
      return changed.count < limit && unmatched.count < limit
    }
    return (changed, unmatched, bytes)
  }

  /// The ids of what was deleted since and matched at the end; and of what did not match and cannot be read now.
  private func gone() throws(PostgresError) -> (deleted: Set<RecordID>, closed: Set<RecordID>) {
    var (deleted, closed): (Set<RecordID>, Set<RecordID>) = ([], [])
    let select: SQL = """
      SELECT id, body, \(isUnreadable) FROM tombstone AS was
      WHERE collection = \(bind: selection.collection) AND at >= \(bind: since)
        AND \(selection.access.condition)
      """
    try connection.forEachRow(of: select, within: selection.budget) {
      (rows, row) throws(PostgresError) in
      let id = rows.text(row, 0)
      if try selection.matches(id, rows.bytes(row, 1)) {
        deleted.insert(RecordID(id))
      } else if rows.flag(row, 2) {
        closed.insert(RecordID(id))
      }
      return deleted.count < limit && closed.count < limit
    }
    return (deleted, closed)
  }

  /// The ids of what an access list let be read at some time since, and cannot be read now.
  private func hidden() throws(PostgresError) -> Set<RecordID> {
    let rows = try connection.run(
      """
      SELECT DISTINCT id FROM former_access AS was
      WHERE collection = \(bind: selection.collection) AND at >= \(bind: since)
        AND \(selection.access.condition) AND \(isUnreadable)
      LIMIT \(bind: limit)
      """, within: selection.budget)
    return Set((0..<rows.count).map { RecordID(rows.text($0, 0)) })
  }

  /// Tells whether the id of the row `was` has no entity that may be read.
  private var isUnreadable: SQL {
    """
    NOT EXISTS (SELECT 1 FROM entity AS present
      WHERE present.collection = was.collection AND present.id = was.id
        AND \(selection.access.condition(of: "present.")))
    """
  }
}
