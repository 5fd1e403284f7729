internal import KVBase
package import KVQuery
internal import KVSQLite
package import KVSync

/// Follows the rows of a query, of which it holds eight bytes each: when something of the collection was changed, the query runs
/// again.
///
/// `@unchecked Sendable`: one thread at a time, as `FollowedRows` demands; `end` touches nothing of it.
private final class FollowedTableRows: FollowedRows, @unchecked Sendable {
  private let storage: Storage
  private let collection: String
  private let query: Query
  private let log: ChangeLog
  private let listener: Int
  private var rows: RecordRows
  /// The end of the log at the last look; nil: nothing is known of it.
  private var seen: Int64?

  init(
    _ rows: RecordRows, _ query: Query, in collection: String, log: ChangeLog, storage: Storage,
    signal: @escaping @Sendable () -> Void
  ) {
    self.rows = rows
    self.query = query
    self.collection = collection
    self.log = log
    self.storage = storage
    listener = storage.feed.add(signal)
  }

  func end() { storage.feed.remove(listener) }

  private func isUnchanged(
    since seen: Int64, _ end: Int64, on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    guard seen != end else { return true }
    return try log.ids(since: seen, on: db)?.isEmpty == true
  }

  func changes() throws(StoreError) -> (rows: RecordRows, changes: ListChanges)? {
    let (end, found) = try storage.readSnapshot {
      (db: borrowing Connection) throws(SQLiteError) -> (Int64, CollectedRows?) in
      let end = try log.end(on: db)
      if let seen, try isUnchanged(since: seen, end, on: db) { return (end, nil) }
      guard let table = try storage.catalog.table(collection, on: db) else {
        return (end, CollectedRows(RecordRows(table: 0)))
      }
      var collected = CollectedRows(RecordRows(table: table.number))
      try storage.collect(query, table, writtenSince: nil, into: &collected, on: db)
      return (end, collected)
    }
    if let failure = found?.failure { throw failure }
    seen = end
    guard let found else { return nil }
    let changes = rows.changes(to: found.rows)
    rows = found.rows
    return changes.isEmpty ? nil : (rows, changes)
  }
}

extension Storage {
  package func follow(
    _ rows: RecordRows, of query: Query, in collection: String,
    _ signal: @escaping @Sendable () -> Void
  ) throws(StoreError) -> any FollowedRows {
    let (_, log) = try beginLog(of: collection)
    return FollowedTableRows(
      rows, query, in: collection, log: log, storage: self, signal: signal)
  }

  /// Has the changes of a collection logged from now on.
  func beginLog(of collection: String) throws(StoreError) -> (table: Table, log: ChangeLog) {
    // Before the commit: who writes learns from that to look for the file.
    let isFileNew = feed.prepare()
    return try write(to: collection) { (db, change) throws(SQLiteError) in
      let log = ChangeLog(change.table)
      try log.begin(isFirst: isFileNew, on: db)
      return (change.table, log)
    }
  }
}
