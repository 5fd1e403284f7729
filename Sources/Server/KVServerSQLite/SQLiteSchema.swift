internal import KVQuery
internal import KVSQLite
/// The tables of the server's database.
///
///     app ──< collection ──< e<number>   the entities of one collection, one table each
///      ├────< account ──< session
///      └────< former_user
///
/// Users are entities of a collection that clients cannot name; what must never be read back, the
/// password's hash, is in `account`.
enum SQLiteSchema {
  /// "KVSD", in the header of the file.
  static let applicationId: Int32 = 0x4B56_5344

  /// How the file is opened.
  static func configuration(_ path: String) -> Database.Configuration {
    var configuration = Database.Configuration(path: path, applicationId: applicationId)
    configuration.knownTriggers = { (connection: borrowing Connection) throws(SQLiteError) in
      try indexes(on: connection).map(\.create)
    }
    return configuration
  }

  private static func indexes(
    on connection: borrowing Connection
  ) throws(SQLiteError) -> [IndexTable] {
    let rows = try connection.prepare("SELECT number, spec, collection FROM indexes")
    var indexes: [IndexTable] = []
    while try rows.step() {
      guard let spec = try? IndexSpec(stored: rows.text(1) ?? "") else { continue }
      let table = EntityCollection.table(rows.int64(2))
      indexes.append(IndexTable(number: rows.int64(0), spec, on: table))
    }
    return indexes
  }

