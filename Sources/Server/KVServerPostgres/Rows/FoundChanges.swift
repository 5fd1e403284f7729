internal import KVBase
internal import KVServerCore

/// What has changed in a collection since a moment, as far as a selection goes.
struct FoundChanges {
  private let selection: RowSelection
  /// The numbers of what was written and matches, and the bytes of it.
  private(set) var changed: [Int64] = []
  private(set) var bytes = 0
  /// What was written and does not match.
  private var unmatched: Set<RecordID> = []
  /// What was deleted and matched at the end.
  private var deleted: Set<RecordID> = []
  /// What was deleted, did not match, and cannot be read now.
  private var closed: Set<RecordID> = []
  /// What an access list let be read at some time since, and cannot be read now.
  private var hidden: Set<RecordID> = []

  init(_ selection: RowSelection) { self.selection = selection }

  /// Adds an entity that was written and may be read. Whether it matches.
  @discardableResult
  mutating func addWritten(
    _ number: Int64, _ id: String, body: UnsafeRawBufferPointer
  ) throws(PostgresError) -> Bool {
    guard try selection.matches(id, body) else {
      unmatched.insert(RecordID(id))
      return false
    }
    changed.append(number)
    bytes += body.count
    return true
  }

  /// Adds a deletion. `isUnreadable`: there is no entity of this id that may be read.
  mutating func addDeleted(
    _ id: String, _ body: UnsafeRawBufferPointer, isUnreadable: Bool
  ) throws(PostgresError) {
    if try selection.matches(id, body) {
      deleted.insert(RecordID(id))
    } else if isUnreadable {
      closed.insert(RecordID(id))
    }
  }

  mutating func addHidden(_ id: String) { hidden.insert(RecordID(id)) }

  /// Whether of each kind there may be more.
  func isBelow(_ limit: Int) -> Bool {
    changed.count < limit && unmatched.count < limit && deleted.count < limit
      && closed.count < limit
  }

  /// The ids that an answer names. Throws if there are more than it may hold.
  func answer(withLeft: Bool) throws(ServerError) -> (deleted: [String], left: [String]) {
    // What could be read and cannot any more, or is gone, and is not among what was deleted.
    let hidden = hidden.union(withLeft && selection.hasFilter ? closed : []).subtracting(deleted)
    let left = withLeft ? hidden.union(selection.hasFilter ? unmatched : []) : []
    let all = withLeft ? deleted : deleted.union(hidden)
    try KnownHistory.checkSize(count: changed.count + all.count + left.count, bytes: bytes)
    return (all.map(\.text), left.map(\.text))
  }
}

/// Selects what has changed in a collection since a moment.
struct ChangeSelect {
  let selection: RowSelection
  let since: Int64

  /// `n`, `id` and `body` of the entities that were written since then and may be read.
  var written: SQL {
    """
    SELECT n, id, body, modified FROM entity
    WHERE collection = \(bind: selection.collection) AND modified >= \(bind: since)
      AND \(selection.access.condition())
    ORDER BY modified, n
    """
  }

  /// `id` and `body` of what was deleted since, and whether it cannot be read now.
  var deleted: SQL {
    """
    SELECT id, body, \(isUnreadable) AS is_unreadable, at FROM tombstone AS was
    WHERE collection = \(bind: selection.collection) AND at >= \(bind: since)
      AND \(selection.access.condition())
    ORDER BY at, id
    """
  }

  /// `id` of what an access list let be read at some time since, and cannot be read now.
  func hidden(limit: Int) -> SQL {
    """
    SELECT DISTINCT id FROM former_access AS was
    WHERE collection = \(bind: selection.collection) AND at >= \(bind: since)
      AND \(selection.access.condition()) AND \(isUnreadable)
    LIMIT \(bind: limit)
    """
  }

  /// Tells whether the id of the row `was` has no entity that may be read.
  private var isUnreadable: SQL {
    """
    NOT EXISTS (SELECT 1 FROM entity AS present
      WHERE present.collection = was.collection AND present.id = was.id
        AND \(selection.access.condition(of: "present.")))
    """
  }
}

/// Selects changes of all kinds together, as long as they are few.
struct FewChangesSelect {
  private enum Kind: Int64 { case state, written, deleted, hidden }

  let changes: ChangeSelect
  /// How many of each kind, and how many bytes of them, are more than a few.
  let limit: Int
  let bytes: Int

  /// Selects `kind`, `n`, `id`, `body` and `is_unreadable`; the first row has the record of `state` for a body.
  var sql: SQL {
    let written = SQL.cut(
      "\(changes.written) LIMIT \(bind: limit)", "n, id, body", by: "modified, n", after: bytes)
    let deleted = SQL.cut(
      "\(changes.deleted) LIMIT \(bind: limit)", "id, body, is_unreadable", by: "at, id",
      after: bytes)
    return """
      SELECT \(sql: "\(Kind.state.rawValue)::int8") AS kind, 0::int8 AS n, NULL::bytea AS id, record AS body, false AS is_unreadable
      FROM state
      UNION ALL SELECT \(sql: "\(Kind.written.rawValue)"), n, id, body, false FROM (\(written)) AS written
      UNION ALL SELECT \(sql: "\(Kind.deleted.rawValue)"), 0, id, body, is_unreadable FROM (\(deleted)) AS deleted
      UNION ALL SELECT \(sql: "\(Kind.hidden.rawValue)"), 0, id, NULL, true FROM (\(changes.hidden(limit: limit))) AS hidden
      """
  }

  /// The changes, with the bodies of what was written and matches; nil: there may be more.
  func read(_ rows: ResultRows) throws(PostgresError) -> (changes: FoundChanges, bodies: [[UInt8]])?
  {
    var found = FoundChanges(changes.selection)
    var bodies: [[UInt8]] = []
    var (counts, size) = ([Int64: Int](), 0)
    for row in 1..<max(1, rows.count) {
      let (kind, id, body) = (rows.int64(row, 0), rows.text(row, 2), rows.bytes(row, 3))
      counts[kind, default: 0] += 1
      size += body.count
      switch Kind(rawValue: kind) {
      case .written?:
        if try found.addWritten(rows.int64(row, 1), id, body: body) { bodies.append(Array(body)) }
      case .deleted?: try found.addDeleted(id, body, isUnreadable: rows.flag(row, 4))
      case .hidden?: found.addHidden(id)
      case .state?, nil: break
      }
    }
    guard size < bytes, counts.values.allSatisfy({ $0 < limit }) else { return nil }
    return (found, bodies)
  }
}
