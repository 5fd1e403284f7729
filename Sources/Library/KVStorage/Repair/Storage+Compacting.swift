package import KVBase
internal import KVSQLite
package import KVSync

extension Storage {
  /// How many bytes the file and its log have.
  package var size: Int64 { database.size }

  /// Takes what was deleted out of the file and its log: until then its bytes stand in pages that are free. Who still reads an
  /// older state keeps them in the log for so long; then they go the next time that it is written back.
  func eraseDeleted() {
    try? compact(within: WorkBudget(until: .after(seconds: 0.25)))
  }

  /// Makes the file as small as its data allows, while others read: see `Database.compact`.
  ///
  /// Of the log of changes one entry stays, from which observers see that they have missed some; they then look at everything.
  /// Tombstones stay, because a read that is under way may need them, and so do the records of what was read.
  package func compact(within budget: WorkBudget) throws(StoreError) {
    try MigratingThread.refuse()
    do throws(SQLiteError) {
      try database.compact(within: budget) { (db: borrowing Connection) throws(SQLiteError) in
        try db.execute("DELETE FROM changes WHERE n < (SELECT max(n) FROM changes)")
        for case let merge? in try IndexRepair.all(on: db).map(\.merge) { try db.execute(merge) }
      }
    } catch {
      throw StoreError(error, within: budget)
    }
  }
}
