package import KVJSON
package import KVQuery

/// The table of one index and the triggers that keep it up, in the transaction of every change of an entity,
/// whichever connection makes it.
///
/// An ordered index is a table that consists of its own key and nothing else, `(k0, k1…, n)`: what SQLite's
/// own indexes are, except that an entity may have several rows and that it can be filled little by little. Words
/// are kept by FTS5, which is given them one by one and keeps no text; places by R*Tree, one box for each entity.
package struct IndexTable: Sendable {
  package let number: Int64
  package let spec: IndexSpec
  private let entities: String
  private let format: RecordFormat

  /// Safe in SQL, because it is made of a number.
  package var name: String { "x\(number)" }

  /// `entities`: the table with the columns `n` and `body`; the database has a table `indexes` with `number`, `shape` and
  /// `progress`.
  package init(
    number: Int64, _ spec: IndexSpec, on entities: String, format: RecordFormat = .default
  ) {
    self.number = number
    self.spec = spec
    self.entities = entities
    self.format = format
  }

  /// Makes the table, empty, and the triggers.
  package var create: String {
    """
    \(createTable);
    \(spec.hasTotals ? createTotals : "")
    \(createTriggers)
    """
  }

  /// Makes the triggers.
  private var createTriggers: String {
    let isChanged = "old.body IS NOT new.body"
    guard case .ordered = spec.kind else {
      return """
        \(trigger("insert", "INSERT", when: "1", of: "new", does: add))
        \(trigger("update", "UPDATE OF body", when: isChanged, of: "new", does: remove + add))
        \(trigger("delete", "DELETE", when: "1", of: "old", does: remove))
        """
    }
    // Most entities have one row, whose key can be computed; looking for several takes SQLite a table in memory.
    let change = "kv_index_change(old.body, new.body, \(paths))"
    return """
      \(trigger("insert", "INSERT", when: "1", of: "new", does: add))
      \(trigger("update", "UPDATE OF body", when: "\(isChanged) AND \(change) = 1", of: "new", does: removeOne + addOne))
      \(trigger("update_many", "UPDATE OF body", when: "\(isChanged) AND \(change) = 2", of: "new", does: remove + add))
      \(createDeletionTriggers)
      """
  }

  /// Makes the triggers that remove the rows of an entity from an ordered index.
  package var createDeletionTriggers: String {
    let rows = "kv_index_rows(old.body, \(paths))"
    return """
      \(trigger("delete", "DELETE", when: "\(rows) = 1", of: "old", does: removeOne))
      \(trigger("delete_many", "DELETE", when: "\(rows) > 1", of: "old", does: remove))
      """
  }

  package var dropDeletionTriggers: String {
    "DROP TRIGGER \(name)_delete; DROP TRIGGER \(name)_delete_many;"
  }

  private func trigger(
    _ suffix: String, _ event: String, when condition: String, of row: String, does steps: String
  ) -> String {
    """
    CREATE TRIGGER \(name)_\(suffix) AFTER \(event) ON \(entities)
      WHEN \(condition) AND \(isMine(row)) BEGIN \(steps) END;
    """
  }

  /// Makes the triggers anew, as this version has them; the rows stay.
  package var renewTriggers: String { "\(dropTriggers) \(createTriggers)" }

  private var createTable: String {
    switch spec.kind {
    case .ordered(let keys):
      return """
        CREATE TABLE \(name) (\(columns), n INTEGER NOT NULL,
          PRIMARY KEY (\(Self.order(of: keys).joined(separator: ", ")), n)) WITHOUT ROWID
        """
    case .text:
      let columns = texts.map(\.column).joined(separator: ", ")
      return "CREATE VIRTUAL TABLE \(name) USING fts5(\(columns), content='', tokenize='ascii')"
    case .geo: return "CREATE VIRTUAL TABLE \(name) USING rtree(n, w, e, s, t)"
    }
  }

  /// How many rows each group of the first keys has, how many of them have a number in the last key, and the exact sum of these,
  /// kept by the rows of the index themselves.
  private var createTotals: String {
    let keys = spec.paths.count - 1
    let columns = (0..<keys).map { "k\($0)" }.joined(separator: ", ")
    let isGroup = (0..<keys).map { "k\($0) = old.k\($0)" }.joined(separator: " AND ")
    let news = (0..<keys).map { "new.k\($0)" }.joined(separator: ", ")
    let value = "k\(keys)"
    return """
      CREATE TABLE \(totals) (\(columns), n, numbers, s, PRIMARY KEY (\(columns))) WITHOUT ROWID;
      CREATE TRIGGER \(name)_add AFTER INSERT ON \(name) BEGIN
        INSERT INTO \(totals)
          VALUES (\(news), 1, \(IndexValue.isNumber("new.\(value)")), kv_sum(0, new.\(value), 1))
          ON CONFLICT (\(columns)) DO UPDATE SET n = n + 1, numbers = numbers + excluded.numbers,
            s = kv_sum(s, new.\(value), 1);
      END;
      CREATE TRIGGER \(name)_subtract AFTER DELETE ON \(name) BEGIN
        UPDATE \(totals) SET n = n - 1, numbers = numbers - \(IndexValue.isNumber("old.\(value)")),
          s = kv_sum(s, old.\(value), -1) WHERE \(isGroup);
        DELETE FROM \(totals) WHERE \(isGroup) AND n = 0;
      END;
      """
  }

  private var totals: String { UsableIndex.totals(of: name) }

  package var drop: String {
    """
    \(dropTriggers)
    DROP TABLE \(name);
    \(spec.hasTotals ? "DROP TABLE \(totals);" : "")
    """
  }

  private var dropTriggers: String {
    ["insert", "update", "update_many", "delete", "delete_many"]
      .map { "DROP TRIGGER IF EXISTS \(name)_\($0);" }.joined(separator: " ")
  }

  /// Makes the table and the triggers anew, empty. No query uses it before it is filled.
  package var remake: String {
    """
    \(drop)
    UPDATE indexes SET shape = 0, progress = 0 WHERE number = \(number);
    \(create)
    """
  }

  // MARK: Filling

  /// Adds so many more entities, in the transaction that is open, and records how far that has got; true when all are in it, or it
  /// was dropped.
  package func fill(_ count: Int64, on db: borrowing Connection) throws(SQLiteError) -> Bool {
    let progress = try db.statement("SELECT progress FROM indexes WHERE number = \(bind: number)")
    guard try progress.step(), !progress.isNull(0) else { return true }
    let first = progress.int64(0)
    let next = try db.prepare(
      """
      SELECT max(n) FROM (SELECT n FROM \(sql: entities) WHERE n > \(bind: first) ORDER BY n LIMIT \(bind: count))
      """)
    let last = try next.step() && !next.isNull(0) ? next.int64(0) : nil
    if let last { try fill(after: first, through: last, on: db) }
    try db.run("UPDATE indexes SET progress = \(bind: last) WHERE number = \(bind: number)")
    return last == nil
  }

  /// Adds the entities of the rows after one, up to and with another, and records what they allow to ask of the index.
  private func fill(
    after first: Int64, through last: Int64, on db: borrowing Connection
  ) throws(SQLiteError) {
    // Only of an ordered index it matters what the entities are.
    if case .ordered = spec.kind {
      try db.prepare(
        """
        UPDATE indexes SET shape = max(shape, (SELECT max(kv_index_shape(body, \(sql: paths)))
          FROM \(sql: entities) WHERE n > \(bind: first) AND n <= \(bind: last))) WHERE number = \(bind: number)
        """
      ).run()
    }
    try db.prepare(
      "\(sql: insert(of: "e")) AND e.n > \(bind: first) AND e.n <= \(bind: last) \(sql: orderOfRows)"
    ).run()
  }

  /// Adds the rows of an ordered index in its own order, so that each page of it is written once.
  private var orderOfRows: String {
    guard case .ordered(let keys) = spec.kind else { return "" }
    return "ORDER BY \(Self.order(of: keys).joined(separator: ", "))"
  }

  private static func order(of keys: [IndexSpec.Key]) -> [String] {
    keys.enumerated().map { "k\($0)\($1.ascending ? "" : " DESC")" }
  }

  /// Says that rows are missing in an index, or are there that should not be.
  package var markOutdated: SQLFragment {
    "UPDATE indexes SET shape = \(bind: IndexShape.outdated.rawValue) WHERE number = \(bind: number)"
  }

  /// Removes the rows of an ordered index that a table lists, with the columns `x` (the number of the index), `n` and `k0`,
  /// `k1`… They go in the order of the index, so each page of it is written once, however many there are.
  package func removeRows(listedIn table: String) -> SQLFragment {
    """
    DELETE FROM \(sql: name) WHERE (\(sql: columns), n) IN
      (SELECT \(sql: columns), n FROM \(sql: table) WHERE x = \(bind: number))
    """
  }

  /// Empties an index of words and fills it again. `words`: which ones, as `kv_index_words` reads it.
  package func refill(words: String) -> String {
    """
    INSERT INTO \(name) (\(name)) VALUES ('delete-all');
    INSERT INTO \(name) (rowid, words) SELECT e.n, kv_index_words(e.body, \(IndexTable.literal(words)))
      FROM \(entities) AS e WHERE \(isMine("e"));
    """
  }

  /// Merges what FTS5 has written of an index of words at different times, so that words of entities that are gone take no
  /// room; nil for other kinds.
  package var merge: String? {
    guard case .text = spec.kind else { return nil }
    return "INSERT INTO \(name) (\(name)) VALUES ('optimize')"
  }

  /// Whether a row is in the index, or would be: rows that it has not got to yet are left for it.
  private func isMine(_ row: String) -> String {
    """
    (SELECT progress IS NULL OR \(row).n <= progress FROM indexes WHERE number = \(number))
    """
  }

  // MARK: Steps of the triggers

  private var add: String {
    guard case .ordered = spec.kind else { return "\(insert(of: "new"));" }
    return "\(insert(of: "new")); \(raiseShape(by: "new"))"
  }

  private func raiseShape(by row: String) -> String {
    """
    UPDATE indexes SET shape = kv_index_shape(\(row).body, \(paths))
      WHERE number = \(number) AND shape < kv_index_shape(\(row).body, \(paths));
    """
  }

  /// Adds the only row of the entity `new` of a trigger, which has no arrays.
  private var addOne: String {
    "INSERT INTO \(name) VALUES (\(keys(of: "new").joined(separator: ", ")), new.n);"
  }

  private var removeOne: String {
    let isKey = keys(of: "old").enumerated().map { "k\($0) = \($1)" }
    return "DELETE FROM \(name) WHERE \(isKey.joined(separator: " AND ")) AND n = old.n;"
  }

  private func keys(of row: String) -> [String] {
    spec.paths.indices.map { "kv_index_key(\(row).body, \(paths), \($0))" }
  }

  /// Adds the row `new` of a trigger, or rows `e` of the entities; ends in a condition.
  private func insert(of row: String) -> String {
    let others = row == "new" ? "" : "\(entities) AS e"
    let from = others.isEmpty ? "" : " FROM \(others)"
    switch spec.kind {
    case .ordered:
      let tables = others.isEmpty ? "" : "\(others), "
      return """
        INSERT INTO \(name) SELECT \(columns), \(row).n
        FROM \(tables)kv_index_keys(\(row).body, \(paths)) WHERE 1
        """
    case .text:
      let words = texts.map { "kv_index_words(\(row).body, \($0.paths))" }
      return """
        INSERT INTO \(name) (rowid, \(texts.map(\.column).joined(separator: ", ")))
        SELECT \(row).n, \(words.joined(separator: ", "))\(from) WHERE 1
        """
    case .geo:
      let edges = (0...3).map { "kv_index_edge(\(row).body, \(paths), \($0))" }
      return """
        INSERT INTO \(name) SELECT \(row).n, \(edges.joined(separator: ", "))\(from)
        WHERE \(edges[0]) IS NOT NULL
        """
    }
  }

  private var remove: String {
    switch spec.kind {
    case .ordered:
      """
      DELETE FROM \(name) WHERE (\(columns), n) IN
        (SELECT \(columns), old.n FROM kv_index_keys(old.body, \(paths)));
      \(spec.collation == nil ? "" : raiseShape(by: "old"))
      """
    case .text:
      """
      INSERT INTO \(name) (\(name), rowid, \(texts.map(\.column).joined(separator: ", ")))
        VALUES ('delete', old.n,
          \(texts.map { "kv_index_words(old.body, \($0.paths))" }.joined(separator: ", ")));
      """
    case .geo: "DELETE FROM \(name) WHERE n = old.n;"
    }
  }

  private var columns: String {
    spec.paths.indices.map { "k\($0)" }.joined(separator: ", ")
  }

  /// The columns of an index of texts, with what says which words are in each, as a literal: the words, and their stems
  /// if it has a language.
  private var texts: [(column: String, paths: String)] {
    let words = ("words", IndexTable.literal(IndexWords.text(of: spec.paths, format)))
    guard spec.language != .none else { return [words] }
    let stems = IndexWords.text(ofStemsIn: spec.language, spec.paths, format)
    return [words, ("stems", IndexTable.literal(stems))]
  }

  /// What says how the keys are made, as a literal.
  private var paths: String { IndexTable.literal(IndexKeys.text(of: spec)) }

  private static func literal(_ text: String) -> String {
    let parts = text.utf8.split(
      separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
    return "'\(parts.map { String(Substring($0)) }.joined(separator: "''"))'"
  }
}
