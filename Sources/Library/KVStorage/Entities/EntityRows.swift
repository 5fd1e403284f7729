internal import KVBase
internal import KVQuery
internal import KVSQLite
internal import KVSync

/// The entities that a query found, read as they are asked for: the first one alone, which may be all that is
/// wanted, then more and more at a time. A damaged one is an error; the next call goes on after it.
///
/// `@unchecked Sendable`: one thread at a time, as `EntityCursor` demands.
final class EntityRows: EntityCursor, @unchecked Sendable {
  /// How much is read at a time at the most.
  private static let limit = (entities: 128, bytes: 64 << 10)

  /// The rows that are left; nil: there are none.
  private let rows: Rows?
  private let projection: Projection?
  /// The table of the rows.
  private let table: Table?
  private var lent = RowBuffer()
  /// How many entities are read next.
  private var wanted = 1
  /// The error that followed the entities of the block.
  private var failure: StoreError?
  /// Whether the database has failed, so that there are no more entities.
  private(set) var isBroken = false
  /// How many entities were given.
  private(set) var found = 0
  private let budget: WorkBudget
  private var atEnd: ((Int) -> Void)?

  /// `budget`: of all reading. `atEnd`: is told how many entities there were, once all have been read.
  init(
    _ rows: Rows?, of table: Table?, _ projection: Projection?,
    within budget: WorkBudget = .unlimited, atEnd: ((_ found: Int) -> Void)? = nil
  ) {
    self.rows = rows
    self.table = table
    self.projection = projection
    self.budget = budget
    self.atEnd = atEnd
  }

  /// The next block, as the caller's own; nil at the end.
  func takeBlock() throws(StoreError) -> RowBuffer? {
    guard let block = try block() else { return nil }
    lent = RowBuffer()
    return block
  }

  func block() throws(StoreError) -> RowBuffer? {
    if lent.hasNext { return lent }
    if let failure {
      self.failure = nil
      throw failure
    }
    guard let rows else { return nil }
    let (maxEntities, maxBytes) = (wanted, Self.limit.bytes)
    wanted = min(wanted * 4, Self.limit.entities)
    lent.clear()
    do throws(SQLiteError) {
      try rows.each(within: budget) { [lent, projection] row in
        guard let entity = row.intactBytes(0) else {
          failure = table.map { StoreError($0.damage(of: row)) }
          return false
        }
        let isKept = lent.append(entity, projection)
        if !isKept { failure = StoreError.noMemory }
        return isKept && lent.count < maxEntities && lent.size < maxBytes
      }
    } catch {
      failure = StoreError(error)
      isBroken = true
    }
    found += lent.count
    if lent.hasNext || failure != nil { return try block() }
    atEnd.take()?(found)
    return nil
  }

  func close() {
    failure = nil
    rows?.close()
  }
}
