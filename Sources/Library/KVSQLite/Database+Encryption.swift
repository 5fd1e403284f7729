internal import CSQLite
internal import Glibc
package import KVBase
package import KVCrypto

extension Database {
  /// Has another key open a file under a name, in place of the one that had it; nil: none. Gives the names of all keys. The
  /// content stays as it is, so this takes no longer for a large file. Other connections to the file go on.
  ///
  /// Throws `.key` if `vault` does not open the file, and `.invalid` if the key cannot be one, or would be the last one to go.
  package static func changeKey(
    of path: String, with vault: Vault, _ name: String, to key: ApplicationKey?
  ) throws(SQLiteError) -> [String] {
    let connection = try Connection(opening: path, with: vault)
    connection.setBusyTimeout(10_000)
    // The transaction keeps out others who change keys.
    return try connection.transaction(.full) { (connection) throws(SQLiteError) in
      // Another process may have put another file there before it began.
      guard !connection.hasMoved else { throw .replaced }
      try connection.changeHeader { (header) throws(EncryptionError) in
        try vault.changing(header, slot: name, to: key)
      }
      return try connection.header()?.slotNames ?? []
    }
  }

  /// Has `vault` learn the key of a file. Throws `.key` if it cannot open it.
  package static func unlock(_ path: String, with vault: Vault) throws(SQLiteError) {
    _ = try Connection(opening: path, for: .reading, with: vault)
  }

  /// Whether a vault opens a file; nil: whether the file is not encrypted.
  package static func isOpened(_ path: String, by vault: Vault?) throws(SQLiteError) -> Bool {
    do throws(SQLiteError) {
      _ = try Connection(opening: path, for: .reading, with: vault)
      return true
    } catch {
      guard error.kind == .key else { throw error }
      return false
    }
  }

  /// Writes a file anew, encrypted with a key that is new as well, or not encrypted any more (`to` nil), and puts it in place of the
  /// former one. `from`: opens the file as it is; nil: it is not encrypted.
  ///
  /// Throws `.busy` while another connection has the file open. If this fails, the file is as it was. It needs room for a copy of
  /// the file.
  package static func changeEncryption(
    of path: String, from: Vault?, to: Vault?, within budget: WorkBudget
  ) throws(SQLiteError) {
    let partial = "\(path)-new"
    let connection = try Connection(opening: path, with: from)
    connection.setBusyTimeout(1000)
    try connection.takeAlone()
    // Another process may have put another file there while we waited. From here on none does: it would need our lock.
    guard !connection.hasMoved else { throw .replaced }
    DatabaseFile.removePartial(of: path)
    do throws(SQLiteError) {
      try connection.within(budget) { () throws(SQLiteError) in
        try connection.copy(to: partial, with: to)
      }
      try DatabaseFile.replace(path, with: partial)
    } catch {
      // Only then: once the new file is in its place, the next process may write its own.
      DatabaseFile.removePartial(of: path)
      throw error
    }
  }
}

extension Connection {
  /// Locks the file exclusively until the connection closes, and writes the log back into it. Throws `.busy` while another
  /// connection has the file open.
  fileprivate borrowing func takeAlone() throws(SQLiteError) {
    // Leaving the log needs the file alone; the lock that it takes for that is kept.
    try execute("PRAGMA locking_mode = EXCLUSIVE")
    do throws(SQLiteError) {
      guard try leaveLog() else {
        throw SQLiteError(.busy, "Another connection has the file open.")
      }
      try execute("BEGIN EXCLUSIVE; COMMIT")
    } catch {
      guard error.kind == .busy else { throw error }
      throw SQLiteError(
        .busy, extendedCode: error.extendedCode, "Another connection has the file open.")
    }
  }

  private borrowing func leaveLog() throws(SQLiteError) -> Bool {
    let statement = try prepare("PRAGMA journal_mode = DELETE")
    return try statement.step() && statement.text(0) == "delete"
  }

  /// Copies all rows into a new file.
  fileprivate borrowing func copy(to path: String, with vault: Vault?) throws(SQLiteError) {
    try DatabaseFile.create(path, with: vault)
    var parameters = "vfs=unix"
    guard let vault else { return try copy(toFile: path, parameters) }
    // Room for nonce and tag, which the copy's pages need.
    var reserved = Int32(EncryptedPages.reservedPerPage)
    sqlite3_file_control(raw, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved)
    let opening = EncryptedVFS.Opening(vault)
    do throws(SQLiteError) {
      try EncryptedVFS.with(opening) { (encryption) throws(SQLiteError) in
        parameters = encryption
        try copy(toFile: path, parameters)
      }
    } catch {
      throw opening.error.map { SQLiteError($0) } ?? error
    }
  }

  private borrowing func copy(toFile path: String, _ parameters: String) throws(SQLiteError) {
    let statement = try prepare("VACUUM INTO ?")
    try statement.bind("file:\(Self.escaped(path))?\(parameters)", at: 1)
    try statement.run()
  }

  /// The header of an encrypted file; nil: the file is not encrypted.
  fileprivate borrowing func header() throws(SQLiteError) -> FileHeader? {
    var found: FileHeader?
    try changeHeader { header in
      found = header
      return nil
    }
    return found
  }

  /// Changes the header of an encrypted file, on the disk when this returns; nil: it stays.
  fileprivate borrowing func changeHeader(
    _ change: (FileHeader) throws(EncryptionError) -> FileHeader?
  ) throws(SQLiteError) {
    try withoutActuallyEscaping(change) { (change) throws(SQLiteError) in
      let request = EncryptedPages.HeaderChange(change)
      var argument = Unmanaged.passUnretained(request)
      let status = sqlite3_file_control(raw, "main", KV_SQLITE_FCNTL_HEADER, &argument)
      if let error = request.error { throw SQLiteError(error) }
      guard status == SQLITE_OK else { throw SQLiteError(status: status, on: nil) }
    }
  }
}