  static let migrations = [
    Database.Migration(
      sql: """
        CREATE TABLE app (number INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE);
        CREATE TABLE collection (
          number INTEGER PRIMARY KEY,
          app INTEGER NOT NULL REFERENCES app (number),
          name TEXT NOT NULL,
          permissions TEXT,
          UNIQUE (app, name));
        CREATE TABLE account (
          app INTEGER NOT NULL REFERENCES app (number),
          id TEXT NOT NULL,
          name TEXT NOT NULL,
          password TEXT NOT NULL,
          disabled INTEGER NOT NULL DEFAULT 0,
          PRIMARY KEY (app, id),
          UNIQUE (app, name));
        CREATE TABLE session (
          token TEXT PRIMARY KEY,
          app INTEGER NOT NULL,
          user TEXT NOT NULL,
          expires INTEGER);
        CREATE INDEX session_user ON session (app, user);
        CREATE TABLE clock (latest INTEGER NOT NULL);
        INSERT INTO clock VALUES (0);
        """),
    // `history_days` NULL: as the server's default says; 0: off. `history_since` NULL: none is kept now.
    Database.Migration(
      sql: """
        ALTER TABLE collection ADD COLUMN history_days INTEGER;
        ALTER TABLE collection ADD COLUMN history_since INTEGER;
        """),
    // Who listens to which collections; an empty one is the registration itself.
    Database.Migration(
      sql: """
        CREATE TABLE live (
          app INTEGER NOT NULL REFERENCES app (number),
          user TEXT NOT NULL,
          device TEXT NOT NULL,
          collection TEXT NOT NULL,
          UNIQUE (app, user, device, collection));
        """),
    // Whom the users let into their streams.
    Database.Migration(
      sql: """
        CREATE TABLE stream (
          app INTEGER NOT NULL REFERENCES app (number),
          name TEXT NOT NULL,
          owner TEXT NOT NULL,
          acl TEXT NOT NULL,
          PRIMARY KEY (app, name, owner));
        CREATE INDEX stream_owner ON stream (app, owner);
        """),
    // The ids of users who were deleted for good: what is kept of theirs, or names them, must never become another
    // user's. A user who signed up under the administrator's name when that was possible is kept out.
    Database.Migration(
      sql: """
        CREATE TABLE former_user (
          app INTEGER NOT NULL REFERENCES app (number),
          id TEXT NOT NULL,
          PRIMARY KEY (app, id)) WITHOUT ROWID;
        UPDATE account SET disabled = 1 WHERE id = 'master';
        DELETE FROM session WHERE user = 'master';
        """),
    // What ends all sessions of a user makes a new generation of the account.
    Database.Migration(
      sql: """
        ALTER TABLE account ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE session ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
        """),
    // `read_rule` has been in force since `rule_since`. NULL: the rule before is not known.
    Database.Migration(
      sql: """
        ALTER TABLE collection ADD COLUMN read_rule TEXT;
        ALTER TABLE collection ADD COLUMN rule_since INTEGER NOT NULL DEFAULT 0;
        """),
    // In which session a device was registered, as its token is stored; NULL: not known, or a subscription.
    Database.Migration(sql: "ALTER TABLE live ADD COLUMN session TEXT;"),
    // `latest` covers all times that were given out; between those of a gap none were. See DataEpoch.
    Database.Migration(
      sql: """
        ALTER TABLE clock ADD COLUMN epoch TEXT;
        ALTER TABLE clock ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE clock_gap (
          n INTEGER PRIMARY KEY, after INTEGER NOT NULL, until INTEGER NOT NULL);
        """),
    // When something came from a device, in milliseconds; NULL: not known, or a subscription.
    Database.Migration(sql: "ALTER TABLE live ADD COLUMN seen INTEGER;"),
    // The messages of Live Service, and since when all of an app are there: see LiveJournal.
    Database.Migration(
      sql: """
        CREATE TABLE live_message (
          app INTEGER NOT NULL REFERENCES app (number),
          time INTEGER NOT NULL,
          topic TEXT NOT NULL,
          about TEXT NOT NULL,
          payload TEXT NOT NULL,
          PRIMARY KEY (app, time)) WITHOUT ROWID;
        CREATE TABLE live_floor (
          app INTEGER PRIMARY KEY REFERENCES app (number),
          epoch TEXT NOT NULL,
          floor INTEGER NOT NULL);
        """),
    // Who is in which group. `rights_since`: when a user joined or left one last. `groups_indexed`: whether the columns
    // of a collection's rows have the groups that their access lists name, see `indexGroups`.
    Database.Migration(
      sql: """
        CREATE TABLE group_member (
          app INTEGER NOT NULL REFERENCES app (number),
          user TEXT NOT NULL,
          grp TEXT NOT NULL,
          PRIMARY KEY (app, user, grp)) WITHOUT ROWID;
        CREATE INDEX group_member_grp ON group_member (app, grp);
        ALTER TABLE account ADD COLUMN rights_since INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE collection ADD COLUMN groups_indexed INTEGER NOT NULL DEFAULT 0;
        """),
    // Of what is stored already nothing is read: it has none until it is written again.
    Database.Migration { (connection: borrowing Connection) throws(SQLiteError) in
      let select = try connection.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'e[0-9]*'")
      var tables: [String] = []
      while try select.step() { tables.append(select.text(0) ?? "") }
      for table in tables {
        try connection.execute("ALTER TABLE \(table) ADD COLUMN checksum INTEGER")
      }
    },
    // The indexes of collections, as `IndexTable` keeps them up.
    Database.Migration(
      sql: """
        CREATE TABLE indexes (
          number INTEGER PRIMARY KEY AUTOINCREMENT,
          collection INTEGER NOT NULL,
          name TEXT NOT NULL,
          spec TEXT NOT NULL,
          -- What may be asked of it: IndexShape.
          shape INTEGER NOT NULL DEFAULT 0,
          -- While it is being filled: the last row that is in it. NULL: all are.
          progress INTEGER DEFAULT 0,
          UNIQUE (collection, name));
        """),
    // The triggers of ordered indexes did the same before, at a higher price.
    Database.Migration { (connection: borrowing Connection) throws(SQLiteError) in
      for index in try indexes(on: connection) {
        guard case .ordered = index.spec.kind else { continue }
        try connection.execute(index.renewTriggers)
      }
    },
    // `identity`: who of a provider of identities logs in as this user; see `ProvenIdentity.key`. `ended`: when all sessions of the
    // user were ended last; `began`: when a session began. Both in milliseconds. Sessions that had no end have one from now on.
    Database.Migration(
      sql: """
        ALTER TABLE account ADD COLUMN identity TEXT;
        CREATE UNIQUE INDEX account_identity ON account (app, identity) WHERE identity IS NOT NULL;
        ALTER TABLE account ADD COLUMN ended INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE session ADD COLUMN began INTEGER NOT NULL DEFAULT 0;
        UPDATE session SET began = CAST(strftime('%s', 'now') AS INTEGER) * 1000;
        UPDATE session SET expires = began + 2592000000 WHERE expires IS NULL;
        """),
    // The writes that had a token, see `WriteTokens`. `high` and `low`: the halves of the write's key.
    Database.Migration(
      sql: """
        CREATE TABLE write_token (
          n INTEGER PRIMARY KEY,
          app INTEGER NOT NULL,
          high INTEGER NOT NULL,
          low INTEGER NOT NULL,
          owner INTEGER NOT NULL,
          -- The version that the write made.
          at INTEGER NOT NULL,
          -- 0 deleted, 1 created, 2 replaced.
          kind INTEGER NOT NULL,
          UNIQUE (high, low, owner, app));
        """),
    // Where a session was begun, and when a use was noted last, in milliseconds; NULL: not known.
    Database.Migration(
      sql: """
        ALTER TABLE session ADD COLUMN device TEXT;
        ALTER TABLE session ADD COLUMN address TEXT;
        ALTER TABLE session ADD COLUMN used INTEGER;
        """),
    // What was written until then was in the copy that was put back; NULL: none was. See `ServerStore.restored`.
    Database.Migration(sql: "ALTER TABLE clock ADD COLUMN restored INTEGER;"),
  ]

