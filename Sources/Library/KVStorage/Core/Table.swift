internal import KVJSON
internal import KVQuery
internal import KVSQLite
internal import KVSync

/// The table of one collection and the statements that work on it, made once.
final class Table: Sendable {
  let number: Int64
  /// What the application calls the collection.
  let name: String
  /// How its records are laid out.
  let format: RecordFormat
  /// The name of the table of entities; safe in SQL, because it is made of a number.
  let entities: String

  /// Gives what changes when queries have to be planned anew.
  let indexVersion: SQL

  /// The highest row number that was ever given.
  let lastRow: SQL
  let get: SQL
  let version: SQL
  /// Row number, version and body.
  let record: SQL
  let bodyOfRow: SQL
  /// The same with the version behind it.
  let recordOfRow: SQL
  /// Id and version.
  let idOfRow: SQL
  let getSince: SQL
  /// Inserts, unless the id is there already. `Storage.Change` binds what is the same for all rows.
  let insert: SQL
  /// Replaces an entity that is there.
  let update: SQL
  /// Inserts an entity, or replaces the one that is there.
  let put: SQL
  /// The same, for rows that were written since a mark.
  let replace: SQL
  /// The same, for entities with a pending write.
  let replaceUnlessPending: SQL
  /// Says that a row is of a generation, and as the backend has it.
  let see: SQL
  /// Says that the version of a row is unknown.
  let forgetVersion: SQL
  /// The same of all rows that were written before; see `Storage.purge`.
  let recordPurge: SQL
  /// The body of an entity without a pending write that was written since a mark, and its generation.
  let storedSince: SQL
  /// The body, if it is known which version that is.
  let getVersioned: SQL
  /// The body of an entity without a pending write that was written before a mark, in a known version, and its generation.
  let confirmedBefore: SQL
  /// What is known of the deletion of an entity that is not here, from before a mark: the version that one made here removed, and the last
  /// version that any removed or made.
  let confirmedDeletion: SQL
  let delete: SQL
  let deleteUnlessPending: SQL

  /// Raises the generation and gives it.
  let raiseGeneration: SQL
  /// A condition: that an entity has no pending write.
  let isSettled: String
  /// Makes tombstones, of a version, of entities without a pending write that were written before a generation.
  let insertTombstonesOfUnseen: SQL
  /// Gives a row if entities of an older generation than this one are possible, and none of them was written and
  /// purged since.
  let mayHaveOlder: SQL

  /// Queues a write of an entity that was not there.
  let queue: SQL
  /// Queues a write of an entity that is there; what it was becomes the base.
  let queueWithBase: SQL
  /// Queues a deletion of an entity that is there.
  let queueDeletion: SQL
  /// Queues the deletions of the entities in `temp.removed` whose `LocalWrite` is not `Parameter.operation`: see `Removal`.
  let queueDeletionsOfRemoved: SQL
  /// Queues the deletion of an entity that is not here and has no pending write; its body becomes the base.
  let queueDeletionOfArrived: SQL
  /// Gives a row of one column, a `LocalWrite`.
  let localWrite: SQL
  /// Gives the column `operators` of a pending write.
  let queuedOperators: SQL
  /// Notes what was sent of an entity without an answer, if anything was: it may still arrive. To be run before the write
  /// leaves the queue or becomes a deletion. What was noted at an earlier removal may still arrive, too.
  let expectLateWrites: SQL
  /// Puts a pending write behind all others.
  let moveToEnd: SQL
  /// Forgets a pending write.
  let drop: SQL
  /// Forgets all pending writes.
  let dropAll: SQL

  /// The versions that were sent without an answer, after the entity is changed again: with this body, if it is what was sent
  /// last. A megabyte of them is enough.
  static func tried(with body: String) -> String {
    """
    CASE WHEN last <> revision THEN tried
    WHEN tried IS NULL OR length(tried) > 1000000 THEN \(body)
    ELSE tried || ',' || \(body) END
    """
  }

