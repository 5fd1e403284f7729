import KVJSON
import KVSQLite
import KVStorage
import KVSync
import KVTestSupport
import Testing

/// What another program has added to the file of a tag.
@Suite("A schema that is not ours") struct ForeignSchemaTests {
  let directory = TemporaryDirectory()

  private var path: String {
    DataDirectory(root: directory.path, appKey: "kid_test").file(tag: "kinvey")
  }

  /// A file with entities, indexes of all kinds and an observer's triggers.
  private func makeFile() throws {
    let storage = try openStorage(in: directory)
    try storage.store([#"{"_id":"a","n":1,"g":"x","text":"one two","at":[1,2]}"#])
    for keys in [#"{"n":1}"#, #"{"n":-1,"g":1}"#, #"{"text":"text"}"#, #"{"at":"2dsphere"}"#] {
      try storage.createIndex(keys)
    }
    try storage.createIndex(#"{"g":1,"n":1}"#, totals: true)
    storage.close()
  }

  @Test(
    "is refused: triggers, views, foreign virtual tables, under whichever name",
    arguments: [
      "CREATE TRIGGER evil AFTER INSERT ON e1 BEGIN DELETE FROM e1; END",
      "CREATE TRIGGER zz AFTER UPDATE ON pending BEGIN DELETE FROM pending; END",
      // Under the name of one of ours.
      "DROP TRIGGER e1_freed; CREATE TRIGGER e1_freed AFTER DELETE ON e1 BEGIN DELETE FROM pending; END",
      "DROP TRIGGER gone_cut; CREATE TRIGGER gone_cut AFTER INSERT ON gone WHEN new.n % 1024 = 0 BEGIN DELETE FROM gone; END",
      "CREATE TRIGGER \"x1_update\"\"\" AFTER INSERT ON e1 BEGIN DELETE FROM e1; END",
      "CREATE VIEW spy AS SELECT body FROM e1",
      "DROP TABLE owner; CREATE VIEW owner AS SELECT 1 AS one, 'x' AS user",
      "CREATE VIRTUAL TABLE spy USING fts5vocab('x3', 'row')",
    ])
  func refused(_ sql: String) throws {
    try makeFile()
    #expect(runForeignSQL(sql, on: path))
    let before = contents(of: path)
    let error = #expect(throws: StoreError.self) { try openStorage(in: directory) }
    #expect(error?.kind == .corrupt)
    let isUntouched = contents(of: path) == before
    #expect(isUntouched)
  }

  @Test("is refused by its text: SQLite runs that, whatever its row says that it is")
  func disguised() throws {
    try makeFile()
    #expect(
      plantSchemaRow(
        type: "table", name: "harmless", table: "e1",
        sql: "CREATE TRIGGER evil AFTER INSERT ON e1 BEGIN DELETE FROM e1; END", on: path))
    let error = #expect(throws: StoreError.self) { try openStorage(in: directory) }
    #expect(error?.kind == .corrupt)
  }

  @Test("runs nothing while a file of an older version is brought up to date")
  func older() throws {
    let old = try Database(
      StorageSchema.configuration(path), migrations: Array(StorageMigrations.all.prefix(4)))
    old.close()
    // The step that adds the owner inserts a row, and that of the purges changes rows.
    #expect(
      runForeignSQL(
        "CREATE TRIGGER evil AFTER UPDATE ON collections BEGIN DELETE FROM pending; END", on: path))
    let before = contents(of: path)
    let error = #expect(throws: StoreError.self) { try openStorage(in: directory) }
    #expect(error?.kind == .corrupt)
    let isUntouched = contents(of: path) == before
    #expect(isUntouched)
  }

  @Test("is refused in the file of sessions") func sessions() throws {
    let data = DataDirectory(root: directory.path, appKey: "kid_test")
    try data.openSession(tag: "kinvey").close()
    #expect(
      runForeignSQL("CREATE VIEW spy AS SELECT 1", on: data.sessionFile))
    let error = #expect(throws: StoreError.self) { try data.openSession(tag: "kinvey") }
    #expect(error?.kind == .corrupt)
  }

  @Test("gives a salvage no rows by a view in place of a table") func salvage() throws {
    try makeFile()
    #expect(
      runForeignSQL(
        """
        DROP TABLE pending;
        CREATE VIEW pending AS SELECT 1 AS n, 1 AS collection, 'x' AS id, 1 AS operation, NULL AS base,
          NULL AS base_checksum;
        """, on: path))
    let report = try Salvage.run(path, into: directory.file("saved"))
    #expect(report["pending"]?["lines"] == .int(0))
    #expect(permissions(of: directory.file("saved/pending.ndjson")) == 0o600)
  }

  @Test("is ours, with all indexes and an observer") func ours() throws {
    try makeFile()
    let storage = try openStorage(in: directory)
    #expect(try storage.find(#"{"n":1}"#).count == 1)
    storage.close()
  }
}
