internal import KVBase
internal import KVQuery
internal import KVServerCore

/// An index of a collection: a table with a row `(k0, k1…, n)` for each of the combinations of values that an entity has at its
/// paths, made by the same code that makes the client library's. The keys are bytes that sort as the values do.
struct EntityIndex: Sendable {
  enum State: Sendable { case building, ready, dropping }

  let number: Int64
  let spec: IndexSpec
  let shape: IndexShape
  /// Whether there is a key that is stored cut: such keys are equal only where the values are, but in no order.
  let hasCutKeys: Bool
  let state: State

  /// Safe in SQL, because it is made of a number.
  var table: String { "x\(number)" }

  private var columns: [String] { spec.paths.indices.map { "k\($0)" } }
  private var columnList: String { columns.joined(separator: ", ") }

  // MARK: Reading

  /// A row of the table `entity_index` as one text: number, shape, whether keys are cut, state (0 is ready, 1 dropping), and the
  /// specification.
  static let element: SQL = """
    convert_to(concat_ws(' ', number, shape, cut::int, coalesce(sign(progress) + 2, 0), ''), 'UTF8') || spec
    """

  /// Selects the indexes of a collection as one array. `collection`: a column.
  static func selectAll(of collection: SQL) -> SQL {
    "ARRAY(SELECT \(element) FROM entity_index WHERE collection = \(collection) ORDER BY number)"
  }

  /// Reads what `element` gives.
  init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: " "), maxSplits: 4)
    let numbers = parts.prefix(4).compactMap { Int64(String(Substring($0))) }
    guard parts.count == 5, numbers.count == 4,
      let spec = try? IndexSpec(stored: String(Substring(parts[4])))
    else { return nil }
    number = numbers[0]
    self.spec = spec
    shape = IndexShape(rawValue: numbers[1]) ?? .unusable
    hasCutKeys = numbers[2] != 0
    state = numbers[3] == 0 ? .ready : numbers[3] == 1 ? .dropping : .building
  }

  // MARK: Tables

  var create: [SQL] {
    let order = spec.keys.enumerated().map { "k\($0)\($1.ascending ? "" : " DESC")" }
    let definitions = columns.map { "\($0) bytea NOT NULL" }.joined(separator: ", ")
    let statements: [SQL] = [
      "CREATE TABLE \(sql: table) (\(sql: definitions), n int8 NOT NULL)",
      """
      CREATE UNIQUE INDEX \(sql: table)_keys ON \(sql: table) (\(sql: order.joined(separator: ", ")), n)
      """,
      "CREATE INDEX \(sql: table)_n ON \(sql: table) (n)",
    ]
    return statements.map(\.plannedEachTime)
  }

  // MARK: Writing

  /// What an entity has in the index.
  struct Entry: Equatable {
    var rows: [[[UInt8]]]
    var shape: IndexShape
    var isCut: Bool
  }

  func entry(_ body: [UInt8]) -> Entry { body.withUnsafeBytes { entry($0) } }

  func entry(_ body: UnsafeRawBufferPointer) -> Entry {
    let keys = IndexKeys(spec)
    let rows = keys.rows(of: body).map { $0.map { EntityIndex.stored($0.key) } }
    let isCut = rows.contains { $0.contains { $0.count > EntityIndex.longestKey } }
    return Entry(rows: rows, shape: keys.shape(of: body), isCut: isCut)
  }

  /// The largest length of a key that is stored as it is: PostgreSQL's indexes take rows of 2,704 bytes, which are eight keys.
  static let longestKey = 250

  /// The key as it is stored: a long one is cut, and ends in its hash.
  static func stored(_ key: [UInt8]) -> [UInt8] {
    key.count <= longestKey ? key : key.prefix(longestKey) + SHA256.hash(key)
  }

  /// Adds an entity that is stored.
  func insert(_ entry: Entry, id: String, in collection: Int64) -> SQL {
    """
    INSERT INTO \(sql: table) (\(sql: columnList), n) SELECT \(sql: columnList), n
    FROM \(unnest(entry.rows, as: columnList)), entity
    WHERE collection = \(bind: collection) AND id = \(bind: id) ON CONFLICT DO NOTHING
    """
  }

  /// Adds several entities by their numbers, one for each row.
  func insert(_ rows: [[[UInt8]]], numbers: [Int64]) -> SQL {
    """
    INSERT INTO \(sql: table) (\(sql: columnList), n) SELECT * FROM \(unnest(rows, numbers)) ON CONFLICT DO NOTHING
    """
  }

  /// Takes entities out that are still stored.
  func remove(_ ids: [String], from collection: Int64) -> SQL {
    """
    DELETE FROM \(sql: table) WHERE n IN
      (SELECT n FROM entity WHERE collection = \(bind: collection) AND id = ANY(\(bind: ids)))
    """
  }

  /// Notes what an entry allows to be asked of the index; nil: nothing new.
  func note(_ shape: IndexShape, isCut: Bool) -> SQL? {
    guard shape > self.shape || (isCut && !hasCutKeys) else { return nil }
    return """
      UPDATE entity_index SET shape = greatest(shape, \(bind: shape.rawValue)), cut = cut OR \(bind: isCut)
      WHERE number = \(bind: number)
      """
  }

  private func unnest(_ rows: [[[UInt8]]], as names: String) -> SQL {
    "unnest(\(lists(rows))) AS keys (\(sql: names))"
  }

  private func unnest(_ rows: [[[UInt8]]], _ numbers: [Int64]) -> SQL {
    "unnest(\(lists(rows)), \(bind: numbers))"
  }

  /// A list for each column.
  private func lists(_ rows: [[[UInt8]]]) -> SQL {
    columns.indices.reduce("") { lists, column in
      "\(lists)\(sql: column == 0 ? "" : ", ")\(bind: rows.map { $0[column] })"
    }
  }
}

extension IndexSpec {
  /// The members of an ordered index.
  fileprivate var keys: [Key] { if case .ordered(let keys) = kind { keys } else { [] } }
}

extension IndexUse {
  /// What the indexes of a collection can do for a query.
  init?(_ query: Query, _ indexes: [EntityIndex]) {
    let usable = indexes.filter { $0.state == .ready }
      .map { UsableIndex($0.spec, table: $0.table, shape: $0.shape) }
    if usable.isEmpty { return nil }
    guard let use = IndexUse(query, usable, longestBound: EntityIndex.longestKey) else {
      return nil
    }
    let isCut = indexes.contains { $0.hasCutKeys && use.uses($0.spec.name) }
    // Keys that are cut are in no order.
    self = isCut ? use.withoutWalk() : use
  }
}

extension SQL {
  /// Text of our own with a `?` for each of the values, on which the best plan depends.
  init(_ fragment: IndexUse.Fragment) {
    var values = fragment.values[...]
    var sql: SQL = ""
    for (index, piece) in fragment.sql.utf8.split(
      separator: UInt8(ascii: "?"), omittingEmptySubsequences: false
    ).enumerated() {
      if index > 0, let value = values.popFirst() {
        sql = "\(sql)\(bind: EntityIndex.stored(value.key))"
      }
      sql = "\(sql)\(sql: String(Substring(piece)))"
    }
    self = sql.plannedEachTime
  }
}
