internal import KVBase
internal import KVQuery
internal import KVSQLite
internal import KVServerCore

/// The statements on a collection's tables, each with its values.
extension EntityCollection {
  /// Whether an entity may be read, its time, its body and the checksum of that.
  func get(_ id: String, _ access: RowAccess) -> SQLFragment {
    "SELECT \(access.condition(app)), lmt, body, checksum FROM \(sql: table) WHERE id = \(bind: id)"
  }

  /// Whether an entity may be written, and the columns that `StoredRow` reads.
  func look(_ id: String, _ access: RowAccess) -> SQLFragment {
    """
    SELECT \(access.condition(app)), n, creator, ect, lmt, body, checksum FROM \(sql: table)
    WHERE id = \(bind: id)
    """
  }

  // MARK: History

  /// The moment from which on all changes are known.
  var historySince: SQLFragment {
    "SELECT history_since FROM collection WHERE number = \(bind: number)"
  }

  /// Nil: there is no history.
  func setHistorySince(_ since: Timestamp?) -> SQLFragment {
    """
    UPDATE collection SET history_since = \(bind: since?.milliseconds)
    WHERE number = \(bind: number)
    """
  }

  func beginHistory(after moment: Timestamp) -> SQLFragment {
    setHistorySince(Timestamp(milliseconds: moment.milliseconds + 1))
  }

  // MARK: Writing

  /// The body is left open.
  func insert(_ id: String, _ row: RowHead) -> SQLFragment {
    """
    INSERT INTO \(sql: table) (id, creator, gr, gw, readers, writers, ect, lmt, body, checksum)
    VALUES (\(bind: id), \(bind: row.acl.creator), \(bind: row.acl.everybodyReads),
      \(bind: row.acl.everybodyWrites), \(bind: row.readers), \(bind: row.writers),
      \(bind: row.created.milliseconds), \(bind: row.modified.milliseconds), \(open: ()),
      kv_checksum(\(openAgain: ())))
    ON CONFLICT (id) DO NOTHING
    """
  }

  /// The body is left open.
  func update(_ number: Int64, _ row: RowHead) -> SQLFragment {
    """
    UPDATE \(sql: table) SET creator = \(bind: row.acl.creator), gr = \(bind: row.acl.everybodyReads),
      gw = \(bind: row.acl.everybodyWrites), readers = \(bind: row.readers),
      writers = \(bind: row.writers), ect = \(bind: row.created.milliseconds),
      lmt = \(bind: row.modified.milliseconds), body = \(open: ()),
      checksum = kv_checksum(\(openAgain: ()))
    WHERE n = \(bind: number)
    """
  }

  /// Replaces the body alone, which is left open.
  func rewrite(_ number: Int64) -> SQLFragment {
    """
    UPDATE \(sql: table) SET body = \(open: ()), checksum = kv_checksum(\(openAgain: ()))
    WHERE n = \(bind: number)
    """
  }

  /// The number of the row is left open, as in the next two.
  var deleteRow: SQLFragment { "DELETE FROM \(sql: table) WHERE n = \(open: ())" }

  /// The id and the access lists of a row.
  var access: SQLFragment {
    "SELECT id, creator, gr, gw, readers, writers FROM \(sql: table) WHERE n = \(open: ())"
  }

  /// Copies a row that is about to be deleted to the tombstones.
  func tombstoneInsertion(at time: Timestamp) -> SQLFragment {
    """
    INSERT INTO \(sql: tombstones) (at, id, creator, gr, gw, readers, writers, body)
    SELECT \(bind: time.milliseconds), id, creator, gr, gw, readers, writers, body
    FROM \(sql: table) WHERE n = \(open: ())
    """
  }

  /// Keeps the access lists of a row that are about to be replaced, if they differ from the new ones.
  func recordAccess(_ number: Int64, replacedBy row: RowHead) -> SQLFragment {
    """
    INSERT INTO \(sql: formerAccess) (at, id, creator, gr, gw, readers, writers)
    SELECT \(bind: row.modified.milliseconds), id, creator, gr, gw, readers, writers
    FROM \(sql: table) WHERE n = \(bind: number)
      AND NOT (creator = \(bind: row.acl.creator) AND gr IS \(bind: row.acl.everybodyReads)
        AND gw IS \(bind: row.acl.everybodyWrites) AND readers IS \(bind: row.readers)
        AND writers IS \(bind: row.writers))
    """
  }

  // MARK: Reading

  /// The number, the body, its checksum and the id of what is selected, in an order of pages. A negative limit is none.
  func page(
    _ rows: RowSelection, _ order: PageOrder = .storage(after: 0), limit: Int = -1, offset: Int = 0
  ) -> SQLFragment {
    """
    SELECT n, body, checksum, id FROM \(sql: table)
    WHERE \(order.range()) AND \(rows.condition(app))
    ORDER BY \(sql: order.column) LIMIT \(bind: limit) OFFSET \(bind: offset)
    """
  }

