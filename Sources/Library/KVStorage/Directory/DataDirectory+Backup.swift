internal import Glibc
package import KVBase
internal import KVSQLite
package import KVSync

extension DataDirectory {
  /// Copies the data of all tags, as it is at one moment, into another directory of this kind, which must not have any yet. Others
  /// go on to read and write.
  ///
  /// Sessions are not copied: who has the copy is another device, and logs in. The copy appears when it is complete and on the disk;
  /// if this fails nothing of it is left, and if the process ends a directory `.<app key>.partial-…` beside it.
  ///
  /// `.conflict` if there is data already, `.notFound` if there is none to be copied.
  package func backUp(
    into target: DataDirectory, within budget: WorkBudget
  ) throws(StoreError) -> (tags: [String], bytes: Int64) {
    guard !target.hasEntries else { throw target.isTaken }
    // One whose file was made at this moment has no data yet.
    let tags = try self.tags().filter { Self.length(file(tag: $0)) > 0 }
    guard !tags.isEmpty else {
      throw StoreError(.notFound, "\(path) has no data.")
    }
    let freezing = QueuedOperators.freezing(at: Timestamp.now())
    for tag in tags { try changeQueue(of: file(tag: tag), freezing) }
    try target.prepare()
    let partial = try target.makePartial()
    do throws(StoreError) {
      let report = try copy(tags, to: partial, within: budget)
      try Self.synchronise(partial)
      // Replaces what is empty, and fails otherwise.
      guard rename(partial, target.path) == 0 else {
        throw errno == ENOTEMPTY || errno == EEXIST ? target.isTaken : Self.failure(target.path)
      }
      try Self.synchronise(target.parent)
      return report
    } catch {
      Self.remove(partial)
      // What `prepare` has made.
      rmdir(target.path)
      throw error
    }
  }

  private func copy(
    _ tags: [String], to partial: String, within budget: WorkBudget
  ) throws(StoreError) -> (tags: [String], bytes: Int64) {
    let copies = tags.map { tag in
      DatabaseCopy.File(
        file(tag: tag), to: "\(partial)/\(Self.safe(tag)).kvs",
        applicationId: StorageSchema.applicationId)
    }
    do throws(SQLiteError) {
      try DatabaseCopy.make(copies, with: vault, within: budget)
    } catch {
      throw StoreError(error, within: budget)
    }
    for file in copies { try changeQueue(of: file.copy, QueuedOperators.closing) }
    try SessionStore.copyWithoutSessions(sessionFile, to: "\(partial)/_session.kvs", with: vault)
    return (tags, copies.reduce(0) { $0 + Self.length($1.copy) })
  }

  /// Changes the queue of a file, if there are operators that were not sent.
  private func changeQueue(of path: String, _ sql: String) throws(StoreError) {
    var configuration = StorageSchema.configuration(path)
    configuration.vault = vault
    do throws(SQLiteError) {
      let database = try Database(configuration, migrations: StorageMigrations.all)
      defer { database.close() }
      let isNeeded = try database.read { (db: borrowing Connection) throws(SQLiteError) -> Bool in
        try db.integer(QueuedOperators.openRows) != nil
      }
      guard isNeeded else { return }
      try database.write { (db: borrowing Connection) throws(SQLiteError) in try db.execute(sql) }
    } catch {
      throw StoreError(error)
    }
  }

  // MARK: Files

  /// The directory that has this one.
  private var parent: String { parentDirectory(of: path) }

  private var isTaken: StoreError {
    StoreError(.conflict, "\(path) has data already. A backup replaces nothing.")
  }

  private var hasEntries: Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    // Only what is empty can be removed; it is made again when the data comes.
    return rmdir(path) != 0
  }

  /// Makes a directory beside this one, under a name that no other process uses.
  private func makePartial() throws(StoreError) -> String {
    // It was made by `prepare`, with all above it.
    let name = path.dropFirst(parent.utf8.count + 1)
    let partial = "\(parent)/.\(name).partial-\(Identifier.entity())"
    guard mkdir(partial, 0o700) == 0 else { throw Self.failure(partial) }
    return partial
  }

  private static func remove(_ directory: String) {
    guard let names = fileNames(in: directory) else { return }
    for name in names { unlink("\(directory)/\(name)") }
    rmdir(directory)
  }

  private static func synchronise(_ directory: String) throws(StoreError) {
    guard synchroniseNames(in: directory) else { throw failure(directory) }
  }

  static func length(_ path: String) -> Int64 {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : 0
  }

  private static func failure(_ path: String) -> StoreError {
    let kind: StoreError.Kind = errno == ENOSPC || errno == EDQUOT ? .full : .storage
    return StoreError(kind, "\(path): \(String(cString: strerror(errno))).")
  }
}
