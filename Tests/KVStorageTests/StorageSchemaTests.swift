import KVSQLite
import KVStorage
import KVTestSupport
import Testing

@Suite("The tables of a tag's file") struct StorageSchemaTests {
  let directory = TemporaryDirectory()

  /// Each table with its columns, each index with its own, each trigger: as a statement of SQLite's catalogue tells them.
  private func shape(newFile: String?) throws -> [String] {
    let path = directory.file(newFile == nil ? "migrated.kvs" : "new.kvs")
    let database = try Database(
      StorageSchema.configuration(path),
      newFile: newFile, migrations: StorageMigrations.all)
    defer { database.close() }
    let rows = try database.rows(
      of: """
        SELECT concat FROM (
          SELECT 'table ' || t.name || ' ' || group_concat(quote(c.cid) || quote(c.name) || quote(c.type) || quote(c."notnull")
            || quote(c.dflt_value) || quote(c.pk) || quote(c.hidden), ', ') || (SELECT wr FROM pragma_table_list(t.name)) AS concat
            FROM sqlite_schema AS t, pragma_table_xinfo(t.name) AS c WHERE t.type = 'table' GROUP BY t.name
          UNION ALL
          SELECT 'index ' || t.name || quote(i."unique") || i.origin || i.partial || group_concat(quote(c.name))
            FROM sqlite_schema AS t, pragma_index_list(t.name) AS i, pragma_index_xinfo(i.name) AS c
            WHERE t.type = 'table' GROUP BY i.name
          UNION ALL
          SELECT type || ' ' || name || ' ' || replace(replace(sql, ' ', ''), char(10), '') FROM sqlite_schema
            WHERE type IN ('trigger', 'index') AND sql NOT NULL
          UNION ALL SELECT 'version ' || user_version FROM pragma_user_version)
        ORDER BY concat
        """
    ) { _ in }
    var found: [String] = []
    while let row = try rows.next({ $0.text(0) ?? "" }) { found.append(row) }
    return found
  }

  @Test("are the same in a new file and in one that was brought up to date step by step")
  func newFileIsMigrated() throws {
    let (new, migrated) = (
      try shape(newFile: StorageSchema.tables), try shape(newFile: nil)
    )
    #expect(new == migrated)
    #expect(new.contains { $0.hasPrefix("table pending") })
    #expect(new.contains { $0.hasPrefix("triggergone_cut") || $0.hasPrefix("trigger gone_cut") })
  }
}
