package import KVSQLite

/// The tables of a tag's file, as a new file gets them; those of an older one become the same by `StorageMigrations`.
///
///     collections   number ─┬─ name, generation
///                           │
///     e<number>             │  one table of entities for each collection
///     pending ── collection ┤  what the backend does not know yet
///     requests ─ collection ┤  when it last answered which request
///     gone ───── collection ┤  what was deleted lately
///     indexes ── collection ┘  what the application had indexed
///     x<number>                one table for each of these, kept up by triggers
///     unanswered collection    what was sent past the queue, and perhaps arrived
///     changes ── collection ── which entities were changed lately, where anybody observes
///     owner                    the user whose data it all is
///     models                   the schema that it all follows
package enum StorageSchema {
  /// "KVS1", in the header of each file of ours.
  package static let applicationId: Int32 = 0x4B56_5331

  /// How a tag's file is opened.
  package static func configuration(_ path: String) -> Database.Configuration {
    var configuration = Database.Configuration(path: path, applicationId: applicationId)
    configuration.trustsSchema = true
    configuration.knownTriggers = triggers
    return configuration
  }

  /// Statements that make all triggers which a file may have.
  @Sendable static func triggers(on db: borrowing Connection) throws(SQLiteError) -> [String] {
    var statements = [tables]
    for number in try CollectionCatalog.numbers(on: db) {
      let table = Table(number: number)
      statements.append(rememberFreedRows(of: table.entities, number: number))
      statements.append(ChangeLog(table).triggers)
    }
    guard try db.integer("SELECT 1 FROM sqlite_schema WHERE name = 'indexes'") != nil else {
      return statements
    }
    return statements + (try IndexRepair.all(on: db)).map(\.create)
  }

  /// The tables of a new file. Columns that came later are behind the others, as they are where they were added.
  package static let tables = """
    CREATE TABLE collections (
      number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
      -- Raised by each refresh; rows carry the value at the time they were written.
      generation INTEGER NOT NULL DEFAULT 1,
      -- No row is of an older generation: a first pull has nothing to look for at its end.
      oldest INTEGER NOT NULL DEFAULT 1,
      -- 0, or another random number whenever queries have to be planned anew.
      index_version INTEGER NOT NULL DEFAULT 0,
      -- The largest row number that was ever given and is free again: see RowNumbers.
      freed INTEGER NOT NULL DEFAULT 0,
      -- The generation in which the collection's requests were forgotten last: a read that began before leaves none.
      forgotten INTEGER NOT NULL DEFAULT 0,
      -- That of the last purge: of what was written until then nobody knows whether the backend has had it.
      purged INTEGER NOT NULL DEFAULT 0,
      -- When the collection was last read from the backend, in milliseconds by our own clock; 0: never.
      synced INTEGER NOT NULL DEFAULT 0,
      -- Which data of the backend's was read last; NULL: the backend does not say.
      epoch TEXT,
      -- The generation of the first read that showed other data; 0: none. What was written before is of other data.
      renewed INTEGER NOT NULL DEFAULT 0,
      -- See BackendMoment.restored.
      restored TEXT);

    CREATE TABLE pending (
      n INTEGER PRIMARY KEY, collection INTEGER NOT NULL, id TEXT NOT NULL,
      -- 1 create, 2 update, 3 delete.
      operation INTEGER NOT NULL, revision INTEGER NOT NULL,
      created INTEGER NOT NULL, changed INTEGER NOT NULL,
      -- The revision that was sent first, 0 before that; other than attempts, it is never set back.
      sent INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0, error TEXT,
      -- What the entity was when it was first changed.
      base TEXT,
      -- 0 waits to be sent, 1 refused for good, 2 conflict, 3 confirmed before the backend went back.
      state INTEGER NOT NULL DEFAULT 0,
      -- What the backend has of an entity whose write is set aside, as JSON; null: nothing; NULL: unknown.
      remote TEXT,
      -- The revision that was sent last.
      last INTEGER NOT NULL DEFAULT 0,
      -- What was sent and has been changed before its answer came, the same way, with commas in between.
      tried TEXT,
      -- Whether the backend must have what the write started from: 0 no, 1 yes, 2 yes, and it was sent since it was
      -- made on a condition last: what is changed after that answer need not meet anything; 3: see condition.
      conditional INTEGER NOT NULL DEFAULT 0,
      -- kv_checksum(base); NULL: stored by a version without.
      base_checksum INTEGER,
      -- The filter that the backend's entity has to match, as JSON; NULL: `conditional` says all. `conditional` may be 3:
      -- as 2, and changed on another condition since. The filter is {"$and":[what was sent, what was added]} then.
      condition TEXT,
      -- Not 0: the base is a version of others that the write replaces although no program has seen it. 1 when that is
      -- decided, 2 when it is sent, 3 when it is sent again, so that the first request may have replaced it.
      replaces_unseen INTEGER NOT NULL DEFAULT 0,
      -- The version that the backend had confirmed before it went back; empty: the write was changed since; 'other': it
      -- changes a version that was confirmed when the backend had other data; NULL: none of these.
      confirmed TEXT,
      -- What was made of operators and not sent yet, as an array of updates; NULL: the write is the whole entity.
      operators TEXT,
      -- The operators that were sent and have no answer yet: {"token":"…","at":…,"updates":[…]}; NULL: none. They stay as they are
      -- until they are answered, also where the write is the whole entity by now.
      sent_operators TEXT,
      UNIQUE (collection, id));
    CREATE INDEX pending_kept ON pending (collection) WHERE state = 3;

    CREATE TABLE requests (
      collection INTEGER NOT NULL, filter TEXT NOT NULL, fields TEXT NOT NULL,
      started TEXT NOT NULL,
      -- Which data of the backend's that moment belongs to; NULL: the backend does not say.
      epoch TEXT,
      UNIQUE (collection, filter, fields));

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

    -- Which entities of observed collections were changed, in the order of the commits; see ChangeLog.
    CREATE TABLE changes (n INTEGER PRIMARY KEY, collection INTEGER NOT NULL, id TEXT NOT NULL);
    CREATE TRIGGER changes_cut AFTER INSERT ON changes WHEN new.n % 1024 = 0
      BEGIN DELETE FROM changes WHERE n <= new.n - 16384; END;

    -- What was sent past the queue and is not settled.
    CREATE TABLE unanswered (
      collection INTEGER NOT NULL, id TEXT NOT NULL,
      -- Which request: when it was sent, in microseconds, or a little more.
      request INTEGER NOT NULL,
      -- The entity that was sent; null: its deletion.
      version TEXT NOT NULL,
      PRIMARY KEY (collection, id, request)) WITHOUT ROWID;
    CREATE INDEX unanswered_request ON unanswered (request);

    -- Whose data this is, in one row; none: nobody's yet. NULL: it was not noted when the data was written.
    CREATE TABLE owner (one INTEGER PRIMARY KEY CHECK (one = 1), user TEXT);

    -- What has gone lately; see Tombstone. The larger n, the later.
    CREATE TABLE gone (
      n INTEGER PRIMARY KEY, collection INTEGER NOT NULL, id TEXT NOT NULL, version TEXT,
      -- What may still arrive on the backend: entities, with commas in between.
      sent TEXT,
      -- By our own clock, in milliseconds.
      noted INTEGER NOT NULL,
      -- The last version that a deletion is known to have removed or made; NULL: only absence is known, if anything.
      deleted TEXT,
      -- The version that was here last; NULL: unknown.
      local_version TEXT,
      -- The last version that a deletion made here is known to have removed.
      confirmed TEXT,
      UNIQUE (collection, id));
    CREATE INDEX gone_sent ON gone (collection) WHERE sent NOT NULL;
    CREATE INDEX gone_confirmed ON gone (collection) WHERE confirmed NOT NULL;
    -- The last 16,384 are enough; of those that may still arrive 10,000, for 30 days.
    CREATE TRIGGER gone_cut AFTER INSERT ON gone WHEN new.n % 1024 = 0 BEGIN
      DELETE FROM gone WHERE n <= new.n - 16384 AND sent IS NULL;
      DELETE FROM gone WHERE sent NOT NULL AND (noted < new.noted - 2592000000 OR n <=
        (SELECT n FROM gone WHERE sent NOT NULL ORDER BY n DESC LIMIT 1 OFFSET 10000));
    END;

    -- The text of the schema that the records follow, in one row; none: they follow none.
    CREATE TABLE models (one INTEGER PRIMARY KEY CHECK (one = 1), schema TEXT NOT NULL);
    """

  /// A collection's own table. Body and checksum come last: what is in front of them is read without them. The checksum
  /// is behind: if it is lost, the body stays where it was. `gen` is the generation
  /// in which the row was written; negative: it is no version that the backend has had.
  static func createEntities(_ table: String, number: Int64) -> String {
    """
    CREATE TABLE \(table) (
      n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, gen INTEGER NOT NULL,
      at INTEGER NOT NULL, version INTEGER NOT NULL, body TEXT NOT NULL,
      -- kv_checksum(body); NULL: stored by a version without.
      checksum INTEGER);
    \(rememberFreedRows(of: table, number: number))
    """
  }

  /// When the last row of a table goes, its number would be given again: so it is noted.
  static func rememberFreedRows(of table: String, number: Int64) -> String {
    """
    CREATE TRIGGER \(table)_freed AFTER DELETE ON \(table)
      WHEN NOT EXISTS (SELECT 1 FROM \(table) WHERE n > old.n)
      BEGIN UPDATE collections SET freed = max(freed, old.n) WHERE number = \(number); END;
    """
  }

  static func forgetFreedRows(of table: String) -> String { "DROP TRIGGER \(table)_freed" }
}
