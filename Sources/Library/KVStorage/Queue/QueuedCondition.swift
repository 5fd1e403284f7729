internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVSQLite
internal import KVSync

/// What a write demands of the backend's entity, as the queue keeps it: the columns `conditional` and `condition`.
struct QueuedCondition {
  /// See `StorageSchema`: 0, 1 or 3.
  let mark: Int
  /// A filter as JSON; nil: only the version is demanded, or nothing.
  let filter: String?

  static let none = QueuedCondition(mark: 0, filter: nil)

  private init(mark: Int, filter: String?) { (self.mark, self.filter) = (mark, filter) }

  /// That of a write of an entity whose condition holds here, added to what is queued already. To be made before the
  /// entity is changed.
  ///
  /// What was changed here since the backend's version meets the condition by that change, which the backend gets with
  /// this write: so it is not asked about those members again.
  init(
    _ condition: WriteCondition, of id: String, _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) {
    guard !condition.isNone else {
      self = .none
      return
    }
    let wanted: Predicate =
      if case .matches(let query) = condition { query.filter } else { .everything }
    guard let queued = try Queued(id, table, on: db) else {
      self.init(mark: 1, filter: wanted.filterText)
      return
    }
    let rest = queued.rest(of: wanted)
    guard let old = queued.filter else {
      self.init(mark: 1, filter: rest.filterText)
      return
    }
    guard queued.isSent else {
      self.init(mark: 1, filter: rest.filterText.map { Self.both(old, $0) } ?? old)
      return
    }
    // The answer to what was sent settles its part alone.
    let parts = queued.mark == 3 ? Self.parts(old) : nil
    let added = rest.filterText ?? "{}"
    self.init(
      mark: 3,
      filter: Self.both(parts?.sent ?? old, parts.map { Self.both($0.added, added) } ?? added))
  }

  private static func both(_ first: String, _ second: String) -> String {
    "{\"$and\":[\(first),\(second)]}"
  }

  private static func parts(_ filter: String) -> (sent: String, added: String)? {
    guard let parts = (try? JSONValue(parsing: filter))?["$and"]?.arrayValue, parts.count == 2
    else { return nil }
    return (parts[0].text, parts[1].text)
  }

  /// The pending write of an entity and what the entity is here.
  private struct Queued {
    let mark: Int64
    let filter: String?
    let isSent: Bool
    let base: [UInt8]?
    let entity: [UInt8]?
    let format: RecordFormat

    /// Nil if there is none.
    init?(_ id: String, _ table: Table, on db: borrowing Connection) throws(SQLiteError) {
      let row = try db.statement(
        """
        SELECT p.conditional, p.condition, p.state, p.base, p.base_checksum, p.id, e.body, e.checksum, e.id
        FROM pending AS p LEFT JOIN \(sql: table.entities) AS e ON e.id = p.id
        WHERE p.collection = \(bind: table.number) AND p.id = \(bind: id)
        """)
      guard try row.step() else { return nil }
      mark = row.int64(0)
      filter = row.text(1)
      // What was set aside has its answer.
      isSent = mark >= 2 && row.int64(2) == 0
      base = row.isNull(3) || !row.isIntact(3) ? nil : try row.copy(3)
      entity = row.isNull(6) || !row.isIntact(6) ? nil : try row.copy(6)
      format = table.format
    }

    /// What of a condition the entity does not meet by what was changed here. Of what the backend never had, all is.
    func rest(of wanted: Predicate) -> Predicate {
      guard let base else { return .everything }
      guard let entity, let old = (try? JSONValue(parsing: base))?.objectValue,
        let new = (try? JSONValue(parsing: entity))?.objectValue
      else { return wanted }
      let names = Set((old.members + new.members).map { RecordID($0.name) })
      let changed = names.filter { (old[$0.text] ?? .null) != (new[$0.text] ?? .null) }
      return (try? Query(wanted).of(format).filter.deciding(changed, by: entity)) ?? wanted
    }
  }
}

extension Predicate {
  /// As JSON; nil: it demands nothing.
  fileprivate var filterText: String? { self == .everything ? nil : json.text }
}
