/// The tables of the server's database, in the first schema of the connection's search path.
///
///     app ──< collection ──< entity, tombstone, former_access
///      ├────< account ──< session
///      └────< live, live_message, stream, group_member, …
///
/// Texts are `bytea`: see `SQLValue`. `app.clock` is the time of an app's last commit: a writer locks the row
/// first, and so takes the next time; times, and everything that is ordered by them, have the order of the commits.
enum PostgresSchema {
  /// Held while the tables are made, so that one server does it.
  private static let lock: Int64 = 0x6B76_7374_6F72_6564

  /// Brings the tables to the present version. Throws if they are of a later one.
  static func migrate(_ connection: PostgresConnection) throws(PostgresError) {
    connection.enqueue("BEGIN")
    connection.enqueue("SELECT pg_advisory_xact_lock(\(bind: lock))")
    connection.enqueue(
      "CREATE TABLE IF NOT EXISTS kvstored (version int8 NOT NULL, epoch bytea NOT NULL)")
    let found = try connection.run("SELECT max(version) FROM kvstored")
    let version = Int(found.int64(0, 0))
    guard version <= migrations.count else {
      throw PostgresError(.other, "the tables were made by a newer version of kvstored")
    }
    for migration in migrations.dropFirst(version) {
      for statement in migration { connection.enqueue(statement) }
    }
    if version == 0 {
      connection.enqueue(
        """
        INSERT INTO kvstored (version, epoch)
        VALUES (0, convert_to(substr(md5(random()::text || clock_timestamp()::text), 1, 16), 'UTF8'))
        """)
    }
    connection.enqueue("UPDATE kvstored SET version = \(bind: migrations.count)")
    try connection.run("COMMIT")
  }

