internal import Glibc
internal import KVBase
internal import KVCrypto
internal import KVServerCore
internal import KVServerSQLite

/// Copies of a data directory: the database as it was at one moment, the app that belongs to it, and the bytes of files.
enum Backup {
  /// Copies the data of a directory, also while a server uses it. `copy` is made, or is empty; when this returns, all of
  /// it is on the disk. `files`: the directory of the bytes of files; nil: that beside the data. `keyFile`: of the key if the data is
  /// encrypted; so is the copy. Returns how many files have been copied.
  @discardableResult
  static func make(
    of data: String, files: String? = nil, at copy: String, keyFile: String? = nil
  ) throws(Server.Failure) -> Int {
    let source = SQLiteStore.file(in: data)
    guard access(source, F_OK) == 0 else { throw Server.Failure("there is no \(source)") }
    try ServerDirectory.make(copy)
    try checkIsEmpty(copy)
    return try write(
      source, data + "/" + AppFile.name, to: copy, files: files ?? Self.files(of: data),
      copiedTo: Self.files(of: copy), with: EncryptionKeyFile.vault(keyFile))
  }

  private static func files(of data: String) -> String {
    data + "/" + Server.Configuration.filesName
  }

  /// Makes a data directory of a copy. It is made, or has no data. The next server notices that this data was put back:
  /// see `DataEpoch`. `files`: where the bytes of files go; nil: beside the data. Returns how many files have been copied.
  @discardableResult
  static func restore(
    _ data: String, files: String? = nil, from copy: String, keyFile: String? = nil
  ) throws(Server.Failure) -> Int {
    let source = SQLiteStore.file(in: copy)
    guard access(source, F_OK) == 0 else { throw Server.Failure("there is no \(source)") }
    let directory = try ServerDirectory(data)
    let target = SQLiteStore.file(in: data)
    guard access(target, F_OK) != 0 else {
      throw Server.Failure("\(target) exists: move its data away first")
    }
    do throws(Server.Failure) {
      let count = try write(
        source, copy + "/" + AppFile.name, to: data, files: Self.files(of: copy),
        copiedTo: files ?? Self.files(of: data), with: EncryptionKeyFile.vault(keyFile))
      directory.unlock()
      return count
    } catch {
      directory.discard()
      throw error
    }
  }

  /// The database gets its name when all is there: a copy that was broken off is no data. The files follow the database: what is said
  /// about a file is written before its bytes are whole, so none is missing that the copy of the database names, unless it was removed
  /// meanwhile.
  private static func write(
    _ database: String, _ app: String, to directory: String, files: String,
    copiedTo copiedFiles: String, with vault: Vault?
  ) throws(Server.Failure) -> Int {
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
    let count: Int
    do throws(FileDirectory.Failure) {
      count = try FileDirectory.copy(files, to: copiedFiles)
    } catch {
      unlink(draft)
      throw Server.Failure(error.description)
    }
    guard rename(draft, target) == 0, synchroniseNames(in: directory) else {
      unlink(draft)
      throw Server.Failure("cannot write \(target): \(String(cString: strerror(errno)))")
    }
    return count
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