  /// The numbers of what is selected, in the order of a sort key.
  func order(_ rows: RowSelection, by sorter: Sorter, limit: Int, offset: Int) -> SQLFragment {
    let range: SQLFragment = "LIMIT \(bind: limit) OFFSET \(bind: offset)"
    if let walk = rows.use?.walk {
      let ordered = walk.select(
        "e.n", from: "CROSS JOIN \(sql: table) AS e ON e.n = x.n", where: rows.walkCondition(app))
      return "\(ordered) \(range)"
    }
    return """
      SELECT n FROM \(sql: table) WHERE \(rows.condition(app))
      ORDER BY kv_sort_key(body, \(bind: sorter)), id \(range)
      """
  }

  func count(_ rows: RowSelection) -> SQLFragment {
    "SELECT count(*) FROM \(sql: table) WHERE \(rows.condition(app))"
  }

  /// The number and the time of what is selected.
  func versions(_ rows: RowSelection) -> SQLFragment {
    "SELECT n, lmt FROM \(sql: table) WHERE \(rows.condition(app))"
  }

  /// The time of a row, whose number is left open.
  var modified: SQLFragment { "SELECT lmt FROM \(sql: table) WHERE n = \(open: ())" }

  /// The body, its checksum and the id of a row, whose number is left open, if it is selected.
  func body(_ rows: RowSelection) -> SQLFragment {
    "SELECT body, checksum, id FROM \(sql: table) WHERE n = \(open: ()) AND \(rows.condition(app))"
  }

  // MARK: Changes

  /// The number and the size of what is selected and has changed since.
  func changed(_ rows: RowSelection, since time: Timestamp, limit: Int) -> SQLFragment {
    """
    SELECT n, length(CAST(body AS BLOB)) FROM \(sql: table) INDEXED BY \(sql: table)_lmt
    WHERE lmt >= \(bind: time.milliseconds) AND \(rows.condition(app))
    ORDER BY lmt, n LIMIT \(bind: limit)
    """
  }

  /// The ids of what was deleted since and was selected at the end.
  func deleted(_ rows: RowSelection, since time: Timestamp, limit: Int) -> SQLFragment {
    "\(deleted(rows, since: time)) LIMIT \(bind: limit)"
  }

  /// The ids of what could be read at some time since, and cannot any more or is gone; without those of `deleted`.
  func closed(_ rows: RowSelection, since time: Timestamp, limit: Int) -> SQLFragment {
    """
    \(closed(to: rows.access, since: time)) EXCEPT \(deleted(rows, since: time))
    LIMIT \(bind: limit)
    """
  }

  /// The ids of what may have been selected at some time since, and is not now; of those of `deleted` only what was
  /// made again.
  func left(_ rows: RowSelection, since time: Timestamp, limit: Int) -> SQLFragment {
    guard rows.hasFilter else { return closed(rows, since: time, limit: limit) }
    // Read from left to right.
    return """
      \(closed(to: rows.access, since: time))
      UNION SELECT id FROM \(sql: tombstones) AS was INDEXED BY \(sql: tombstones)_at
        WHERE at >= \(bind: time.milliseconds) AND \(rows.ofTombstones.unmatched(app))
          AND \(isUnreadable(rows.access))
      EXCEPT \(deleted(rows, since: time))
      UNION SELECT id FROM \(sql: table) INDEXED BY \(sql: table)_lmt
        WHERE lmt >= \(bind: time.milliseconds) AND \(rows.unmatched(app))
      LIMIT \(bind: limit)
      """
  }

  private func deleted(_ rows: RowSelection, since time: Timestamp) -> SQLFragment {
    """
    SELECT DISTINCT id FROM \(sql: tombstones) INDEXED BY \(sql: tombstones)_at
    WHERE at >= \(bind: time.milliseconds) AND \(rows.ofTombstones.condition(app))
    """
  }

  private func closed(to access: RowAccess, since time: Timestamp) -> SQLFragment {
    """
    SELECT DISTINCT id FROM \(sql: formerAccess) AS was INDEXED BY \(sql: formerAccess)_at
    WHERE at >= \(bind: time.milliseconds) AND \(access.condition(app))
      AND \(isUnreadable(access))
    """
  }

  /// Tells whether the id of the row `was` has no entity that may be read.
  private func isUnreadable(_ access: RowAccess) -> SQLFragment {
    """
    NOT EXISTS (SELECT 1 FROM \(sql: table) AS now WHERE now.id = was.id
      AND \(access.condition(app)))
    """
  }
}

/// The columns of a row beside its id and its body.
struct RowHead {
  let acl: ACL
  let created: Timestamp
  let modified: Timestamp

  init(_ record: EntityRecord) {
    acl = record.acl
    created = record.created
    modified = record.modified
  }

  /// The readers, as the column has them; nil: none.
  var readers: String? { Self.column(acl.readerNames) }
  var writers: String? { Self.column(acl.writerNames) }

  private static func column(_ names: [String]) -> String? {
    names.isEmpty ? nil : ACL.list(names)
  }
}
