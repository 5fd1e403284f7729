internal import CSQLite
internal import Glibc
package import KVBase
package import KVCrypto

/// Copies of database files.
package enum DatabaseCopy {
  /// One file that is copied.
  package struct File: Sendable {
    package let path: String
    /// A new file, which only its owner may read.
    package let copy: String
    package let applicationId: Int32

    package init(_ path: String, to copy: String, applicationId: Int32) {
      (self.path, self.copy, self.applicationId) = (path, copy, applicationId)
    }
  }

  /// How many pages are copied between two looks at the budget.
  private static let pagesPerStep: Int32 = 256

  /// Copies databases, all as they are at one moment, into new files that only their owner may read; others go on to read and
  /// write them. The copies are on the disk when this returns. `vault`: the databases are encrypted, and so are the copies, with
  /// the same keys.
  ///
  /// Throws `.corrupt` for a file that is damaged or not ours, and `.interrupted` once the budget is exhausted. What was copied
  /// until it fails stays.
  package static func make(
    _ files: [File], with vault: Vault? = nil, within budget: WorkBudget
  ) throws(SQLiteError) {
    let sources = try snapshots(of: files, vault)
    for (file, source) in zip(files, sources) {
      try copy(file, source, with: vault, within: budget)
    }
  }

  /// Begins to read all of them. There are no writes to any of them in between.
  private static func snapshots(
    of files: [File], _ vault: Vault?
  ) throws(SQLiteError) -> [PooledConnection] {
    var writers: [PooledConnection] = []
    var sources: [PooledConnection] = []
    for file in files {
      let source = try open(file.path, vault)
      guard try source.connection.integer("PRAGMA application_id") == Int64(file.applicationId)
      else { throw SQLiteError(.corrupt, "\(file.path) is not a database of this library.") }
      sources.append(source)
      // One file alone is as it is at one moment anyway.
      guard files.count > 1, !source.connection.isReadOnly else { continue }
      let writer = try open(file.path, vault)
      try writer.connection.run(Connection.Control.beginWrite)
      writers.append(writer)
    }
    for source in sources { try source.connection.beginSnapshot() }
    for writer in writers { try writer.connection.run(Connection.Control.rollback) }
    return sources
  }

  private static func open(
    _ path: String, _ vault: Vault?
  ) throws(SQLiteError) -> PooledConnection {
    let access: Connection.Access = DatabaseFile.isImmutable(path) ? .immutable : .any
    let connection = try Connection(opening: path, for: access, with: vault)
    connection.setBusyTimeout(10_000)
    return PooledConnection(connection)
  }

  private static func copy(
    _ file: File, _ source: PooledConnection, with vault: Vault?, within budget: WorkBudget
  ) throws(SQLiteError) {
    let descriptor = Glibc.open(file.copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      let kind: SQLiteError.Kind = errno == ENOSPC || errno == EDQUOT ? .full : .io
      throw SQLiteError(kind, "\(file.copy): \(String(cString: strerror(errno)))")
    }
    close(descriptor)
    if vault != nil { try DatabaseFile.create(file.copy, with: vault) }
    let target = try Connection(opening: file.copy, with: vault)
    guard let backup = sqlite3_backup_init(target.raw, "main", source.connection.raw, "main")
    else {
      throw SQLiteError(status: sqlite3_extended_errcode(target.raw), on: target.raw)
    }
    // The source stays in its snapshot from step to step, so the copy never has to begin anew.
    var status = SQLITE_OK
    while status == SQLITE_OK, !budget.isExhausted {
      status = sqlite3_backup_step(backup, pagesPerStep)
    }
    let ended = sqlite3_backup_finish(backup)
    if status == SQLITE_OK { throw SQLiteError(.interrupted, "The copy was given up.") }
    guard status == SQLITE_DONE, ended == SQLITE_OK else {
      throw SQLiteError(status: ended == SQLITE_OK ? status : ended, on: target.raw)
    }
  }
}
