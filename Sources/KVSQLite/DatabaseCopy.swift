internal import CSQLite
internal import Glibc

/// Copies of database files.
package enum DatabaseCopy {
  /// Copies a database as it is at this moment into a new file that only its owner may read; others go on to read and
  /// write it. The copy is on the disk when this returns. Throws `.corrupt` for a file that is damaged or not ours.
  package static func make(
    of path: String, at copy: String, applicationId: Int32
  ) throws(SQLiteError) {
    let descriptor = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw SQLiteError(.io, "\(copy): \(String(cString: strerror(errno)))")
    }
    close(descriptor)
    let source = try Connection(opening: path)
    guard try source.integer("PRAGMA application_id") == Int64(applicationId) else {
      throw SQLiteError(.corrupt, "\(path) is not a database of this library.")
    }
    let target = try Connection(opening: copy)
    guard let backup = sqlite3_backup_init(target.raw, "main", source.raw, "main") else {
      throw SQLiteError(status: sqlite3_extended_errcode(target.raw), on: target.raw)
    }
    // All at once: a copy in steps begins anew with each write of another connection.
    let status = sqlite3_backup_step(backup, -1)
    let ended = sqlite3_backup_finish(backup)
    guard status == SQLITE_DONE, ended == SQLITE_OK else {
      throw SQLiteError(status: ended == SQLITE_OK ? status : ended, on: target.raw)
    }
  }
}
