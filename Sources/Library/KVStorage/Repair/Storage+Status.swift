package import KVBase
internal import KVSQLite
package import KVSync

/// How a collection stands.
package struct CollectionStatus: Sendable, Equatable {
  package var name: String
  /// When it was last read from the backend as a whole, or as much of it as a filter says, or its changes.
  package var lastSynced: Timestamp?
  /// Pending writes, those included that are set aside.
  package var pending: Int
  package var quarantined: Int

  package init(name: String, lastSynced: Timestamp? = nil, pending: Int = 0, quarantined: Int = 0) {
    (self.name, self.lastSynced) = (name, lastSynced)
    (self.pending, self.quarantined) = (pending, quarantined)
  }
}

extension Storage {
  /// All collections that were ever written to, by name.
  package func collectionStatuses() throws(StoreError) -> [CollectionStatus] {
    try read { (db: borrowing Connection) throws(SQLiteError) in
      let statement = try db.statement(Self.statuses)
      var statuses: [CollectionStatus] = []
      while try statement.step() {
        guard let name = statement.text(0) else { continue }
        let synced = statement.int64(1)
        statuses.append(
          CollectionStatus(
            name: name, lastSynced: synced > 0 ? Timestamp(milliseconds: synced) : nil,
            pending: statement.int(2), quarantined: statement.int(3)))
      }
      return statuses
    }
  }

  private static let statuses = SQL(
    """
    SELECT c.name, c.synced, ifnull(p.pending, 0), ifnull(p.quarantined, 0) FROM collections AS c
    LEFT JOIN (SELECT collection, count(*) AS pending, sum(state > 0) AS quarantined FROM pending
      GROUP BY collection) AS p ON p.collection = c.number
    ORDER BY c.name
    """)

  /// A read of the collection from the backend has ended.
  static func recordRead(_ change: Change, on db: borrowing Connection) throws(SQLiteError) {
    try db.run(
      "UPDATE collections SET synced = \(bind: change.now) WHERE number = \(bind: change.table.number)"
    )
  }
}
