internal import CSQLite
internal import Glibc
internal import KVBase
internal import KVCrypto

/// The file of a database before SQLite works on it: making it, and telling whether it is ours.
enum DatabaseFile {
  /// Makes the directory (0700, its parents too) and an empty file (0600) unless they exist.
  ///
  /// `mknod` makes the file without opening it: closing a descriptor would drop the POSIX locks that
  /// other connections of this process hold on the same file.
  ///
  /// `vault`: of an encrypted database. Its file begins with a header, and has it from its first moment.
  static func create(_ path: String, with vault: Vault? = nil) throws(SQLiteError) {
    try createDirectories(above: path)
    if let vault { return try createEncrypted(path, vault) }
    guard mknod(path, S_IFREG | 0o600, 0) == 0 else {
      guard errno == EEXIST else { throw failure("create", path) }
      return
    }
    // The umask may have taken bits away.
    guard chmod(path, 0o600) == 0 else { throw failure("chmod", path) }
  }

  /// Makes an encrypted file with its header. It is written under another name first, so it appears as a whole. An empty file is
  /// replaced.
  private static func createEncrypted(_ path: String, _ vault: Vault) throws(SQLiteError) {
    guard size(of: path) ?? 0 == 0 else { return }
    let directory = open(parentDirectory(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { throw failure("open the directory of", path) }
    defer { close(directory) }
    // Others who make the file at this moment wait.
    guard flock(directory, LOCK_EX) == 0 else { throw failure("lock the directory of", path) }
    guard size(of: path) ?? 0 == 0 else { return }
    try learnKeys(of: path, vault)
    let header: FileHeader
    do throws(EncryptionError) { header = try vault.newHeader() } catch { throw SQLiteError(error) }
    let partial = "\(path)-new"
    unlink(partial)
    defer { unlink(partial) }
    try write(header.serialised + header.serialised, to: partial)
    // A name for what is whole. Who has the empty file open finds that it was replaced.
    guard rename(partial, path) == 0 else { throw failure("create", path) }
    fsync(directory)
  }

  /// Has a vault learn the keys of another file in the directory, as they are now: a new file has the same ones. Throws `.key` if
  /// it does not open that file. A file that is to take the place of another one gets keys of its own.
  private static func learnKeys(of path: String, _ vault: Vault) throws(SQLiteError) {
    let directory = parentDirectory(of: path)
    guard let name = path.split(separator: "/").last, !name.hasSuffix("-new"),
      let dot = name.lastIndex(of: "."), let names = fileNames(in: directory)
    else { return }
    let kind = name[dot...].utf8
    let other = names.first { other in
      other.utf8.suffix(kind.count).elementsEqual(kind) && !other.utf8.elementsEqual(name.utf8)
        && size(of: "\(directory)/\(other)") ?? 0 > 0
    }
    if let other { try Database.unlock("\(directory)/\(other)", with: vault) }
  }

  /// Removes what an encryption that was interrupted has left beside a file, which may be plain. Only for who has the file open: so
  /// none is under way.
  static func removePartial(of path: String) {
    for suffix in ["-new", "-new-journal", "-new-new"] { unlink(path + suffix) }
  }

  /// Puts a whole file in the place of another one, on the disk.
  static func replace(_ path: String, with other: String) throws(SQLiteError) {
    // Not open in this process otherwise, so that closing it drops no locks.
    let file = open(other, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw failure("open", other) }
    let status = fsync(file)
    close(file)
    guard status == 0 else { throw failure("write", other) }
    guard rename(other, path) == 0 else { throw failure("replace", path) }
    guard synchroniseNames(in: parentDirectory(of: path)) else {
      throw failure("write the directory of", path)
    }
  }

  private static func write(_ bytes: [UInt8], to path: String) throws(SQLiteError) {
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure("create", path) }
    defer { close(file) }
    guard Glibc.write(file, bytes, bytes.count) == bytes.count, fsync(file) == 0 else {
      throw failure("write", path)
    }
  }

  /// How many bytes a file has; nil: there is none.
  static func size(of path: String) -> Int64? {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : nil
  }

  /// Makes the directory of a file as `create` does, or sees to it that the one that is there can be read. What lies on a
  /// medium that is mounted for reading only is good enough.
  static func prepareDirectory(of path: String) throws(SQLiteError) {
    try createDirectories(above: path)
    guard let slash = path.lastIndex(of: "/") else { return }
    guard access("\(path[..<slash])/.", R_OK | X_OK) == 0 else { throw failure("use", path) }
  }

  /// Whether a file, its log and its locks cannot be written: it lies on a medium that is mounted for reading
  /// only, for instance. A log that is there all the same has to be read, which needs locks.
  static func isImmutable(_ path: String) -> Bool {
    guard access(path, W_OK) != 0, access(parentDirectory(of: path), W_OK) != 0 else {
      return false
    }
    return !hasLog(path)
  }

  /// Whether a file has a log or a rollback journal with something in it, from which SQLite may still have to put the file right.
  private static func hasLog(_ path: String) -> Bool {
    ["-wal", "-journal"].contains { size(of: path + $0) ?? 0 > 0 }
  }

  /// What a file's first bytes say.
  enum Header: Equatable {
    /// The file has no bytes: a new database.
    case empty
    /// A database of this program, of that schema version.
    case ours(version: Int32)
    /// A database whose first page is only in the log or the journal, or nowhere: the power failed while it was written.
    case unreadable
  }

  /// Looks at the header without locking or changing anything.
  ///
  /// Throws `.corrupt` for what is no database or that of another program.
  static func header(
    of connection: borrowing Connection, applicationId: Int32
  ) throws(SQLiteError) -> Header {
    var bytes = [UInt8](repeating: 0, count: 100)
    var size: Int64 = 0
    let status = kv_sqlite_read_header(connection.raw, &bytes, 100, &size)
    if status == SQLiteStatus.shortRead { return .unreadable }
    guard status == SQLITE_OK else { throw SQLiteError(status: status, on: nil) }
    if size == 0 { return .empty }
    guard size >= 100, bytes.starts(with: Array("SQLite format 3\0".utf8)) else {
      let path = sqlite3_db_filename(connection.raw, "main")
      if let path, hasLog(String(cString: path)) { return .unreadable }
      throw SQLiteError(.corrupt, extendedCode: SQLITE_NOTADB, "The file is not a database.")
    }
    guard bigEndian(bytes, at: 68) == applicationId else {
      throw SQLiteError(
        .corrupt, extendedCode: SQLITE_NOTADB, "The file is a database of another program.")
    }
    return .ours(version: bigEndian(bytes, at: 60))
  }

  private static func bigEndian(_ bytes: [UInt8], at offset: Int) -> Int32 {
    Int32(bitPattern: bytes[offset..<offset + 4].reduce(0 as UInt32) { $0 << 8 | UInt32($1) })
  }

  private static func createDirectories(above path: String) throws(SQLiteError) {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return }
    let directory = String(path[..<slash])
    if mkdir(directory, 0o700) == 0 {
      guard chmod(directory, 0o700) == 0 else { throw failure("chmod", directory) }
      return
    }
    if errno == EEXIST { return }
    guard errno == ENOENT else { throw failure("create", directory) }
    try createDirectories(above: directory)
    guard mkdir(directory, 0o700) == 0 || errno == EEXIST else {
      throw failure("create", directory)
    }
  }

  private static func failure(_ verb: String, _ path: String) -> SQLiteError {
    let number = errno
    let reason = strerror(number).map { String(cString: $0) } ?? "error \(number)"
    let kind: SQLiteError.Kind =
      switch number {
      case ENOSPC, EDQUOT: .full
      case EACCES, EPERM, EROFS: .readOnly
      default: .io
      }
    return SQLiteError(kind, "Cannot \(verb) \(path): \(reason).")
  }
}
