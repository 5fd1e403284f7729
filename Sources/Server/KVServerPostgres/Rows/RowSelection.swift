internal import KVBase
internal import KVQuery
internal import KVServerCore

/// The rows of a collection that a viewer may see or change and that a filter matches: SQL selects a superset, the
/// matcher has the last word, and there is none where SQL is exact.
struct RowSelection: Sendable {
  let collection: Int64
  let access: NamedAccess
  /// Access that is needed besides; nil: none.
  private let readAccess: NamedAccess?
  /// The ids that the filter names.
  private let ids: [String]?
  private let matcher: Matcher?
  /// The indexes that it may use, and how it does.
  private var indexes: [EntityIndex]
  private(set) var use: IndexUse?
  /// The time that looking for them may take.
  let budget: WorkBudget

  init(
    _ query: Query, in collection: Int64, _ access: NamedAccess, and readAccess: NamedAccess? = nil,
    within budget: WorkBudget, indexes: [EntityIndex] = []
  ) {
    self.readAccess = readAccess
    self.collection = collection
    self.access = access
    self.budget = budget
    let named = query.namedIDs
    ids = named?.ids
    matcher = named?.isExact == true ? nil : query.matcher(within: budget)
    use = IndexUse(query, indexes)
    self.indexes = use.map { use in indexes.filter { use.uses($0.spec.name) } } ?? []
  }

  /// Whether the filter leaves anything out.
  var hasFilter: Bool { ids != nil || matcher != nil }
  /// Whether `condition` says it all.
  var isExact: Bool { matcher == nil || use?.isExact == true }

  /// The same with the answer from the table itself: no index of the collection says more.
  var isDirect: Bool { isExact && use == nil }

  /// Tells whether a row may be selected.
  var condition: SQL {
    let readable: SQL = "collection = \(bind: collection) AND \(accessCondition())"
    if let isFound: SQL = IndexUse.isFound(by: use, or: ids) { return "\(readable) AND \(isFound)" }
    guard let text = matcher?.requiredText, use == nil else { return readable }
    // What cannot match need not be sent. A text may be stored with escapes.
    return """
      \(readable)
        AND (position(\(bind: text) IN body) > 0 OR position('\\x5c'::bytea IN body) > 0)
      """
  }

  /// Tells whether a row may be read or written.
  private func accessCondition(of table: String = "") -> SQL {
    let access = access.condition(of: table)
    guard let read = readAccess?.condition(of: table) else { return access }
    return "(\(access) AND \(read))"
  }

  /// Whether an entity that `condition` has let through is selected.
  func matches(_ body: UnsafeRawBufferPointer) throws(PostgresError) -> Bool {
    if isExact { return true }
    return try matchesFilter(body)
  }

  private func matchesFilter(_ body: UnsafeRawBufferPointer) throws(PostgresError) -> Bool {
    guard let matcher else { return true }
    do throws(QueryError) { return try matcher.matches(body) } catch {
      throw PostgresError(error.kind == .exhausted ? .stopped : .evaluation, error.message)
    }
  }

  /// Whether a row that was read is selected.
  func selects(_ row: StoredRow) throws(PostgresError) -> Bool {
    guard access.allows(row), readAccess?.allows(row) != false else { return false }
    return try row.version.body.withBorrowedBytes { (bytes) throws(PostgresError) in
      try matches(row.id, bytes)
    }
  }

  /// Whether an entity of an id is what the filter matches.
  func matches(_ id: String, _ body: UnsafeRawBufferPointer) throws(PostgresError) -> Bool {
    if let ids, !ids.contains(where: { $0.hasSameBytes(as: id) }) { return false }
    return try matchesFilter(body)
  }
}

// MARK: Indexes

extension RowSelection {
  /// The same in the snapshot of a transaction that has just begun: without an index that was dropped, or that has changed in
  /// what it can answer, since the collection was read.
  func current(on connection: PostgresConnection) throws(PostgresError) -> RowSelection {
    guard use != nil else { return self }
    let known = indexes.map(\.number)
    let rows = try connection.run(
      """
      SELECT number, shape, cut FROM entity_index WHERE number = ANY(\(bind: known)) AND progress IS NULL
      """)
    let areSame = (0..<rows.count).allSatisfy { row in
      indexes.contains {
        $0.number == rows.int64(row, 0) && $0.shape.rawValue == rows.int64(row, 1)
          && $0.hasCutKeys == rows.flag(row, 2)
      }
    }
    return areSame && rows.count == known.count ? self : withoutIndexes
  }

  /// The same by the filter alone.
  var withoutIndexes: RowSelection {
    var plain = self
    (plain.indexes, plain.use) = ([], nil)
    return plain
  }

  /// The number, the body and the id of what may be selected in the order of an index, and then of ids; nil: no index has the
  /// order.
  var walk: SQL? {
    use?.walk?.select(
      "e.n, e.body, e.id",
      from: "JOIN entity AS e ON e.collection = \(bind: collection) AND e.n = x.n",
      where: accessCondition(of: "e."))
  }
}

extension PostgresConnection {
  /// Rows that are fetched the first time; after that, as many as make about so many bytes.
  private static let firstFetch = 10
  private static let maxFetch = 1000
  private static let fetchedBytes = 512 << 10

  /// Calls `body` for each row of a statement, as long as it says that it wants more. In a transaction, one at a time.
  /// Memory follows the largest rows, not their number.
  func forEachRow(
    of select: SQL, within budget: WorkBudget,
    _ body: (ResultRows, Int) throws(PostgresError) -> Bool
  ) throws(PostgresError) {
    enqueue(("DECLARE rows NO SCROLL CURSOR FOR \(select)" as SQL).plannedEachTime)
    var count = Self.firstFetch
    reading: while true {
      let fetch: SQL = "FETCH \(sql: String(count)) FROM rows"
      let rows = try run(fetch.plannedEachTime, within: budget)
      for row in 0..<rows.count where try !body(rows, row) { break reading }
      if rows.count < count { break }
      count = max(1, min(Self.maxFetch, Self.fetchedBytes / max(1, rows.size / rows.count)))
    }
    enqueue("CLOSE rows")
  }
}
