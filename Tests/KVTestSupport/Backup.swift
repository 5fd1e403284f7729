import CSQLite

/// Copies a database that may be in use, as the command `.backup` of SQLite's program does; false if it fails.
package func backUp(database path: String, to copy: String) -> Bool {
  var source: OpaquePointer?
  var target: OpaquePointer?
  defer {
    sqlite3_close(source)
    sqlite3_close(target)
  }
  guard sqlite3_open(path, &source) == SQLITE_OK, sqlite3_open(copy, &target) == SQLITE_OK,
    let backup = sqlite3_backup_init(target, "main", source, "main")
  else { return false }
  let result = sqlite3_backup_step(backup, -1)
  return sqlite3_backup_finish(backup) == SQLITE_OK && result == SQLITE_DONE
}
