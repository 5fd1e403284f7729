internal import KVBase
internal import KVSQLite
package import KVSync

/// What an application remembers apart from its data: who is logged in, and which installation it is.
///
/// A small file of its own, so that it is shared by all tags and survives the end of each. Safe from any
/// thread and several processes; each call is one transaction, durable when it returns.
package final class SessionStore: Sendable {
  private let database: Database

  private static let migrations = [
    Database.Migration(
      sql: "CREATE TABLE facts (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID")
  ]

  private static let find = SQL("SELECT value FROM facts WHERE name = ?1")
  private static let replace = SQL("INSERT OR REPLACE INTO facts VALUES (?1, ?2)")
  private static let insert = SQL("INSERT OR IGNORE INTO facts VALUES (?1, ?2)")
  private static let delete = SQL("DELETE FROM facts WHERE name = ?1")

  /// "KVU1": a tag's file is no session, and the other way round.
  private static let applicationId: Int32 = 0x4B56_5531

  /// Opens or makes the file. Throws `.corrupt` for what is not ours, and leaves it untouched.
  package init(path: String) throws(StoreError) {
    let configuration = Database.Configuration(path: path, applicationId: Self.applicationId)
    do throws(SQLiteError) {
      database = try Database(configuration, migrations: Self.migrations)
    } catch {
      throw StoreError(error)
    }
  }

  /// Closes the file. Other calls fail with `.misuse` then.
  package func close() { database.close() }

  /// The active user as JSON, its token included; nil if nobody is logged in.
  package func user() throws(StoreError) -> String? { try value(of: "user") }

  /// Makes somebody the active user.
  package func save(user json: String) throws(StoreError) {
    try write { (db: borrowing Connection) throws(SQLiteError) in
      try Self.run(Self.replace, ["user", json], db)
    }
  }

  /// Forgets the active user. The installation stays what it is.
  package func clearUser() throws(StoreError) {
    try write { (db: borrowing Connection) throws(SQLiteError) in
      try Self.run(Self.delete, ["user"], db)
    }
  }

  /// What this installation is called: made at the first call, the same ever after.
  package func deviceId() throws(StoreError) -> String {
    if let known = try value(of: "device") { return known }
    let new = Identifier.request()
    return try write { (db: borrowing Connection) throws(SQLiteError) in
      // Unless another process was faster.
      try Self.run(Self.insert, ["device", new], db)
      return try Self.value(of: "device", db) ?? new
    }
  }

  private func value(of name: String) throws(StoreError) -> String? {
    do throws(SQLiteError) {
      return try database.withReader { (db: borrowing Connection) throws(SQLiteError) in
        try Self.value(of: name, db)
      }
    } catch {
      throw StoreError(error)
    }
  }

  private func write<R>(
    _ body: (borrowing Connection) throws(SQLiteError) -> R
  ) throws(StoreError) -> R {
    do throws(SQLiteError) {
      return try database.write(body)
    } catch {
      throw StoreError(error)
    }
  }

  private static func value(
    of name: String, _ db: borrowing Connection
  ) throws(SQLiteError) -> String? {
    let statement = try db.statement(find)
    try statement.bind(name, at: 1)
    return try statement.step() ? statement.text(0) : nil
  }

  private static func run(
    _ sql: SQL, _ values: [String], _ db: borrowing Connection
  ) throws(SQLiteError) {
    let statement = try db.statement(sql)
    for (place, value) in values.enumerated() { try statement.bind(value, at: Int32(place + 1)) }
    try statement.run()
  }
}
