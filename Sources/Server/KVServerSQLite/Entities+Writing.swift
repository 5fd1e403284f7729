internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVSQLite
internal import KVServerCore

/// Creating, replacing and deleting.
extension Entities {
  /// Carries out writes in one transaction, each on its own: one that is refused does not keep the others out, since
  /// what refuses it is known before it changes anything. Returns what each has stored; nil: it was deleted.
  func perform(
    _ writes: [Result<EntityWrite, ServerError>], in collection: EntityCollection,
    for viewer: Viewer
  ) throws(ServerError) -> [Result<WrittenEntity?, ServerError>] {
    let isDeletion = writes.allSatisfy { (try? $0.get().isDelete) ?? true }
    return try write(announcing: collection, isDeletion: isDeletion) {
      (connection, now, changes) throws(SQLiteError) in
      var results: [Result<WrittenEntity?, ServerError>] = []
      results.reserveCapacity(writes.count)
      for write in writes {
        switch write {
        case .failure(let error): results.append(.failure(error))
        case .success(let write):
          results.append(
            try perform(
              write, in: collection, for: viewer, on: connection, at: now, changes: &changes))
        }
      }
      return results
    }
  }

  /// Deletes what matches and may be deleted; gives how many that were.
  ///
  /// What matches is looked for among the readers: a filter that takes long must not keep other writers waiting.
  /// Only what has changed since is held against the filter once more.
  func delete(
    _ query: Query, in collection: EntityCollection?, for viewer: Viewer, within budget: WorkBudget
  ) throws(ServerError) -> Int {
    let selection = try RowSelection(query, for: viewer, operation: .delete, within: budget)
    guard let collection else { return 0 }
    let start = clock.readStart()
    let found = try Self.storage { () throws(SQLiteError) in
      try Self.versions(of: selection, in: collection, database: database)
    }
    return try write(announcing: collection, isDeletion: true) {
      (connection, now, changes) throws(SQLiteError) -> Int in
      let deletable = try Self.deletable(
        found, since: start, selection: selection, in: collection, on: connection)
      guard !deletable.rows.isEmpty else { return 0 }
      let time = clock.deletionTime(now, after: deletable.latest)
      try Self.remove(
        deletable.rows, from: collection, on: connection, at: time, changes: &changes)
      return deletable.rows.count
    }
  }

  /// A row as it was at one moment. What is written after a moment never has an earlier time, and no two versions of
  /// an entity have the same.
  private struct RowVersion {
    let row: Int64
    let modified: Int64
  }

  private static func versions(
    of selection: RowSelection, in collection: EntityCollection, database: Database
  ) throws(SQLiteError) -> [RowVersion] {
    try database.read(within: selection.budget) {
      (connection: borrowing Connection) throws(SQLiteError) in
      let selection = try selection.planned(in: collection, on: connection)
      var found: [RowVersion] = []
      let select = try connection.statement(collection.versions(selection))
      while try select.step() {
        found.append(RowVersion(row: select.int64(0), modified: select.int64(1)))
      }
      return found
    }
  }

  /// The rows that are still there and what the selection asks for, and when one of them was last written. `start`: of
  /// the read that found them.
  private static func deletable(
    _ found: [RowVersion], since start: Timestamp, selection: RowSelection,
    in collection: EntityCollection, on connection: borrowing Connection
  ) throws(SQLiteError) -> (rows: [Int64], latest: Timestamp) {
    let (times, bodies) = (BoundSQL(collection.modified), BoundSQL(collection.body(selection)))
    let time = try connection.statement(times)
    let body = try connection.statement(bodies)
    var rows: [Int64] = []
    var latest: Int64 = 0
    for version in found {
      if selection.budget.isExhausted { throw SQLiteError(.interrupted, "The delete was stopped.") }
      time.reset()
      try time.bind(version.row, at: times.openIndex)
      guard try time.step() else { continue }
      let modified = time.int64(0)
      if modified != version.modified || modified >= start.milliseconds {
        body.reset()
        try body.bind(version.row, at: bodies.openIndex)
        let matches = try connection.within(selection.budget) { () throws(SQLiteError) in
          try body.step()
        }
        guard matches else { continue }
      }
      rows.append(version.row)
      latest = max(latest, modified)
    }
    return (rows, Timestamp(milliseconds: latest))
  }
}
