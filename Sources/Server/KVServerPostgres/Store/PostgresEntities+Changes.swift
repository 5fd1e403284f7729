internal import KVBase
internal import KVQuery
internal import KVServerCore

/// The changes of a collection since a moment.
extension PostgresEntities {
  func changes(
    of query: Query, since: Timestamp, withLeft: Bool, in key: CollectionKey,
    for claim: Claim, within budget: WorkBudget
  ) throws(ServerError) -> EntityChanges {
    if let few = try fewChanges(
      of: query, since: since, withLeft: withLeft, in: key, for: claim, within: budget)
    {
      return few
    }
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
        try Self.changes(selection, since: since, withLeft: withLeft, on: connection)
      }
    }.get()
    let cursor = PostgresCursor(.rows(found.changed, next: 0), selection, of: database)
    return EntityChanges(
      changed: cursor, deleted: found.deleted, left: found.left, start: state.readTime)
  }

  /// Throws unless all changes since a moment are known.
  func check(
    _ since: Timestamp, _ state: CollectionState
  ) throws(ServerError) {
    let isUser = if case .success(.user) = state.principal { true } else { false }
    let known = KnownHistory(
      from: state.historyStart, rightsSince: isUser ? state.rightsSince : nil)
    try known.check(since, isOfRead: since <= state.readTime)
  }

  private typealias Changes = (changed: [Int64], deleted: [String], left: [String])

  /// What has changed, in one snapshot. A failure: it is more than an answer may hold.
  private static func changes(
    _ selection: RowSelection, since: Timestamp, withLeft: Bool, on connection: PostgresConnection
  ) throws(PostgresError) -> Result<Changes, ServerError> {
    // One more than may be, to notice that there are too many.
    let limit = EntityList.maxEntities + 1
    let select = ChangeSelect(selection: selection, since: since.milliseconds)
    var found = FoundChanges(selection)
    try connection.forEachRow(of: select.written, within: selection.budget) {
      (rows, row) throws(PostgresError) in
      try found.addWritten(rows.int64(row, 0), rows.text(row, 1), body: rows.bytes(row, 2))
      return found.isBelow(limit)
    }
    try connection.forEachRow(of: select.deleted, within: selection.budget) {
      (rows, row) throws(PostgresError) in
      try found.addDeleted(
        rows.text(row, 0), rows.bytes(row, 1), isUnreadable: rows.flag(row, 2))
      return found.isBelow(limit)
    }
    let hidden = try connection.run(select.hidden(limit: limit), within: selection.budget)
    for row in 0..<hidden.count { found.addHidden(hidden.text(row, 0)) }
    return Result { () throws(ServerError) in
      let answer = try found.answer(withLeft: withLeft)
      return (found.changed, answer.deleted, answer.left)
    }
  }
}
