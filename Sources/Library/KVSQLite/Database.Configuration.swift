package import KVCrypto

extension Database {
  /// How a database is opened.
  package struct Configuration: Sendable {
    /// The file. Missing directories are made.
    package var path: String
    /// Marks files of this program; kept in the header.
    package var applicationId: Int32
    /// Has the key of an encrypted file; nil: the file is not encrypted.
    package var vault: Vault?
    package var durability: Durability = .full
    /// How long to wait for another process, in milliseconds.
    package var busyTimeout: Int32 = 10_000
    /// Page cache of the writer in KiB; readers have the same.
    package var cacheKiB: Int32 = 4096
    /// How long the lock that readers share may be held without readers, in milliseconds: see `SharedReadLock`. 0: it is not used.
    package var sharedReadLockMilliseconds = 10

    /// Statements that make the triggers which the file may have, by what its tables say. A file with any other one is
    /// refused, and so is one with a view.
    package var knownTriggers: @Sendable (borrowing Connection) throws(SQLiteError) -> [String] = {
      (_: borrowing Connection) throws(SQLiteError) in []
    }

    /// Whether triggers of the file may write to FTS5's tables, which SQLite 3.40 does not call harmless. Only
    /// the writer is allowed to, and triggers run only if they are known ones. All functions of ours are pure or barred from
    /// schemas, and no extension is ever loaded.
    package var trustsSchema = false

    package init(path: String, applicationId: Int32) {
      self.path = path
      self.applicationId = applicationId
    }
  }

  /// What a commit waits for.
  package enum Durability: Sendable {
    /// The disk: a commit survives a power failure.
    case full
    /// The operating system: a commit survives the process; the last ones may not survive a power failure.
    case normal
  }

  /// One step of the schema: from version n (its index in the list) to n + 1. All the steps that a
  /// file lacks run in one transaction.
  package struct Migration: Sendable {
    let run: @Sendable (borrowing Connection) throws(SQLiteError) -> Void

    package init(_ run: @escaping @Sendable (borrowing Connection) throws(SQLiteError) -> Void) {
      self.run = run
    }

    /// A step that is SQL alone: one or several statements.
    package init(sql: String) {
      run = { (db: borrowing Connection) throws(SQLiteError) in try db.execute(sql) }
    }
  }
}
