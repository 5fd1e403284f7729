internal import KVBase
internal import KVQuery
internal import KVSQLite
internal import KVSync

/// A small page of entities, read at once: the first ones in the order of an index.
///
/// An index leaves entities of one key in no order; so they are ordered by their ids here. SQLite could do it, but a page of
/// twenty costs more to sort there than to find.
///
/// `@unchecked Sendable`: one thread at a time, as `EntityCursor` demands.
final class EntityPage: EntityCursor, @unchecked Sendable {
  /// How many entities are held in memory at the most, those before the page included.
  private static let maxRows = 200
  /// How many more of one key than fit, before SQLite has to order them.
  private static let maxTies = 200

  private let page: RowBuffer

  /// Whether a page has few enough rows to be read at once.
  static func fits(_ limit: Int?) -> Bool {
    guard let limit else { return false }
    return limit > 0 && limit <= maxRows
  }

  /// Whether a query asks for such a page that begins near the start.
  static func isFor(_ query: Query) -> Bool {
    guard let limit = query.limit, fits(limit), !query.sort.isEmpty else { return false }
    return query.skip <= maxRows - limit
  }

  /// The range of rows of the result that a query with a limit asks for, counted from 0.
  static func rows(of query: Query) -> Range<Int> {
    let (end, isBeyond) = query.skip.addingReportingOverflow(max(0, query.limit ?? 0))
    return query.skip..<(isBeyond ? .max : end)
  }

  /// Makes a page of rows that were read.
  init(_ page: RowBuffer) { self.page = page }

  /// Nil if too many entities have one key, or one is damaged. `verify` is called once the first row was read, and says whether what is read
  /// may be used; if not, this fails with `.outdated`.
  init?(
    _ walk: Plan.Walk, on db: borrowing Connection,
    verify: (borrowing Connection) throws(SQLiteError) -> Bool
  ) throws(SQLiteError) {
    let statement = try db.statement(walk.rows)
    let isFound = try statement.step()
    guard try verify(db) else { throw .outdated }
    guard let page = try Self.read(walk, statement, isFound: isFound) else { return nil }
    self.page = page
  }

  /// `isFound`: the statement stands on the first row, else there is none.
  private static func read(
    _ walk: Plan.Walk, _ statement: borrowing Statement, isFound: Bool
  ) throws(SQLiteError) -> RowBuffer? {
    let (end, page) = (walk.page.upperBound, RowBuffer(texts: walk.page.upperBound + 1))
    var key = [IndexValue](repeating: .null, count: walk.keys)
    var ties = Ties()
    var isOnRow = isFound
    while isOnRow {
      let count = page.count
      if !update(&key, from: statement) {
        if count >= end { break }
        ties.close(at: count)
      }
      guard count < end + maxTies else { return nil }
      guard let body = statement.intactBytes(0) else { return nil }
      guard page.append(body, walk.projection), ties.ids.append(statement.bytes(2)) else {
        throw SQLiteError.noMemory
      }
      isOnRow = try statement.step()
    }
    ties.close(at: page.count)
    if let order = ties.order { page.reorder(by: order) }
    page.limit(to: walk.page)
    return page
  }

  /// Compares the key with that of the row, after the columns of the body, and takes it over.
  private static func update(_ key: inout [IndexValue], from row: borrowing Statement) -> Bool {
    var isSame = true
    for index in key.indices where !row.update(&key[index], from: Int32(index) + 3) {
      isSame = false
    }
    return isSame
  }

  func block() -> RowBuffer? { page.hasNext ? page : nil }

  func close() { page.clear() }
}

extension RowBuffer {
  /// Copies the wanted members of an entity; false if there is no memory.
  func append(_ entity: UnsafeRawBufferPointer, _ projection: Projection?) -> Bool {
    guard let projection else { return append(entity) }
    return projection.apply(to: entity).withUnsafeBytes(append)
  }
}

/// The rows that have the key of a neighbour. Their ids order them.
private struct Ties {
  /// The ids of all rows, as the index has these.
  let ids = RowBuffer()
  private var ranges: [Range<Int>] = []
  private var end = 0

  /// A new key begins, or the rows end.
  mutating func close(at index: Int) {
    if index - end > 1 { ranges.append(end..<index) }
    end = index
  }

  /// All rows, those of one key ordered by their ids; nil if there is no such key.
  var order: [Int]? {
    guard !ranges.isEmpty else { return nil }
    var order = Array(0..<end)
    for range in ranges {
      // They are few: this takes less than preparing a sort of any number of them.
      for start in range.dropFirst() {
        var place = start
        while place > range.lowerBound, ids[start].lexicographicallyPrecedes(ids[order[place - 1]])
        {
          order[place] = order[place - 1]
          place -= 1
        }
        order[place] = start
      }
    }
    return order
  }
}
