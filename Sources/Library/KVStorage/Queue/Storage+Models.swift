internal import KVSQLite
package import KVSync

/// The schema that the records of a file follow is kept in the file, so that another one is noticed.
extension Storage {
  /// The text of the schema; nil: the records follow none.
  package func modelSchema() throws(StoreError) -> String? {
    try read { (db: borrowing Connection) throws(SQLiteError) in try Self.modelSchema(on: db) }
  }

  /// From now on the records follow `new`, unless another schema than `old` is kept by now: that gives false, and
  /// nothing changes. A file whose records follow none has to be empty: else `.conflict`. Records change with it, all or
  /// nothing: `.conflict` with the id of one that cannot.
  package func setModelSchema(
    _ new: String, replacing old: String?, _ migrations: [RecordMigration] = []
  ) throws(StoreError) -> Bool {
    try attempt { (db: borrowing Connection) throws(SQLiteError) in
      let current = try Self.modelSchema(on: db)
      guard current.map({ Array($0.utf8) }) == old.map({ Array($0.utf8) }) else {
        return .success(false)
      }
      let isFree = try CollectionCatalog.numbers(on: db).isEmpty
      guard current != nil || isFree else {
        return .failure(
          StoreError(
            .conflict,
            "The local data was written without a schema: use another tag."))
      }
      for migration in migrations {
        if let failure = try migrate(migration, on: db) { return .failure(failure) }
      }
      try db.run("INSERT OR REPLACE INTO models VALUES (1, \(bind: new))")
      return .success(true)
    }
  }
  private static let findSchema = SQL("SELECT schema FROM models")

  private static func modelSchema(on db: borrowing Connection) throws(SQLiteError) -> String? {
    let statement = try db.statement(findSchema)
    return try statement.step() ? statement.text(0) : nil
  }
}
