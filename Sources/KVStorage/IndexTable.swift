internal import KVQuery
internal import KVSQLite

/// The table of one index and the triggers that keep it up, in the transaction of every change of an entity,
/// whoever makes it.
///
/// An ordered index is a table that consists of its own key and nothing else, `(k0, k1…, n)`: what SQLite's
/// own indexes are, except that an entity may have several rows and that it can be filled little by little.
struct IndexTable {
  let number: Int64
  let spec: IndexSpec
  private let entities: String

  /// Safe in SQL, because it is made of a number.
  var name: String { "x\(number)" }

  init(number: Int64, _ spec: IndexSpec, on table: Table) {
    self.number = number
    self.spec = spec
    entities = table.entities
  }

  /// Makes the table, empty, and the triggers.
  var create: String {
    """
    CREATE TABLE \(name) (\(columns.joined(separator: ",")), n INTEGER NOT NULL,
      PRIMARY KEY (\(order), n)) WITHOUT ROWID;
    CREATE TRIGGER \(name)_insert AFTER INSERT ON \(entities) BEGIN \(add) END;
    CREATE TRIGGER \(name)_update AFTER UPDATE OF body ON \(entities)
      WHEN old.body IS NOT new.body BEGIN \(remove) \(add) END;
    CREATE TRIGGER \(name)_delete AFTER DELETE ON \(entities) BEGIN \(remove) END;
    """
  }

  var drop: String {
    """
    DROP TRIGGER \(name)_insert; DROP TRIGGER \(name)_update; DROP TRIGGER \(name)_delete;
    DROP TABLE \(name);
    """
  }

  /// Adds the entities of the rows from behind `?1` up to `?2`. What a trigger has added is left as it is.
  var fill: String {
    """
    INSERT OR IGNORE INTO \(name) SELECT \(columnList), e.n
    FROM \(entities) AS e, kv_index_keys(e.body, \(paths)) WHERE e.n > ?1 AND e.n <= ?2
    """
  }

  /// Notes what these entities allow to ask of the index.
  var fillShape: String {
    """
    UPDATE indexes SET shape = max(shape, (SELECT max(kv_index_shape(body, \(paths)))
      FROM \(entities) WHERE n > ?1 AND n <= ?2)) WHERE number = \(number)
    """
  }

  /// The last of the next `?2` rows behind `?1`; NULL if there are none.
  var nextRows: String {
    "SELECT max(n) FROM (SELECT n FROM \(entities) WHERE n > ?1 ORDER BY n LIMIT ?2)"
  }

  private var add: String {
    """
    INSERT OR IGNORE INTO \(name) SELECT \(columnList), new.n FROM kv_index_keys(new.body, \(paths));
    UPDATE indexes SET shape = kv_index_shape(new.body, \(paths))
      WHERE number = \(number) AND shape < kv_index_shape(new.body, \(paths));
    """
  }

  private var remove: String {
    """
    DELETE FROM \(name) WHERE (\(columnList), n) IN
      (SELECT \(columnList), old.n FROM kv_index_keys(old.body, \(paths)));
    """
  }

  private var columns: [String] { spec.paths.indices.map { "k\($0)" } }
  private var columnList: String { columns.joined(separator: ", ") }

  /// The columns with their directions.
  private var order: String {
    guard case .ordered(let keys) = spec.kind else { return columnList }
    return keys.enumerated().map { "k\($0)\($1.ascending ? "" : " DESC")" }.joined(separator: ", ")
  }

  /// The paths as a literal.
  private var paths: String {
    let text = IndexKeys.text(of: spec.paths)
    return
      "'\(text.utf8.split(separator: 0x27, omittingEmptySubsequences: false).map { String(Substring($0)) }.joined(separator: "''"))'"
  }
}
