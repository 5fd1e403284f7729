internal import KVSQLite

/// The log of which entities of one collection were changed, kept by triggers in the transaction of each
/// change, whichever connection makes it. Of all collections together it holds some 16,000 entries (`StorageSchema`).
///
/// The triggers are made when a collection is first observed and stay: no process knows whether another
/// one still looks.
struct ChangeLog: Sendable {
  private let number: Int64
  private let entities: String

  /// More changes than this are not followed one by one.
  private static let maxIDs = 256
  private static let last = SQL("SELECT max(n) FROM changes")
  private static let first = SQL("SELECT min(n) FROM changes")

  init(_ table: Table) {
    number = table.number
    entities = table.entities
  }

  /// Makes the triggers, unless they are there. `isFirst`: something is changed even then.
  func begin(isFirst: Bool, on db: borrowing Connection) throws(SQLiteError) {
    if isFirst { try db.execute("UPDATE collections SET name = name WHERE number = \(number)") }
    try db.execute(triggers)
  }

  /// Statements that make the triggers.
  var triggers: String {
    let insertion = { (row: String) in
      "INSERT INTO changes (collection, id) VALUES (\(number), \(row).id);"
    }
    return """
      CREATE TRIGGER IF NOT EXISTS c\(number)_insert AFTER INSERT ON \(entities) BEGIN \(insertion("new")) END;
      CREATE TRIGGER IF NOT EXISTS c\(number)_update AFTER UPDATE OF body ON \(entities)
        WHEN old.body IS NOT new.body BEGIN \(insertion("new")) END;
      CREATE TRIGGER IF NOT EXISTS c\(number)_delete AFTER DELETE ON \(entities) BEGIN \(insertion("old")) END;
      """
  }

  /// The number of the last entry; 0: there is none.
  func end(on db: borrowing Connection) throws(SQLiteError) -> Int64 {
    let statement = try db.statement(Self.last)
    return try statement.step() ? statement.int64(0) : 0
  }

  /// The ids that were changed after an entry; nil if they are too many or the log was cut after it.
  func ids(since position: Int64, on db: borrowing Connection) throws(SQLiteError) -> [[UInt8]]? {
    let first = try db.statement(Self.first)
    guard try first.step(), first.int64(0) <= position &+ 1 else { return nil }
    let changed = try db.statement(
      """
      SELECT DISTINCT id FROM changes WHERE n > \(bind: position) AND collection = \(bind: number)
      LIMIT \(bind: Self.maxIDs + 1)
      """)
    var ids: [[UInt8]] = []
    while try changed.step() { ids.append(try changed.copy(0)) }
    return ids.count > Self.maxIDs ? nil : ids
  }
}