  /// The statements of each version. New ones are added at the end; none is ever changed.
  private static let migrations: [[SQL]] = [
    [
      """
      CREATE TABLE app (
        number int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        key bytea NOT NULL UNIQUE,
        -- In milliseconds since 1970.
        clock int8 NOT NULL DEFAULT 0,
        -- Everything of Live Service after this is in live_message.
        live_floor int8 NOT NULL DEFAULT 0) WITH (fillfactor = 50)
      """,
      // What a server looks for that has not heard whether it has committed.
      """
      CREATE TABLE write_mark (
        app int8 NOT NULL, at int8 NOT NULL, mark bytea NOT NULL, PRIMARY KEY (app, at))
      """,
      // `history_days` NULL: as the server's default says; 0: off. `history_since` NULL: none is kept now. `read_rule`
      // has been in force since `rule_since`.
      """
      CREATE TABLE collection (
        number int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        app int8 NOT NULL REFERENCES app,
        name bytea NOT NULL,
        permissions bytea,
        history_days int8,
        history_since int8,
        read_rule bytea NOT NULL,
        rule_since int8 NOT NULL DEFAULT 0,
        UNIQUE (app, name))
      """,
      """
      CREATE TABLE entity (
        collection int8 NOT NULL REFERENCES collection,
        n int8 GENERATED ALWAYS AS IDENTITY,
        id bytea NOT NULL,
        creator bytea NOT NULL,
        gr bool,
        gw bool,
        readers bytea[],
        writers bytea[],
        created int8 NOT NULL,
        modified int8 NOT NULL,
        body bytea NOT NULL,
        PRIMARY KEY (collection, id))
      """,
      "CREATE UNIQUE INDEX entity_n ON entity (collection, n)",
      "CREATE INDEX entity_modified ON entity (collection, modified)",
      // Entities that were deleted, as they were last.
      """
      CREATE TABLE tombstone (
        collection int8 NOT NULL,
        at int8 NOT NULL,
        id bytea NOT NULL,
        creator bytea NOT NULL,
        gr bool,
        gw bool,
        readers bytea[],
        writers bytea[],
        body bytea NOT NULL)
      """,
      "CREATE INDEX tombstone_at ON tombstone (collection, at)",
      // The access lists that entities had before these were changed.
      """
      CREATE TABLE former_access (
        collection int8 NOT NULL,
        at int8 NOT NULL,
        id bytea NOT NULL,
        creator bytea NOT NULL,
        gr bool,
        gw bool,
        readers bytea[],
        writers bytea[])
      """,
      "CREATE INDEX former_access_at ON former_access (collection, at)",
      """
      CREATE TABLE account (
        app int8 NOT NULL REFERENCES app,
        id bytea NOT NULL,
        name bytea NOT NULL,
        password bytea NOT NULL,
        disabled bool NOT NULL DEFAULT false,
        generation int8 NOT NULL DEFAULT 0,
        -- When he joined or left a group last.
        rights_since int8 NOT NULL DEFAULT 0,
        PRIMARY KEY (app, id),
        UNIQUE (app, name))
      """,
      // Users who were deleted for good: their ids must never become another user's.
      "CREATE TABLE former_user (app int8 NOT NULL, id bytea NOT NULL, PRIMARY KEY (app, id))",
      """
      CREATE TABLE session (
        token bytea PRIMARY KEY,
        app int8 NOT NULL,
        usr bytea NOT NULL,
        expires int8,
        generation int8 NOT NULL)
      """,
      "CREATE INDEX session_of_user ON session (app, usr)",
      """
      CREATE TABLE group_member (
        app int8 NOT NULL, usr bytea NOT NULL, grp bytea NOT NULL, PRIMARY KEY (app, usr, grp))
      """,
      "CREATE INDEX group_member_grp ON group_member (app, grp)",
      // Who listens to which collections and streams; an empty one is the registration itself.
      """
      CREATE TABLE live (
        n int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        app int8 NOT NULL,
        usr bytea NOT NULL,
        device bytea NOT NULL,
        collection bytea NOT NULL,
        session bytea,
        seen int8,
        UNIQUE (app, usr, device, collection))
      """,
      "CREATE INDEX live_collection ON live (app, collection)",
      // When the user's subscriptions or sessions changed last.
      """
      CREATE TABLE live_change (
        app int8 NOT NULL, usr bytea NOT NULL, at int8 NOT NULL, PRIMARY KEY (app, usr))
      """,
      "CREATE INDEX live_change_at ON live_change (app, at)",
      """
      CREATE TABLE live_message (
        app int8 NOT NULL,
        time int8 NOT NULL,
        topic bytea NOT NULL,
        about bytea NOT NULL,
        payload bytea NOT NULL,
        PRIMARY KEY (app, time))
      """,
      """
      CREATE TABLE stream (
        app int8 NOT NULL,
        name bytea NOT NULL,
        owner bytea NOT NULL,
        acl bytea NOT NULL,
        PRIMARY KEY (app, name, owner))
      """,
      "CREATE INDEX stream_owner ON stream (app, owner)",
    ],
    // The indexes of collections; each has a table of its own, see `EntityIndex`.
    [
      """
      CREATE TABLE entity_index (
        number int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        collection int8 NOT NULL REFERENCES collection ON DELETE CASCADE,
        -- NULL: it is being dropped.
        name bytea,
        spec bytea NOT NULL,
        -- What may be asked of it: IndexShape.
        shape int8 NOT NULL DEFAULT 0,
        -- Whether a key was too long to be stored whole.
        cut bool NOT NULL DEFAULT false,
        -- While it is being filled: the last row that is in it. NULL: all are. Negative: it is being dropped.
        progress int8 DEFAULT 0,
        UNIQUE (collection, name))
      """
    ],
    // It has a row while data is moved here from another store: see `PostgresTransfer`.
    ["CREATE TABLE migration (began int8 NOT NULL)"],
    // When an automatic index was used last by any server, in milliseconds; NULL: not yet.
    ["ALTER TABLE entity_index ADD COLUMN used int8"],
    // `identity`: who of a provider of identities logs in as this user; see `ProvenIdentity.key`. `ended`: when all sessions of the
    // user were ended last; `began`: when a session began. Both in milliseconds. Sessions that had no end have one from now on.
    [
      "ALTER TABLE account ADD COLUMN identity bytea, ADD COLUMN ended int8 NOT NULL DEFAULT 0",
      "CREATE UNIQUE INDEX account_identity ON account (app, identity) WHERE identity IS NOT NULL",
      "ALTER TABLE session ADD COLUMN began int8 NOT NULL DEFAULT 0",
      "UPDATE session SET began = (extract(epoch FROM clock_timestamp()) * 1000)::int8",
      "UPDATE session SET expires = began + 2592000000 WHERE expires IS NULL",
    ],
    // The writes that had a token, see `WriteTokens`. `high` and `low`: the halves of the write's key.
    [
      """
      CREATE TABLE write_token (
        n int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        app int8 NOT NULL,
        high int8 NOT NULL,
        low int8 NOT NULL,
        owner int8 NOT NULL,
        -- The version that the write made.
        at int8 NOT NULL,
        -- 0 deleted, 1 created, 2 replaced.
        kind int8 NOT NULL,
        UNIQUE (high, low, owner, app))
      """
    ],
    // The time of the last write to data that was moved here; NULL: it was not.
    ["ALTER TABLE kvstored ADD COLUMN moved int8"],
    // Where a session was begun, and when a use was noted last, in milliseconds; NULL: not known.
    [
      """
      ALTER TABLE session ADD COLUMN device bytea, ADD COLUMN address bytea, ADD COLUMN used int8
      """
    ],
    // What was written until then was in the copy that was put back; NULL: none was. See `ServerStore.restored`.
    ["ALTER TABLE kvstored ADD COLUMN restored int8"],
    // Indexes may have a collation, which earlier servers would not keep up.
    [],
  ]
}
