internal import KVJSON
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
  let getSince: SQL
  /// Inserts, unless the id is there already. Parameters of what inserts: id, generation, time, body, row number,
  /// first version; see `Storage.Change.bind`.
  let insert: SQL
  /// Replaces, with the first four of these parameters.
  let update: SQL
  /// Inserts or replaces.
  let put: SQL
  /// The same, unless a write is pending for the id.
  let putUnlessPending: SQL
  /// Says that a row is of the generation that is its second parameter.
  let see: SQL
  /// Says that the version of a row is unknown; parameters: its id, the generation.
  let forgetVersion: SQL
  /// The same of all rows that were written before; see `Storage.purge`.
  let recordPurge: SQL
  /// Gives a row if an entity was written in the generation that is the second parameter, or later.
  let writtenSince: SQL
  /// The body, if it is known which version that is.
  let getVersioned: SQL
  let delete: SQL
  let deleteUnlessPending: SQL

  /// Raises the generation and gives it.
  let raiseGeneration: SQL
  /// A condition: that an entity was not written since the mark whose generation is the parameter `?`, and has no
  /// pending write.
  private let isUnseen: String
  /// Makes tombstones of such entities. Parameters: the generation, the moment, the local time, how many at the most.
  let insertTombstonesOfUnseen: SQL
  /// Gives a row if entities of an older generation than the parameter are possible, and none of them was written and
  /// purged since.
  let mayHaveOlder: SQL

  /// Queues a write of an entity that was not there. Parameters, here and below: id, operation, revision, time,
  /// whether it is conditional.
  let queue: SQL
  /// Queues a write of an entity that is there; what it was becomes the base.
  let queueWithBase: SQL
  /// Queues a deletion of an entity that is there. Parameters: id, revision, time, whether it is conditional.
  let queueDeletion: SQL
  /// Queues the deletion of an entity that is not here and has no pending write; the last parameter is its body.
  let queueDeletionOfArrived: SQL
  /// What is queued for an entity: its operation, and whether nothing of the entity was ever sent.
  let queued: SQL
  /// Notes that a create may still arrive, in the versions that were sent; the last parameter is the local time. To be
  /// run before the create leaves the queue or becomes a deletion.
  let expectLateCreate: SQL
  /// Forgets a pending write.
  let drop: SQL
  /// Forgets all of them.
  let dropAll: SQL

  /// What was sent without an answer, once the entity is changed again: with this body, if it is what was
  /// sent last. A megabyte of them is enough.
  static func tried(with body: String) -> String {
    """
    CASE WHEN last <> revision THEN tried
    WHEN tried IS NULL OR length(tried) > 1000000 THEN \(body)
    ELSE tried || ',' || \(body) END
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
    record = SQL("SELECT n, version, \(Self.body) FROM \(entities) WHERE id = ?1")
    bodyOfRow = SQL("SELECT \(Self.body) FROM \(entities) WHERE n = ?1")
    version = SQL("SELECT version FROM \(entities) WHERE id = ?1")
    get = SQL("SELECT \(Self.body) FROM \(entities) WHERE id = ?1")
    getSince = SQL("SELECT \(Self.body) FROM \(entities) WHERE id = ?1 AND at >= ?2")

    let columns = "INSERT INTO \(entities) (n, id, gen, at, version, body, checksum)"
    let values = "?5, ?1, ?2, ?3, ?6, ?4, kv_checksum(?4)"
    // What is stored again as it is keeps its version.
    let replacing = """
      ON CONFLICT (id) DO UPDATE SET gen = excluded.gen, at = excluded.at,
      version = version + (body <> excluded.body), body = excluded.body,
      checksum = excluded.checksum
      """
    let isPending = "SELECT 1 FROM pending WHERE collection = \(number) AND id = ?1"
    insert = SQL("\(columns) VALUES (\(values)) ON CONFLICT (id) DO NOTHING")
    update = SQL(
      """
      UPDATE \(entities) SET gen = ?2, at = ?3, version = version + 1, body = ?4,
      checksum = kv_checksum(?4) WHERE id = ?1
      """)
    put = SQL("\(columns) VALUES (\(values)) \(replacing)")
    putUnlessPending = SQL(
      "\(columns) SELECT \(values) WHERE NOT EXISTS (\(isPending)) \(replacing)")
    see = SQL("UPDATE \(entities) SET gen = ?2 WHERE id = ?1")
    forgetVersion = SQL("UPDATE \(entities) SET gen = -?2 WHERE id = ?1")
    recordPurge = SQL("UPDATE collections SET purged = generation WHERE number = \(number)")
    writtenSince = SQL("SELECT 1 FROM \(entities) WHERE id = ?1 AND abs(gen) >= ?2")
    getVersioned = SQL(
      """
      SELECT body FROM \(entities) WHERE id = ?1
      AND gen > (SELECT purged FROM collections WHERE number = \(number))
      """)
    delete = SQL("DELETE FROM \(entities) WHERE id = ?1")
    deleteUnlessPending = SQL(
      "DELETE FROM \(entities) WHERE id = ?1 AND NOT EXISTS (\(isPending))")

    raiseGeneration = SQL(
      """
      UPDATE collections SET generation = generation + 1,
      oldest = iif(EXISTS (SELECT 1 FROM \(entities)), oldest, generation + 1)
      WHERE number = \(number) RETURNING generation
      """)
    isUnseen = """
      abs(gen) < ? AND NOT EXISTS (SELECT 1 FROM pending AS p
      WHERE p.collection = \(number) AND p.id = \(entities).id)
      """
    insertTombstonesOfUnseen = SQL(
      """
      WITH unseen AS (SELECT id FROM \(entities) WHERE \(isUnseen))
      INSERT OR REPLACE INTO gone (collection, id, version, sent, noted)
      SELECT \(number), unseen.id, max(?2, ifnull(g.version, '')), g.sent, ?3
      FROM unseen LEFT JOIN gone AS g ON g.collection = \(number) AND g.id = unseen.id LIMIT ?4
      """)
    mayHaveOlder = SQL(
      "SELECT 1 FROM collections WHERE number = \(number) AND oldest < ?1 AND purged < ?1")

    // How a change joins what is queued: one more change makes an update of a deletion, and leaves a create or an
    // update what it is; a deletion takes the place of both, unless a create was never sent (`queued`). What was set aside waits again. What was sent last, if this
    // is it, may be what the backend has, though no answer said so.
    let pending =
      "INSERT INTO pending (collection, id, operation, revision, created, changed, conditional, base, base_checksum)"
    let superseding = """
      revision = excluded.revision, changed = excluded.changed, state = 0, remote = NULL,
      conditional = iif(excluded.conditional, 1, conditional),
      tried = \(Table.tried(with: "ifnull(excluded.base, 'null')"))
      """
    let collapsing = """
      ON CONFLICT (collection, id) DO UPDATE SET operation = min(operation, 2), \(superseding)
      """
    queue = SQL("\(pending) VALUES (\(number), ?1, ?2, ?3, ?4, ?4, ?5, NULL, NULL) \(collapsing)")
    queueWithBase = SQL(
      """
      \(pending) SELECT \(number), id, ?2, ?3, ?4, ?4, ?5, body, checksum FROM \(entities) WHERE id = ?1
      \(collapsing)
      """)
    queueDeletion = SQL(
      """
      \(pending) SELECT \(number), id, 3, ?2, ?3, ?3, ?4, body, checksum FROM \(entities) WHERE id = ?1
      ON CONFLICT (collection, id) DO UPDATE SET operation = 3, \(superseding)
      """)
    queueDeletionOfArrived = SQL(
      """
      \(pending) SELECT \(number), ?1, 3, ?2, ?3, ?3, 0, ?4, kv_checksum(?4)
      WHERE NOT EXISTS (SELECT 1 FROM \(entities) WHERE id = ?1) ON CONFLICT DO NOTHING
      """)
    let ofEntity = "FROM pending WHERE collection = \(number) AND id = ?1"
    queued = SQL(
      """
      SELECT operation, sent = 0
      AND NOT EXISTS (SELECT 1 FROM unanswered WHERE collection = \(number) AND id = ?1) \(ofEntity)
      """)
    expectLateCreate = SQL(
      """
      INSERT OR REPLACE INTO gone (collection, id, sent, noted)
      SELECT \(number), ?1, group_concat(version), ?2 FROM (
        SELECT \(Table.tried(with: "(SELECT body FROM \(entities) WHERE id = ?1)")) AS version \(ofEntity)
        UNION ALL SELECT version FROM unanswered WHERE collection = \(number) AND id = ?1)
      """)
    drop = SQL("DELETE \(ofEntity)")
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
    SQLFragment(isUnseen, [.integer(mark.generation)])
  }
}