  /// Puts the groups that access lists name into the columns of rows that were written by a version without groups.
  static func indexGroups(of collection: EntityCollection) -> String {
    func list(_ column: String, _ member: String) -> String {
      """
      \(column) = (SELECT nullif(json_group_array(value), '[]') FROM (
        SELECT value FROM json_each(coalesce(\(column), '[]'))
        UNION ALL SELECT char(1) || value FROM json_each(body, '$._acl.groups.\(member)')
        WHERE type = 'text'))
      """
    }
    return """
      UPDATE \(collection.table) SET \(list("readers", "r")), \(list("writers", "w"))
      WHERE CASE WHEN json_valid(body) THEN json_type(body, '$._acl.groups') = 'object' ELSE 0 END;
      UPDATE collection SET groups_indexed = 1 WHERE number = \(collection.number);
      """
  }

  /// What a collection with a history has besides: an index by which changes are found, the entities that were
  /// deleted, as they were last, and whom the others let in before their access lists were changed.
  static func createHistory(of collection: EntityCollection) -> String {
    """
    CREATE INDEX IF NOT EXISTS \(collection.table)_lmt ON \(collection.table) (lmt);
    CREATE TABLE IF NOT EXISTS \(collection.tombstones) (
      n INTEGER PRIMARY KEY,
      at INTEGER NOT NULL,
      id TEXT NOT NULL,
      creator TEXT NOT NULL,
      gr INTEGER,
      gw INTEGER,
      readers TEXT,
      writers TEXT,
      body TEXT NOT NULL);
    CREATE INDEX IF NOT EXISTS \(collection.tombstones)_at ON \(collection.tombstones) (at);
    CREATE TABLE IF NOT EXISTS \(collection.formerAccess) (
      n INTEGER PRIMARY KEY,
      at INTEGER NOT NULL,
      id TEXT NOT NULL,
      creator TEXT NOT NULL,
      gr INTEGER,
      gw INTEGER,
      readers TEXT,
      writers TEXT);
    CREATE INDEX IF NOT EXISTS \(collection.formerAccess)_at ON \(collection.formerAccess) (at);
    """
  }

  static func dropHistory(of collection: EntityCollection) -> String {
    """
    DROP INDEX IF EXISTS \(collection.table)_lmt;
    DROP TABLE IF EXISTS \(collection.tombstones);
    DROP TABLE IF EXISTS \(collection.formerAccess);
    """
  }

  /// The table of a collection. `creator` to `writers` repeat the entity's `_acl`, so that SQL can tell
  /// who may see it; body and checksum come last, where they cost those nothing who do not
  /// read them.
  static func createEntities(_ table: String) -> String {
    """
    CREATE TABLE IF NOT EXISTS \(table) (
      n INTEGER PRIMARY KEY,
      id TEXT NOT NULL UNIQUE,
      creator TEXT NOT NULL,
      gr INTEGER,
      gw INTEGER,
      readers TEXT,
      writers TEXT,
      ect INTEGER NOT NULL,
      lmt INTEGER NOT NULL,
      body TEXT NOT NULL,
      -- kv_checksum(body); NULL: stored by a version without.
      checksum INTEGER)
    """
  }
}
