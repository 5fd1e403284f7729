internal import Glibc
internal import KVBase
internal import KVCrypto
internal import KVServerCore
internal import KVServerSQLite

/// Copies of a data directory: the database as it was at one moment, and the app that belongs to it.
enum Backup {
  /// Copies the data of a directory, also while a server uses it. `copy` is made, or is empty; when this returns, all of
  /// it is on the disk. `keyFile`: of the key if the data is encrypted; so is the copy.
  static func make(
    of data: String, at copy: String, keyFile: String? = nil
  ) throws(Server.Failure) {
    let source = SQLiteStore.file(in: data)
    guard access(source, F_OK) == 0 else { throw Server.Failure("there is no \(source)") }
    try ServerDirectory.make(copy)
    try checkIsEmpty(copy)
    try write(source, data + "/" + AppFile.name, to: copy, with: EncryptionKeyFile.vault(keyFile))
  }

  /// A line that says which bytes of files a copy of this data lacks; nil: there are none beside the data.
  static func missingFiles(of data: String) -> String? {
    let files = data + "/" + Server.Configuration.filesName
    guard FileDirectory.hasFiles(files) else { return nil }
    return "kvstored: the copy lacks the bytes of files: copy \(files) now, too\n"
  }

  /// Makes a data directory of a copy. It is made, or has no data. The next server notices that this data was put back:
  /// see `DataEpoch`.
  static func restore(
    _ data: String, from copy: String, keyFile: String? = nil
  ) throws(Server.Failure) {
    let source = SQLiteStore.file(in: copy)
    guard access(source, F_OK) == 0 else { throw Server.Failure("there is no \(source)") }
    let directory = try ServerDirectory(data)
    let target = SQLiteStore.file(in: data)
    guard access(target, F_OK) != 0 else {
      throw Server.Failure("\(target) exists: move its data away first")
    }
    do throws(Server.Failure) {
      try write(
        source, copy + "/" + AppFile.name, to: data, with: EncryptionKeyFile.vault(keyFile))
    } catch {
      directory.discard()
      throw error
    }
    directory.unlock()
  }

  /// The database last, and under its name when it is complete: a copy that was broken off is no data.
  private static func write(
    _ database: String, _ app: String, to directory: String, with vault: Vault?
  ) throws(Server.Failure) {
    do throws(TextFile.Failure) {
      // Beside the database are its log and the index of that.
      for suffix in ["", "-wal", "-shm", "-journal"] { try FileTrust.checkFile(database + suffix) }
      var status = stat()
      if lstat(app, &status) == 0 {
        let text = try TextFile.readOwn(app, isSecret: false)
        try TextFile.write(text, to: directory + "/" + AppFile.name)
      }
    } catch {
      throw Server.Failure(error.description)
    }
    let target = SQLiteStore.file(in: directory)
    let draft = target + ".new"
    unlink(draft)
    do throws(SQLiteStore.Failure) {
      try SQLiteStore.copy(database, with: vault, to: draft)
    } catch {
      unlink(draft)
      throw Server.Failure(error.description)
    }
    guard rename(draft, target) == 0, synchroniseNames(in: directory) else {
      unlink(draft)
      throw Server.Failure("cannot write \(target): \(String(cString: strerror(errno)))")
    }
  }

  private static func checkIsEmpty(_ directory: String) throws(Server.Failure) {
    guard let entries = opendir(directory) else {
      throw Server.Failure("cannot read \(directory): \(String(cString: strerror(errno)))")
    }
    defer { closedir(entries) }
    var count = 0
    // "." and ".." are always there.
    while readdir(entries) != nil { count += 1 }
    guard count <= 2 else { throw Server.Failure("\(directory) is not empty") }
  }
}
