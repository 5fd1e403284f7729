package import KVSQLite

/// What brings an older file up to date, step by step. A step that has been released is never changed: add another one, and its
/// outcome to `StorageSchema.tables`.
package enum StorageMigrations {
  package static let all = [
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
        """),
    Database.Migration(
      sql: """
        -- 0, or another random number whenever queries have to be planned anew.
        ALTER TABLE collections ADD COLUMN index_version INTEGER NOT NULL DEFAULT 0;

        CREATE TABLE indexes (
          number INTEGER PRIMARY KEY AUTOINCREMENT, collection INTEGER NOT NULL, name TEXT NOT NULL,
          spec TEXT NOT NULL,
          -- What may be asked of it: IndexShape.
          shape INTEGER NOT NULL DEFAULT 0,
          -- While it is being filled: the last row that is in it. NULL: all are.
          progress INTEGER DEFAULT 0,
          UNIQUE (collection, name));
        CREATE TRIGGER indexes_update AFTER UPDATE ON indexes
          WHEN old.shape IS NOT new.shape OR (old.progress IS NULL) IS NOT (new.progress IS NULL)
          BEGIN UPDATE collections SET index_version = random() WHERE number = new.collection; END;
        CREATE TRIGGER indexes_delete AFTER DELETE ON indexes
          BEGIN UPDATE collections SET index_version = random() WHERE number = old.collection; END;
        """),
    Database.Migration(
      sql: """
        -- 0 waits to be sent, 1 refused for good, 2 conflict.
        ALTER TABLE pending ADD COLUMN state INTEGER NOT NULL DEFAULT 0;
        -- What the backend has of an entity whose write is set aside, as JSON; null: nothing; NULL: unknown.
        ALTER TABLE pending ADD COLUMN remote TEXT;
        -- The revision that was sent last.
        ALTER TABLE pending ADD COLUMN last INTEGER NOT NULL DEFAULT 0;
        -- What was sent and has been changed before its answer came, the same way, with commas in between.
        ALTER TABLE pending ADD COLUMN tried TEXT;
        """),
    Database.Migration(
      sql: """
        -- Which entities of observed collections were changed, in the order of the commits; see ChangeLog.
        CREATE TABLE changes (n INTEGER PRIMARY KEY, collection INTEGER NOT NULL, id TEXT NOT NULL);
        CREATE TRIGGER changes_cut AFTER INSERT ON changes WHEN new.n % 1024 = 0
          BEGIN DELETE FROM changes WHERE n <= new.n - 16384; END;
        """),
    Database.Migration { (db: borrowing Connection) throws(SQLiteError) in
      try db.execute(
        """
        -- The largest row number that was ever given and is free again: see RowNumbers.
        ALTER TABLE collections ADD COLUMN freed INTEGER NOT NULL DEFAULT 0;
        """)
      for number in try CollectionCatalog.numbers(on: db) {
        let table = "e\(number)"
        try db.execute("ALTER TABLE \(table) ADD COLUMN version INTEGER NOT NULL DEFAULT 1")
        try db.execute(StorageSchema.rememberFreedRows(of: table, number: number))
      }
    },
    Database.Migration { (db: borrowing Connection) throws(SQLiteError) in
      try IndexRepair.remakeConfused(db)
    },
    Database.Migration(
      sql: """
        -- What was sent past the queue and is not settled. Nothing writes to it yet.
        CREATE TABLE unanswered (
          collection INTEGER NOT NULL, id TEXT NOT NULL,
          -- Which request: when it was sent, in microseconds, or a little more.
          request INTEGER NOT NULL,
          -- The entity that was sent; null: its deletion.
          version TEXT NOT NULL,
          PRIMARY KEY (collection, id, request)) WITHOUT ROWID;
        CREATE INDEX unanswered_request ON unanswered (request);
        """),
    Database.Migration(
      sql: """
        -- Whose data this is, in one row; none: nobody's yet. NULL: it was not noted when the data was written.
        CREATE TABLE owner (one INTEGER PRIMARY KEY CHECK (one = 1), user TEXT);
        INSERT INTO owner SELECT 1, NULL WHERE EXISTS (SELECT 1 FROM collections);
        """),
    Database.Migration(
      sql: """
        -- Which data of the backend's that moment belongs to; NULL: the backend does not say.
        ALTER TABLE requests ADD COLUMN epoch TEXT;
        """),
    Database.Migration { (db: borrowing Connection) throws(SQLiteError) in
      try IndexRepair.remakeTotals(db)
    },
    Database.Migration(
      sql: """
        -- The generation in which the collection's requests were forgotten last: a read that began before leaves none.
        ALTER TABLE collections ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0;
        -- That of the last purge: of what was written until then nobody knows whether the backend has had it.
        ALTER TABLE collections ADD COLUMN purged INTEGER NOT NULL DEFAULT 0;
        """),
    Database.Migration(
      sql: """
        -- What has gone lately; see Tombstone. The larger n, the later.
        CREATE TABLE gone (
          n INTEGER PRIMARY KEY, collection INTEGER NOT NULL, id TEXT NOT NULL, version TEXT,
          -- What may still arrive on the backend: entities, with commas in between.
          sent TEXT,
          -- By our own clock, in milliseconds.
          noted INTEGER NOT NULL,
          UNIQUE (collection, id));
        CREATE INDEX gone_sent ON gone (collection) WHERE sent NOT NULL;
        -- The last 16,384 are enough; of those that may still arrive 10,000, for 30 days.
        CREATE TRIGGER gone_cut AFTER INSERT ON gone WHEN new.n % 1024 = 0 BEGIN
          DELETE FROM gone WHERE n <= new.n - 16384 AND sent IS NULL;
          DELETE FROM gone WHERE sent NOT NULL AND (noted < new.noted - 2592000000 OR n <=
            (SELECT n FROM gone WHERE sent NOT NULL ORDER BY n DESC LIMIT 1 OFFSET 10000));
        END;
        """),
    Database.Migration(
      sql: """
        -- Whether the backend must have what the write started from: 0 no, 1 yes, 2 yes, and it was sent since it was
        -- made on a condition last: what is changed after that answer need not meet anything.
        ALTER TABLE pending ADD COLUMN conditional INTEGER NOT NULL DEFAULT 0;
        """),
    Database.Migration(
      sql: """
        -- When the collection was last read from the backend, in milliseconds by our own clock; 0: never.
        ALTER TABLE collections ADD COLUMN synced INTEGER NOT NULL DEFAULT 0;
        """),
    Database.Migration { (db: borrowing Connection) throws(SQLiteError) in
      try IndexRepair.refillWords(db)
    },
    Database.Migration { (db: borrowing Connection) throws(SQLiteError) in
      // Of what is stored already nothing is read, however much that is: it has none until it is written again.
      try db.execute("ALTER TABLE pending ADD COLUMN base_checksum INTEGER")
      for number in try CollectionCatalog.numbers(on: db) {
        try db.execute("ALTER TABLE e\(number) ADD COLUMN checksum INTEGER")
      }
    },
    Database.Migration(
      sql: """
        -- The text of the schema that the records follow, in one row; none: they follow none.
        CREATE TABLE models (one INTEGER PRIMARY KEY CHECK (one = 1), schema TEXT NOT NULL);
        """),
    Database.Migration { (db: borrowing Connection) throws(SQLiteError) in
      // They did the same, at a higher price.
      try IndexRepair.renewTriggers(db)
    },
    Database.Migration(
      sql: """
        -- The filter that the backend's entity has to match, as JSON; NULL: `conditional` says all. `conditional` may be 3:
        -- as 2, and changed on another condition since. The filter is {"$and":[what was sent, what was added]} then.
        ALTER TABLE pending ADD COLUMN condition TEXT;
        """),
    Database.Migration(
      sql: """
        -- The last version that a deletion is known to have removed or made; NULL: only absence is known, if anything.
        ALTER TABLE gone ADD COLUMN deleted TEXT;
        """),
    Database.Migration(
      sql: """
        -- Not 0: the base is a version of others that the write replaces although no program has seen it. 1 when that is
        -- decided, 2 when it is sent, 3 when it is sent again, so that the first request may have replaced it.
        ALTER TABLE pending ADD COLUMN replaces_unseen INTEGER NOT NULL DEFAULT 0;
        """),
    Database.Migration(
      sql: """
        -- The version that was here last; NULL: unknown.
        ALTER TABLE gone ADD COLUMN local_version TEXT;
        """),
    Database.Migration(
      sql: """
        -- Which data of the backend's was read last; NULL: the backend does not say.
        ALTER TABLE collections ADD COLUMN epoch TEXT;
        -- The generation of the first read that showed other data; 0: none. What was written before is of other data.
        ALTER TABLE collections ADD COLUMN renewed INTEGER NOT NULL DEFAULT 0;
        -- See BackendMoment.restored.
        ALTER TABLE collections ADD COLUMN restored TEXT;
        UPDATE collections SET epoch = (
          SELECT epoch FROM requests WHERE collection = number AND epoch NOT NULL ORDER BY started DESC LIMIT 1);
        -- The version that the backend had confirmed before it went back; empty: the write was changed since; NULL: none.
        ALTER TABLE pending ADD COLUMN confirmed TEXT;
        -- The last version that a deletion made here is known to have removed.
        ALTER TABLE gone ADD COLUMN confirmed TEXT;
        CREATE INDEX pending_kept ON pending (collection) WHERE state = 3;
        CREATE INDEX gone_confirmed ON gone (collection) WHERE confirmed NOT NULL;
        """),
    Database.Migration(
      sql: """
        -- What was made of operators and not sent yet, as an array of updates; NULL: the write is the whole entity.
        ALTER TABLE pending ADD COLUMN operators TEXT;
        -- The operators that were sent and have no answer yet.
        ALTER TABLE pending ADD COLUMN sent_operators TEXT;
        """),
  ]
}