  /// The `LocalWrite` of an entity, given the condition that a row is about it: an expression over its row `p` in `pending`,
  /// if it has one.
  static func localWrite(_ isEntity: String) -> String {
    """
    CASE WHEN p.operation = 3 THEN \(LocalWrite.none.rawValue)
    WHEN EXISTS (SELECT 1 FROM unanswered WHERE \(isEntity)) THEN \(LocalWrite.mayBeSent.rawValue)
    WHEN p.operation = 1 AND p.sent = 0 THEN \(LocalWrite.unsentCreate.rawValue)
    WHEN p.last = p.revision OR p.tried NOT NULL THEN \(LocalWrite.mayBeSent.rawValue)
    ELSE \(LocalWrite.none.rawValue) END
    """
  }

  init(number: Int64, name: String = "", _ format: RecordFormat = .default) {
    self.number = number
    self.name = name
    self.format = format
    let entities = "e\(number)"
    self.entities = entities
    indexVersion = SQL("SELECT index_version FROM collections WHERE number = \(number)")
    lastRow = SQL(
      """
      SELECT max(freed, ifnull((SELECT max(n) FROM \(entities)), 0)) FROM collections
      WHERE number = \(number)
      """)
    record = SQL("SELECT n, version, \(Self.body) FROM \(entities) WHERE id = \(Parameter.id)")
    bodyOfRow = SQL("SELECT \(Self.body) FROM \(entities) WHERE n = \(Parameter.row)")
    recordOfRow = SQL(
      "SELECT \(Self.body), version FROM \(entities) WHERE n = \(Parameter.row)")
    idOfRow = SQL("SELECT id, version FROM \(entities) WHERE n = \(Parameter.row)")
    version = SQL("SELECT version FROM \(entities) WHERE id = \(Parameter.id)")
    get = SQL("SELECT \(Self.body) FROM \(entities) WHERE id = \(Parameter.id)")
    getSince = SQL(
      "SELECT \(Self.body) FROM \(entities) WHERE id = \(Parameter.id) AND at >= \(Parameter.time)"
    )

    let columns = "INSERT INTO \(entities) (n, id, gen, at, version, body, checksum)"
    let values = """
      \(Parameter.row), \(Parameter.id), \(Parameter.generation), \(Parameter.time),
      \(Parameter.version), \(Parameter.body), kv_checksum(\(Parameter.body))
      """
    // What is stored again as it is keeps its version.
    let replacing = """
      ON CONFLICT (id) DO UPDATE SET gen = excluded.gen, at = excluded.at,
      version = version + (body <> excluded.body), body = excluded.body,
      checksum = excluded.checksum
      """
    let isEntity = "collection = \(number) AND id = \(Parameter.id)"
    let isPending = "EXISTS (SELECT 1 FROM pending WHERE \(isEntity))"
    insert = SQL("\(columns) VALUES (\(values)) ON CONFLICT (id) DO NOTHING")
    update = SQL(
      """
      UPDATE \(entities) SET gen = \(Parameter.generation), at = \(Parameter.time),
      version = version + 1, body = \(Parameter.body),
      checksum = kv_checksum(\(Parameter.body)) WHERE id = \(Parameter.id)
      """)
    put = SQL("\(columns) VALUES (\(values)) \(replacing)")
    let unlessLater = "\(replacing) WHERE abs(gen) < \(Parameter.mark)"
    replace = SQL("\(columns) VALUES (\(values)) \(unlessLater)")
    replaceUnlessPending = SQL("\(columns) SELECT \(values) WHERE NOT \(isPending) \(unlessLater)")
    see = SQL(
      """
      UPDATE \(entities) SET gen = \(Parameter.generation), at = \(Parameter.time)
      WHERE id = \(Parameter.id)
      """)
    forgetVersion = SQL(
      "UPDATE \(entities) SET gen = -\(Parameter.generation) WHERE id = \(Parameter.id)")
    recordPurge = SQL("UPDATE collections SET purged = generation WHERE number = \(number)")
    storedSince = SQL(
      """
      SELECT \(Self.body), gen FROM \(entities) WHERE id = \(Parameter.id)
      AND abs(gen) >= \(Parameter.mark) AND NOT \(isPending)
      """)
    getVersioned = SQL(
      """
      SELECT body FROM \(entities) WHERE id = \(Parameter.id)
      AND gen > (SELECT purged FROM collections WHERE number = \(number))
      """)
    confirmedBefore = SQL(
      """
      SELECT body, gen FROM \(entities) WHERE id = \(Parameter.id)
      AND gen > \(Parameter.generation) AND gen < \(Parameter.mark) AND NOT \(isPending)
      """)
    confirmedDeletion = SQL(
      """
      SELECT confirmed, deleted FROM gone WHERE \(isEntity) AND n <= \(Parameter.mark)
      AND NOT EXISTS (SELECT 1 FROM \(entities) WHERE id = \(Parameter.id))
      """)
    delete = SQL("DELETE FROM \(entities) WHERE id = \(Parameter.id)")
    deleteUnlessPending = SQL(
      "DELETE FROM \(entities) WHERE id = \(Parameter.id) AND NOT \(isPending)")

    raiseGeneration = SQL(
      """
      UPDATE collections SET generation = generation + 1,
      oldest = iif(EXISTS (SELECT 1 FROM \(entities)), oldest, generation + 1)
      WHERE number = \(number) RETURNING generation
      """)
    isSettled = """
      NOT EXISTS (SELECT 1 FROM pending AS p WHERE p.collection = \(number) AND p.id = \(entities).id)
      """
    insertTombstonesOfUnseen = SQL(
      """
      WITH unseen AS (SELECT id FROM \(entities)
        WHERE abs(gen) < \(Parameter.generation) AND \(isSettled))
      INSERT OR REPLACE INTO gone (collection, id, version, deleted, local_version, sent, noted, confirmed)
      SELECT \(number), unseen.id, max(\(Parameter.version), ifnull(g.version, '')), g.deleted,
        g.local_version, g.sent, \(Parameter.time), g.confirmed
      FROM unseen LEFT JOIN gone AS g ON g.collection = \(number) AND g.id = unseen.id
      LIMIT \(Storage.Tombstones.maxCount)
      """)
    mayHaveOlder = SQL(
      """
      SELECT 1 FROM collections WHERE number = \(number)
      AND oldest < \(Parameter.generation) AND purged < \(Parameter.generation)
      """)

    // How a change joins what is queued: one more change makes an update of a deletion, and leaves a create or an
    // update what it is; a deletion replaces both, unless a create was never sent (`queued`). What was set aside waits again. What was sent last, if this
    // is it, may be what the backend has, though no answer said so.
    let pending =
      """
      INSERT INTO pending (collection, id, operation, revision, created, changed, conditional, condition, base,
        base_checksum, confirmed, operators)
      """
    let isOfOtherData = """
      iif(gen < (SELECT renewed FROM collections WHERE number = \(number)), '\(PendingWrite.ofOtherData)', NULL)
      """
    let superseding = """
      revision = excluded.revision, changed = excluded.changed, state = 0, remote = NULL,
      conditional = iif(excluded.conditional, excluded.conditional, conditional),
      condition = iif(excluded.conditional, excluded.condition, condition),
      confirmed = iif(confirmed = '\(PendingWrite.ofOtherData)' OR confirmed IS NULL, confirmed, ''),
      operators = excluded.operators, tried = \(Table.tried(with: "ifnull(excluded.base, 'null')"))
      """
    let collapsing = """
      ON CONFLICT (collection, id) DO UPDATE SET operation = min(operation, 2), \(superseding)
      """
    let change = """
      \(Parameter.revision), \(Parameter.time), \(Parameter.time), \(Parameter.isConditional),
      \(Parameter.condition)
      """
    queue = SQL(
      """
      \(pending) VALUES (\(number), \(Parameter.id), \(Parameter.operation), \(change), NULL, NULL, NULL, NULL)
      \(collapsing)
      """)
    queueWithBase = SQL(
      """
      \(pending) SELECT \(number), id, \(Parameter.operation), \(change), body, checksum, \(isOfOtherData),
        \(Parameter.operators)
      FROM \(entities) WHERE id = \(Parameter.id)
      \(collapsing)
      """)
    let deleting = """
      ON CONFLICT (collection, id) DO UPDATE SET operation = 3, sent_operators = NULL, \(superseding)
      """
    queueDeletion = SQL(
      """
      \(pending) SELECT \(number), id, 3, \(change), body, checksum, \(isOfOtherData), NULL
      FROM \(entities) WHERE id = \(Parameter.id)
      \(deleting)
      """)
    // The revision of each is random: 62 bits, as `Identifier.revision` makes them.
    queueDeletionsOfRemoved = SQL(
      """
      \(pending) SELECT \(number), e.id, 3, (random() & 0x3FFFFFFFFFFFFFFF) + 1, \(Parameter.time),
        \(Parameter.time), 0, NULL, e.body, e.checksum, \(isOfOtherData), NULL
      FROM temp.removed AS r CROSS JOIN \(entities) AS e ON e.n = r.n
      WHERE r.written <> \(Parameter.operation)
      \(deleting)
      """)
    queueDeletionOfArrived = SQL(
      """
      \(pending) SELECT \(number), \(Parameter.id), 3, \(Parameter.revision), \(Parameter.time),
        \(Parameter.time), 0, NULL, \(Parameter.body), kv_checksum(\(Parameter.body)), NULL, NULL
      WHERE NOT EXISTS (SELECT 1 FROM \(entities) WHERE id = \(Parameter.id)) ON CONFLICT DO NOTHING
      """)
    localWrite = SQL(
      """
      SELECT \(Table.localWrite(isEntity))
      FROM (SELECT 1) LEFT JOIN pending AS p ON \(isEntity)
      """)
    queuedOperators = SQL("SELECT operators FROM pending WHERE \(isEntity)")
    expectLateWrites = SQL(
      """
      INSERT OR REPLACE INTO gone (collection, id, sent, noted)
      SELECT \(number), \(Parameter.id), group_concat(version), \(Parameter.time) FROM (
        SELECT \(Table.tried(with: "(SELECT body FROM \(entities) WHERE id = \(Parameter.id))"))
          AS version FROM pending WHERE \(isEntity)
        UNION ALL SELECT version FROM unanswered WHERE \(isEntity) AND version <> 'null'
        UNION ALL SELECT sent FROM gone WHERE \(isEntity) AND length(sent) <= 1000000)
      HAVING count(version) > 0
      """)
    moveToEnd = SQL(
      """
      UPDATE pending SET n = (SELECT max(n) + 1 FROM pending)
      WHERE \(isEntity) AND n < (SELECT max(n) FROM pending)
      """)
    drop = SQL("DELETE FROM pending WHERE \(isEntity)")
    dropAll = SQL("DELETE FROM pending WHERE collection = \(number)")
  }

