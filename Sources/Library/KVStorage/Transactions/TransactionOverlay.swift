internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVSync

/// What a transaction has written to one collection, seen on top of its snapshot.
struct TransactionOverlay: Sendable {
  struct Entry: Sendable {
    /// The text of the entity; nil: deleted.
    var body: [UInt8]?
    /// Its row in the snapshot; nil: it is new.
    let row: Int64?
    /// The index of the record in the transaction.
    let number: Int
  }

  private(set) var entries: [RecordID: Entry] = [:]
  /// The snapshot's rows of what was written.
  private var hidden: Set<Int64> = []

  func contains(_ id: String) -> Bool { entries[RecordID(id)] != nil }

  /// Notes a write. `row`: of the snapshot; it counts for the first write of a record.
  mutating func set(_ id: String, _ body: [UInt8]?, row: Int64?) {
    let new = Entry(body: body, row: row, number: entries.count)
    entries[RecordID(id), default: new].body = body
    if let row { hidden.insert(row) }
  }

  /// A query that finds in the snapshot what is needed to answer this one: its page begins earlier, and ends
  /// later by as many rows as are hidden.
  func widened(_ query: Query) -> Query {
    var wide = query
    wide.skip = 0
    wide.limit = query.limit.map { $0 + query.skip + entries.count }
    return wide
  }

  /// The rows that the snapshot gives for the widened query, without those that were written, together with what
  /// was written and matches, in the query's order; of that the query's page.
  ///
  /// `body` reads a row: of as many as finding the positions takes.
  func merged(
    _ rows: [Int64], for query: Query, reading body: (Int64) throws(StoreError) -> [UInt8]
  ) throws(StoreError) -> [TransactionRecord] {
    let order = TransactionOrder(query)
    let kept = rows.filter { !hidden.contains($0) }
    var records: [TransactionRecord] = []
    var next = 0
    for (key, own) in try matching(query, order) {
      let position = try kept.partitioningIndex(from: next) { (row) throws(StoreError) in
        try order.precedes(key, order.key(ofRow: row, body))
      }
      records += kept[next..<position].map { .row($0) }
      records.append(.own(own))
      next = position
    }
    records += kept[next...].map { .row($0) }
    let page = records.dropFirst(query.skip)
    return Array(query.limit.map { page.prefix($0) } ?? page)
  }

  /// The records that the transaction wrote and that match, in order.
  private func matching(
    _ query: Query, _ order: TransactionOrder
  ) throws(StoreError) -> [(key: TransactionOrder.Key, body: [UInt8])] {
    let candidates = candidates(query)
    guard !candidates.isEmpty else { return [] }
    let matcher = query.matcher
    var found: [(key: TransactionOrder.Key, body: [UInt8])] = []
    for (id, entry) in candidates {
      guard let body = entry.body else { continue }
      do throws(QueryError) {
        guard try matcher?.matches(body) ?? true else { continue }
      } catch {
        throw StoreError(error)
      }
      found.append((order.key(of: body, id: id.text, entry: entry), body))
    }
    return found.sorted { order.precedes($0.key, $1.key) }
  }

  /// The only entries that can match: a query that names ids is not asked of everything that was written, or a
  /// transaction of n such queries would take n² steps.
  private func candidates(_ query: Query) -> [RecordID: Entry] {
    guard let ids = query.namedIDs?.ids, ids.count < entries.count else { return entries }
    let named = ids.lazy.map { RecordID($0) }.compactMap { id in entries[id].map { (id, $0) } }
    return Dictionary(named, uniquingKeysWith: { first, _ in first })
  }
}

/// The order of a query's answer, for records that are not in one table.
struct TransactionOrder {
  /// Compares as the entity does: by the query's order and then by the id, or by its row.
  struct Key {
    var sort: [UInt8]
    var id: [UInt8]
    /// Rows of the snapshot by their numbers, new records after them.
    var row: (isNew: Bool, number: Int64)
  }

  private let sorter: Sorter?
  private let format: RecordFormat

  init(_ query: Query) { (sorter, format) = (query.sorter, query.format) }

  func key(of body: [UInt8], id: String, entry: TransactionOverlay.Entry) -> Key {
    Key(
      sort: sorter?.key(of: body) ?? [], id: Array(id.utf8),
      row: entry.row.map { (false, $0) } ?? (true, Int64(entry.number)))
  }

  func key(
    ofRow row: Int64, _ body: (Int64) throws(StoreError) -> [UInt8]
  ) throws(StoreError) -> Key {
    guard let sorter else { return Key(sort: [], id: [], row: (false, row)) }
    let body = try body(row)
    let id = try StoredEntity.id(of: body, format)
    return Key(sort: sorter.key(of: body), id: Array(id.utf8), row: (false, row))
  }

  func precedes(_ left: Key, _ right: Key) -> Bool {
    guard sorter != nil else {
      return left.row.isNew == right.row.isNew
        ? left.row.number < right.row.number : !left.row.isNew
    }
    if left.sort != right.sort { return left.sort.lexicographicallyPrecedes(right.sort) }
    return left.id.lexicographicallyPrecedes(right.id)
  }
}

extension [Int64] {
  /// The first index, not before `start`, of an element for which `test` holds, and for all after it; the end if
  /// there is none.
  fileprivate func partitioningIndex(
    from start: Int, where test: (Int64) throws(StoreError) -> Bool
  ) throws(StoreError) -> Int {
    var (low, high) = (start, count)
    while low < high {
      let middle = (low + high) / 2
      if try test(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
