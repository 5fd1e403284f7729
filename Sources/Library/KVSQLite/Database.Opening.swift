internal import CSQLite
internal import KVBase

extension Database {
  /// Makes the directory that a database is to lie in, for its owner only, or throws why it cannot be used. No file is made.
  package static func prepareDirectory(of path: String) throws(SQLiteError) {
    try DatabaseFile.prepareDirectory(of: path)
  }

  /// Opens the connection that writes, having made the file or proved that it is ours, and brings the
  /// schema up to date. A file that is refused stays as it is, byte for byte. Nil if the system lets us only read it.
  ///
  /// If another process replaces the file meanwhile, because it encrypts or decrypts it, the new one is opened.
  static func openWriter(
    _ configuration: Configuration, newFile: String?, migrations: [Migration]
  ) throws(SQLiteError) -> PooledConnection? {
    let deadline = Deadline.after(seconds: Double(configuration.busyTimeout) / 1000)
    while true {
      do throws(SQLiteError) {
        return try openMakingRoom(configuration, newFile: newFile, migrations)
      } catch {
        guard error == .replaced, !deadline.hasPassed else { throw error }
      }
    }
  }

  /// A full disk is no reason to refuse: the reserve is for what opening needs as well.
  private static func openMakingRoom(
    _ configuration: Configuration, newFile: String?, _ migrations: [Migration]
  ) throws(SQLiteError) -> PooledConnection? {
    do throws(SQLiteError) {
      return try attemptToOpen(configuration, newFile: newFile, migrations)
    } catch {
      guard error.kind == .full, DiskReserve(of: configuration.path).release() else { throw error }
    }
    return try attemptToOpen(configuration, newFile: newFile, migrations)
  }

  private static func attemptToOpen(
    _ configuration: Configuration, newFile: String?, _ migrations: [Migration]
  ) throws(SQLiteError) -> PooledConnection? {
    try DatabaseFile.create(configuration.path, with: configuration.vault)
    let connection = try Connection(
      opening: configuration.path, for: .writing, with: configuration.vault)
    do throws(SQLiteError) {
      guard try setUp(connection, configuration, newFile: newFile, migrations: migrations) else {
        return nil
      }
    } catch {
      // While we waited for its lock: SQLite does not write to what is not there any more.
      throw connection.hasMoved ? .replaced : error
    }
    // From now on its lock keeps others from replacing the file.
    if connection.hasMoved { throw .replaced }
    return PooledConnection(connection)
  }

