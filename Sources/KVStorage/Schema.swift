internal import KVSQLite

/// The tables of a tag's file. A step that has been released is never changed: add another one.
///
///     collections   number ─┬─ name, generation
///                           │
///     e<number>             │  one table of entities for each collection
///     pending ── collection ┤  what the backend does not know yet
///     requests ─ collection ┘  when it last answered which request
enum Schema {
  /// "KVS1", in the header of each file of ours.
  static let applicationId: Int32 = 0x4B56_5331

  static let migrations = [
    Database.Migration(
      sql: """
        CREATE TABLE collections (
          number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
          -- Raised by each refresh; rows carry the value at the time they were written.
          generation INTEGER NOT NULL DEFAULT 1,
          -- No row is of an older generation: a first pull has nothing to look for at its end.
          oldest INTEGER NOT NULL DEFAULT 1);

        CREATE TABLE pending (
          n INTEGER PRIMARY KEY, collection INTEGER NOT NULL, id TEXT NOT NULL,
          -- 1 create, 2 update, 3 delete.
          operation INTEGER NOT NULL, revision INTEGER NOT NULL,
          created INTEGER NOT NULL, changed INTEGER NOT NULL,
          -- The revision that was sent first, 0 before that; other than attempts, it is never set back.
          sent INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0, error TEXT,
          -- What the entity was when it was first changed.
          base TEXT,
          UNIQUE (collection, id));

        CREATE TABLE requests (
          collection INTEGER NOT NULL, filter TEXT NOT NULL, fields TEXT NOT NULL,
          started TEXT NOT NULL, UNIQUE (collection, filter, fields));
        """)
  ]

  /// A collection's own table. The body comes last: what is in front of it is read without it.
  static func createEntities(_ table: String) -> String {
    """
    CREATE TABLE \(table) (
      n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, gen INTEGER NOT NULL,
      at INTEGER NOT NULL, body TEXT NOT NULL)
    """
  }
}
