internal import KVBase
internal import KVQuery
internal import KVServerCore

/// Reads in the statement that finds out who asks and what the collection is: its first rows too. That needs to be known what
/// the collection was when it was read last; if it has changed since, or there is more than fits one statement, these give nil.
extension PostgresEntities {
  /// What is asked, as far as it is known before.
  private struct Guess {
    let known: KnownCollections.Known
    let selection: RowSelection
  }

  private func guess(
    _ query: Query, in key: CollectionKey, for claim: Claim, within budget: WorkBudget
  ) -> Guess? {
    let principal: Principal =
      if case .principal(let proven) = claim { proven } else { .user(id: "") }
    guard let known = known.find(key),
      let rule = try? Viewer(principal: principal, permissions: known.permissions).rule(for: .read)
    else { return nil }
    let selection = RowSelection(
      query, in: known.number, NamedAccess(rule: rule), within: budget, indexes: known.indexes)
    return Guess(known: known, selection: selection)
  }

  /// The state that a statement has read, unless what it was asked by is out of date.
  private func current(
    _ state: CollectionState, _ guess: Guess
  ) throws(ServerError) -> CollectionState? {
    _ = try state.viewer().rule(for: .read)
    return guess.known.isStill(state) ? state : nil
  }

  // MARK: Pages

  func firstPage(
    _ query: Query, in key: CollectionKey, for claim: Claim, within budget: WorkBudget
  ) throws(ServerError) -> (cursor: any EntityCursor, start: Timestamp)? {
    let wanted = query.walk.map { Query($0.rest) } ?? query
    guard let order = PageOrder(query),
      let guess = guess(wanted, in: key, for: claim, within: budget),
      guess.selection.isDirect
    else { return nil }
    let page = PageSelect(
      guess.selection, order, skip: query.skip, limit: query.limit ?? EntityList.maxEntities,
      bytes: EntityList.pieceBytes)
    let select: SQL = """
      WITH \(CollectionState.part(key, for: claim, .indexes))
      SELECT NULL::int8 AS n, record AS body, NULL::bytea AS id FROM state
      UNION ALL (\(page.sql))
      """
    let rows = try read(select, of: key.app, within: budget)
    guard let state = try current(state(key, rows, column: 1, for: claim), guess),
      let selection = try selection(wanted, of: state, to: .read, within: budget)
    else { return nil }
    let (bodies, next) = page.read(rows, from: 1)
    let plan: CursorPlan = next.map { .pages($0) } ?? .done
    return (PostgresCursor(plan, selection, ahead: bodies, of: database), state.readTime)
  }

  func countDirectly(
    _ query: Query, in key: CollectionKey, for claim: Claim, within budget: WorkBudget
  ) throws(ServerError) -> (count: Int, start: Timestamp)? {
    guard let guess = guess(query, in: key, for: claim, within: budget), guess.selection.isDirect
    else { return nil }
    let select: SQL = """
      WITH \(CollectionState.part(key, for: claim, .indexes))
      SELECT record, (SELECT count(*) FROM entity WHERE \(guess.selection.condition)) FROM state
      """
    let rows = try read(select, of: key.app, within: budget)
    guard let state = try current(state(key, rows, for: claim), guess) else { return nil }
    return (Int(rows.int64(0, 1)), state.readTime)
  }

  // MARK: Changes

  /// Of each kind of change, how many one statement reads.
  private static let fewChanges = 250

  /// The changes since a moment, if they are few.
  func fewChanges(
    of query: Query, since: Timestamp, withLeft: Bool, in key: CollectionKey, for claim: Claim,
    within budget: WorkBudget
  ) throws(ServerError) -> EntityChanges? {
    guard let guess = guess(query, in: key, for: claim, within: budget) else { return nil }
    let selection = guess.selection.withoutIndexes
    let select = FewChangesSelect(
      changes: ChangeSelect(selection: selection, since: since.milliseconds),
      limit: Self.fewChanges, bytes: EntityList.pieceBytes)
    let state = CollectionState.part(key, for: claim, [.indexes, .rights])
    let rows = try read("WITH \(state) \(select.sql)", of: key.app, within: budget)
    guard let state = try current(self.state(key, rows, column: 3, for: claim), guess) else {
      return nil
    }
    try check(since, state)
    let found = try storage { () throws(PostgresError) in try select.read(rows) }
    guard let found else { return nil }
    let answer = try found.changes.answer(withLeft: withLeft)
    return EntityChanges(
      changed: PostgresCursor(.done, selection, ahead: found.bodies, of: database),
      deleted: answer.deleted, left: answer.left, start: state.readTime)
  }
}