  /// Brings a file that was opened to what it should be. False: the system lets us only read it.
  private static func setUp(
    _ connection: borrowing Connection, _ configuration: Configuration, newFile: String?,
    migrations: [Migration]
  ) throws(SQLiteError) -> Bool {
    let header = try DatabaseFile.header(
      of: connection, applicationId: configuration.applicationId)
    if case .ours(let version) = header { try refuse(newer: version, than: migrations.count) }
    if connection.isReadOnly {
      if case .unreadable = header {
        throw SQLiteError(.corrupt, "The file's first page is damaged.")
      }
      guard case .ours(Int32(migrations.count)) = header else {
        throw SQLiteError(
          .readOnly,
          "The file has an older version, and cannot be upgraded because it is read-only."
        )
      }
      return false
    }
    // Until the version is known for certain – the log may be ahead of the header – closing must not
    // write the log back.
    kv_sqlite_configure(connection.raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    try prepare(connection, configuration)
    try patiently(configuration) { () throws(SQLiteError) in
      try mark(connection, configuration.applicationId)
      try enterWAL(connection)
    }
    if case .unreadable = header,
      try connection.integer("PRAGMA application_id") != Int64(configuration.applicationId)
    {
      throw SQLiteError(.corrupt, "The file is a database of another program.")
    }
    // Steps of the schema run no trigger: those that are there have not been looked at yet.
    if configuration.trustsSchema {
      kv_sqlite_configure(connection.raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 1)
    }
    try migrate(connection, configuration, newFile: newFile, by: migrations)
    kv_sqlite_configure(connection.raw, SQLITE_DBCONFIG_ENABLE_TRIGGER, 1)
    kv_sqlite_configure(connection.raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
    connection.lookAtDisk()
    DatabaseFile.removePartial(of: configuration.path)
    return true
  }

  /// Opens one more connection for reading.
  static func openReader(_ configuration: Configuration) throws(SQLiteError) -> PooledConnection {
    let access: Connection.Access = DatabaseFile.isImmutable(configuration.path) ? .immutable : .any
    let connection = try Connection(
      opening: configuration.path, for: access, with: configuration.vault)
    try prepare(connection, configuration)
    try connection.execute("PRAGMA query_only = 1")
    return PooledConnection(connection)
  }

  /// What every connection is set to.
  private static func prepare(
    _ connection: borrowing Connection, _ configuration: Configuration
  ) throws(SQLiteError) {
    connection.setBusyTimeout(configuration.busyTimeout)
    // What is deleted is overwritten where that costs no writing: else deleting would need as much room in the log as
    // what is deleted.
    try connection.execute(
      """
      PRAGMA synchronous = FULL;
      PRAGMA cache_size = -\(configuration.cacheKiB);
      PRAGMA secure_delete = FAST;
      """)
    try RowFunction.register(on: connection.raw)
    try IndexFunctions.register(on: connection.raw)
  }

  /// Writes our mark into the header of an empty file, before the log exists: so the header of the
  /// file itself tells whose it is, whatever happens later.
  private static func mark(
    _ connection: borrowing Connection, _ applicationId: Int32
  ) throws(SQLiteError) {
    guard try connection.integer("PRAGMA page_count") == 0 else { return }
    try connection.execute("BEGIN EXCLUSIVE")
    do {
      // Unless another process did while we waited for the lock.
      if try connection.integer("PRAGMA application_id") == 0 {
        try connection.execute("PRAGMA application_id = \(applicationId)")
      }
      try connection.execute("COMMIT")
    } catch {
      if connection.isInTransaction { try connection.execute("ROLLBACK") }
      throw error
    }
  }

  private static func enterWAL(_ connection: borrowing Connection) throws(SQLiteError) {
    let statement = try connection.prepare("PRAGMA journal_mode = WAL")
    guard try statement.step(), statement.text(0) == "wal" else {
      throw SQLiteError(.io, "The file system does not support a write-ahead log.")
    }
    // Give back the space of a log that grew for once.
    try connection.execute("PRAGMA journal_size_limit = 16777216")
  }

  /// Runs the missing steps in one transaction. The version is looked at inside it, so that of
  /// several processes one migrates and the others find it done. Afterwards the schema must be one of ours; if it is not, nothing
  /// was changed.
  private static func migrate(
    _ connection: borrowing Connection, _ configuration: Configuration, newFile: String?,
    by migrations: [Migration]
  ) throws(SQLiteError) {
    let supported = Int64(migrations.count)
    let current = try connection.integer("PRAGMA user_version") ?? 0
    try refuse(newer: Int32(truncatingIfNeeded: current), than: migrations.count)
    if current == supported {
      try connection.beginSnapshot()
      defer { try? connection.run(Connection.Control.rollback) }
      return try SchemaCheck.run(on: connection, known: configuration.knownTriggers)
    }
    try connection.transaction(.full) { (connection) throws(SQLiteError) in
      let version = try connection.integer("PRAGMA user_version") ?? 0
      try refuse(newer: Int32(truncatingIfNeeded: version), than: migrations.count)
      if let newFile, version == 0 {
        try connection.execute(newFile)
      } else {
        for step in migrations.dropFirst(Int(version)) { try step.run(connection) }
      }
      try SchemaCheck.run(on: connection, known: configuration.knownTriggers)
      try connection.execute("PRAGMA user_version = \(supported)")
    }
  }

  private static func refuse(newer version: Int32, than supported: Int) throws(SQLiteError) {
    guard version < 0 || version > supported else { return }
    throw SQLiteError(
      .corrupt,
      """
      The file was written by a newer version of this software: its schema is \(version), and this version knows up to \
      \(supported). Update the software; the file was left unchanged.
      """)
  }

  /// Repeats `body` while another process is opening the same file: switching to the log needs the
  /// file alone, and SQLite does not wait for that by itself.
  private static func patiently(
    _ configuration: Configuration, _ body: () throws(SQLiteError) -> Void
  ) throws(SQLiteError) {
    let deadline = Deadline.after(seconds: Double(configuration.busyTimeout) / 1000)
    while true {
      do {
        return try body()
      } catch {
        guard error.kind == .busy, !deadline.hasPassed else { throw error }
        sqlite3_sleep(5)
      }
    }
  }
}