  /// The columns of a body that is handed out, for `isIntact` and `body(of:at:)`: the body, its checksum, the id.
  static let body = "body, checksum, id"

  /// The same of many rows of a table `e`, with the row number, which costs nothing, in place of the id.
  static let bodyOfMany = "body, checksum, e.n"

  /// The body in a column of a row, where it is. Throws `.corrupt`, naming the entity, if it is damaged.
  func body(
    of row: borrowing Statement, at column: Int32 = 0
  ) throws(SQLiteError) -> UnsafeRawBufferPointer {
    guard let body = row.intactBytes(column) else { throw damage(of: row, at: column) }
    return body
  }

  /// What a damaged body in a column of a row means.
  func damage(of row: borrowing Statement, at column: Int32 = 0) -> SQLiteError {
    let id =
      row.isInteger(column + 2)
      ? row.text(of: "SELECT id FROM \(entities) WHERE n = \(row.int64(column + 2))")
      : row.text(column + 2)
    return .damaged(id ?? "", in: name)
  }

  /// The condition that an entity was not written since a mark and has no pending write.
  func unseen(since mark: RefreshMark) -> SQLFragment {
    "abs(gen) < \(bind: mark.generation) AND \(sql: isSettled)"
  }

  /// The condition that a row about an entity, of any table but the entities', is of this one.
  func isEntity(_ id: String) -> SQLFragment { "collection = \(bind: number) AND id = \(bind: id)" }

  /// The condition that a row of the queue is this write, and was not changed since it was read.
  func isUnchanged(_ write: PendingWrite) -> SQLFragment {
    "\(isEntity(write.id)) AND revision = \(bind: write.revision)"
  }

  /// The table of an index of this collection.
  func index(_ number: Int64, _ spec: IndexSpec) -> IndexTable {
    IndexTable(number: number, spec, on: entities, format: format)
  }
}
