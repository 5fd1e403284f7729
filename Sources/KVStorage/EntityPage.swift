internal import KVQuery
internal import KVSQLite
internal import KVSync

/// A small page of entities, read at once: the first ones in the order of an index.
///
/// An index leaves entities of one key in no order; by `_id` they are ordered here. SQLite could, but for a page of
/// twenty that costs it more than finding them.
///
/// `@unchecked Sendable`: one thread at a time, as `EntityCursor` demands.
final class EntityPage: EntityCursor, @unchecked Sendable {
  /// How many entities are held in memory at the most, those before the page included.
  private static let most = 200
  /// How many more of one key than fit, before SQLite has to order them.
  private static let mostTies = 200

  private struct Row {
    /// Rows of one key have one group; groups are in order.
    var group: Int
    /// Both are places in the bytes.
    var id: Range<Int>
    var body: Range<Int>
  }

  /// Ids and bodies, one after the other.
  private var bytes: [UInt8] = []
  private var rows: [Row] = []
  private var next = 0
  private let projection: Projection?

  /// Whether a query asks for a page that is small enough.
  static func isFor(_ query: Query) -> Bool {
    guard let limit = query.limit, limit > 0, !query.sort.isEmpty else { return false }
    return query.skip <= most && limit <= most && query.skip + limit <= most
  }

  /// Nil if the plan gives no order, or too many entities have one key.
  init?(_ plan: Plan, on db: borrowing Connection) throws(SQLiteError) {
    guard let walk = plan.walk, let limit = plan.query.limit else { return nil }
    projection = plan.query.projection
    let end = plan.query.skip + limit
    next = plan.query.skip
    rows.reserveCapacity(end + 1)
    bytes.reserveCapacity(end * 512)
    var key = [IndexValue](repeating: .null, count: walk.keys)
    var group = 0
    let statement = try db.statement(walk.sql)
    try plan.selection.bindWalk(to: statement)
    while try statement.step() {
      if !Self.update(&key, from: statement) {
        if rows.count >= end { break }
        group += 1
      }
      guard rows.count < end + Self.mostTies else { return nil }
      rows.append(Row(group: group, id: add(statement.bytes(1)), body: add(statement.bytes(0))))
    }
    if group < rows.count { orderTies() }
    rows.removeSubrange(min(end, rows.count)...)
  }

  /// Keeps bytes; gives their place.
  private func add(_ more: UnsafeRawBufferPointer) -> Range<Int> {
    let start = bytes.count
    bytes.append(contentsOf: more)
    return start..<bytes.count
  }

  /// Compares the key with that of the row, behind body and id, and takes it over.
  private static func update(_ key: inout [IndexValue], from row: borrowing Statement) -> Bool {
    var isSame = true
    for place in key.indices {
      let value = row.value(Int32(place) + 2)
      if key[place] != value {
        key[place] = value
        isSame = false
      }
    }
    return isSame
  }

  private func orderTies() {
    rows.sort { left, right in
      left.group != right.group
        ? left.group < right.group
        : bytes[left.id].lexicographicallyPrecedes(bytes[right.id])
    }
  }

  func next<R>(_ body: (UnsafeRawBufferPointer) -> R) throws(StoreError) -> R? {
    guard next < rows.count else { return nil }
    let row = rows[next].body
    next += 1
    return bytes.withUnsafeBytes { bytes in
      let entity = UnsafeRawBufferPointer(rebasing: bytes[row])
      guard let projection else { return body(entity) }
      return projection.apply(to: entity).withUnsafeBytes(body)
    }
  }

  func close() { (bytes, rows) = ([], []) }
}
