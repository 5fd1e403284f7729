import CSQLite

/// Runs SQL on a database file as any program could, without the software under test; false if it fails. Functions that a schema of
/// ours uses are not there.
package func runForeignSQL(_ sql: String, on path: String) -> Bool {
  var database: OpaquePointer?
  defer { sqlite3_close(database) }
  guard sqlite3_open(path, &database) == SQLITE_OK else { return false }
  return sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK
}

/// Writes a row of the schema itself: SQLite runs its text when the file is opened next.
package func plantSchemaRow(type: String, name: String, table: String, sql: String, on path: String)
  -> Bool
{
  runForeignSQL(
    """
    PRAGMA writable_schema = ON;
    INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql) VALUES ('\(type)', '\(name)', '\(table)', 0, '\(sql)');
    """, on: path)
}
