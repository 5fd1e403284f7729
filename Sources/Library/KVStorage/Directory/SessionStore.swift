internal import Glibc
package import KVBase
package import KVCrypto
internal import KVJSON
internal import KVSQLite
package import KVSync

/// What an application remembers apart from its data: who is logged in, tag by tag, and what its backend can do.
///
/// A small file of its own, for all tags, which survives the end of each. Safe from any thread and several
/// processes; each call is one transaction, durable when it returns.
package final class SessionStore: Sendable {
  private let database: Database
  private let tag: String

  private static func migrations(openedBy tag: String) -> [Database.Migration] {
    [
      Database.Migration(
        sql:
          "CREATE TABLE facts (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID"),
      // All tags had one session. It becomes that of the first one that asks; whose the data of the others is, is
      // remembered.
      Database.Migration { (db: borrowing Connection) throws(SQLiteError) in
        guard let session = try value(of: "user", db) else { return }
        try set(user(of: tag), to: session, on: db)
        try delete("user", on: db)
        guard let id = try userId(of: session) else { return }
        try set(former, to: id, on: db)
      },
    ]
  }

  /// The user of a session; nil: there is none in it.
  private static func userId(of session: String) throws(SQLiteError) -> String? {
    do throws(JSONError) {
      return try JSONValue.ifJSON(Array(session.utf8))?["user"]?["_id"]?.stringValue
    } catch {
      throw SQLiteError.noMemory
    }
  }

  private static func user(of tag: String) -> String { "user/\(tag)" }
  private static func ending(of tag: String) -> String { "ending/\(tag)/" }
  private static let former = "former"
  private static func backend(at address: String) -> String { "backend/\(address)" }

  /// "KVU1": a tag's file is no session, and the other way round.
  private static let applicationId: Int32 = 0x4B56_5531

  /// Opens or makes the file, for a client of a tag. Throws `.corrupt` for what is not ours, and leaves it untouched.
  package init(path: String, vault: Vault? = nil, tag: String) throws(StoreError) {
    self.tag = tag
    var configuration = Database.Configuration(path: path, applicationId: Self.applicationId)
    configuration.vault = vault
    do throws(SQLiteError) {
      database = try Database(configuration, migrations: Self.migrations(openedBy: tag))
    } catch {
      throw StoreError(error)
    }
  }

  /// Closes the file. Other calls fail with `.misuse` then.
  package func close() { database.close() }

  /// The active user of the tag as JSON, its token included; nil if no user is logged in.
  package func user() throws(StoreError) -> String? { try value(of: Self.user(of: tag)) }

  /// The active user of another tag.
  package func user(ofTag tag: String) throws(StoreError) -> String? {
    try value(of: Self.user(of: tag))
  }

  /// The id of the user who was logged in when tags had no sessions of their own; nil: none, or there was no such time.
  package func formerUser() throws(StoreError) -> RecordID? {
    try value(of: Self.former).map { RecordID($0) }
  }

  /// Sets the active user.
  package func save(user json: String) throws(StoreError) {
    try write { (db: borrowing Connection) throws(SQLiteError) in
      try Self.set(Self.user(of: tag), to: json, on: db)
    }
  }

  /// Forgets the active user. `ending`: the token of a session that the backend has to end, which is remembered in the same
  /// transaction until `forget`.
  package func clearUser(ending token: String? = nil) throws(StoreError) {
    try write { (db: borrowing Connection) throws(SQLiteError) in
      try Self.delete(Self.user(of: tag), on: db)
      if let token { try Self.set(Self.ending(of: tag) + token, to: token, on: db) }
    }
  }

  /// The tokens of sessions that have ended here, and perhaps not on the backend.
  package func endings() throws(StoreError) -> [String] {
    let prefix = Self.ending(of: tag)
    do throws(SQLiteError) {
      return try database.withReader { (db: borrowing Connection) throws(SQLiteError) in
        let found = try db.statement(
          "SELECT value FROM facts WHERE name >= \(bind: prefix) AND name < \(bind: prefix + "\u{7F}")"
        )
        var tokens: [String] = []
        while try found.step() { tokens.append(found.text(0) ?? "") }
        return tokens
      }
    } catch {
      throw StoreError(error)
    }
  }

  /// The backend has ended the session of a token.
  package func forget(ending token: String) throws(StoreError) {
    try write { (db: borrowing Connection) throws(SQLiteError) in
      try Self.delete(Self.ending(of: tag) + token, on: db)
    }
  }

  /// What was noted of the backend at an address, for all tags; nil: nothing, or it cannot be read.
  package func backend(at address: String) -> String? {
    (try? value(of: Self.backend(at: address))) ?? nil
  }

  /// Notes something of the backend at an address, unless the file cannot be written.
  package func note(_ text: String, backendAt address: String) {
    try? write { (db: borrowing Connection) throws(SQLiteError) in
      try Self.set(Self.backend(at: address), to: text, on: db)
    }
  }

  /// Makes a file with what another one remembers beside sessions; none if that is nothing. `vault`: of both.
  static func copyWithoutSessions(
    _ path: String, to copy: String, with vault: Vault?
  ) throws(StoreError) {
    guard access(path, F_OK) == 0 else { return }
    // It has no tag's session, so none is moved to one.
    let store = try SessionStore(path: path, vault: vault, tag: "")
    defer { store.close() }
    guard let user = try store.formerUser() else { return }
    let other = try SessionStore(path: copy, vault: vault, tag: "")
    defer { other.close() }
    try other.write { (db: borrowing Connection) throws(SQLiteError) in
      try set(former, to: user.text, on: db)
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
    try MigratingThread.refuse()
    do throws(SQLiteError) {
      return try database.write(body)
    } catch {
      throw StoreError(error)
    }
  }

  private static func value(
    of name: String, _ db: borrowing Connection
  ) throws(SQLiteError) -> String? {
    let statement = try db.statement("SELECT value FROM facts WHERE name = \(bind: name)")
    return try statement.step() ? statement.text(0) : nil
  }

  private static func set(
    _ name: String, to value: String, on db: borrowing Connection
  ) throws(SQLiteError) {
    try db.run("INSERT OR REPLACE INTO facts VALUES (\(bind: name), \(bind: value))")
  }

  private static func delete(_ name: String, on db: borrowing Connection) throws(SQLiteError) {
    try db.run("DELETE FROM facts WHERE name = \(bind: name)")
  }
}
