internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVServerCore

/// The indexes of collections. Safe from any thread, and on several servers: every step holds the app's row, as every write does,
/// and what is left to do stands in the database.
final class PostgresIndexes: IndexStore {
  /// The largest number of entities, and of bytes, that one transaction adds to an index: writes wait for so long.
  private static let batchRows = 500
  private static let batchBytes: Int64 = 4 << 20

  private let writer: AppWriter
  private let collections: PostgresCollections
  private let rules: IndexLedger.Rules
  private var database: PostgresDatabase { writer.database }

  /// `rules`: how much of the data automatic indexes may take.
  init(_ writer: AppWriter, _ collections: PostgresCollections, rules: IndexLedger.Rules) {
    self.rules = rules
    self.writer = writer
    self.collections = collections
  }

  func indexes(of key: CollectionKey) throws(ServerError) -> [CollectionIndex] {
    try collections.state(key).indexes.filter { $0.state != .dropping }
      .map { CollectionIndex($0.spec, isReady: $0.state == .ready, shape: $0.shape) }
  }

  func use(for query: Query, in key: CollectionKey) throws(ServerError) -> IndexUse? {
    IndexUse(query, try collections.state(key).indexes)
  }

  func add(_ spec: IndexSpec, to key: CollectionKey) throws(ServerError) {
    let select = CollectionState.select(key)
    _ = try writer.write(app: key.app, reading: [select]) {
      (transaction, rows) throws(PostgresError) -> Result<CollectionIndex.Addition, ServerError> in
      let state = try collections.make(collections.state(key, rows[0]), in: transaction)
      let others = state.indexes.filter { $0.state != .dropping }
      let addition = CollectionIndex.addition(of: spec, beside: others.map(\.spec))
      guard let number = state.number else { return addition }
      switch addition {
      case .success(.make): try Self.make(spec, in: number, transaction)
      case .success(.takeOver(let name)):
        transaction.enqueue(
          """
          UPDATE entity_index
          SET name = \(bind: spec.name), spec = \(bind: spec.storedText)
          WHERE \(Self.isNamed(name, in: key))
          """)
      case .success(.nothing), .failure: break
      }
      return addition
    }.get()
  }

  private static func make(
    _ spec: IndexSpec, in collection: Int64, _ transaction: AppWriter.Transaction
  ) throws(PostgresError) {
    let rows = try transaction.run(
      """
      INSERT INTO entity_index (collection, name, spec)
      VALUES (\(bind: collection), \(bind: spec.name), \(bind: spec.storedText))
      RETURNING \(EntityIndex.element)
      """)
    guard let index = EntityIndex(rows.text(0, 0)) else {
      throw PostgresError(.other, "an index cannot be read back")
    }
    for statement in index.create { transaction.enqueue(statement) }
  }

  /// Its table stays, and is kept up, until no query uses it any more.
  func remove(_ name: String, from key: CollectionKey) throws(ServerError) -> Bool {
    try writer.write(app: key.app) { (transaction, _) throws(PostgresError) in
      let rows = try transaction.run(
        """
        UPDATE entity_index SET name = NULL, progress = -1 WHERE \(Self.isNamed(name, in: key))
        """)
      return rows.changes == 1
    }
  }

  // MARK: Work

  func buildNext() throws(ServerError) -> Bool {
    let rows = try storage { () throws(PostgresError) in
      try database.read(
        """
        SELECT c.app, i.number, i.progress < 0 FROM entity_index AS i
        JOIN collection AS c ON c.number = i.collection
        WHERE i.progress IS NOT NULL ORDER BY i.number LIMIT 1
        """)
    }
    guard !rows.isEmpty else { return try renewNext() }
    let (app, number) = (rows.int64(0, 0), rows.int64(0, 1))
    if rows.flag(0, 2) { try drop(number, app: app) } else { try fill(number, app: app) }
    return true
  }

  /// Puts an empty index, with a number of its own, in the place of one whose keys are of older weights of characters than those
  /// of this version. Those of a newer server are left alone: of two versions that run at the same time, one would undo the
  /// other's work for ever.
  private func renewNext() throws(ServerError) -> Bool {
    let rows = try storage { () throws(PostgresError) in
      try database.read(
        """
        SELECT c.app, i.number, i.collection, i.shape, i.spec FROM entity_index AS i
        JOIN collection AS c ON c.number = i.collection
        WHERE i.name IS NOT NULL AND position('"collation"'::bytea IN i.spec) > 0 ORDER BY i.number
        """)
    }
    for row in 0..<rows.count {
      guard let spec = try? IndexSpec(stored: rows.text(row, 4)),
        spec.collationVersion < spec.renewed.collationVersion
          || (!spec.isOutdated && rows.int64(row, 3) == IndexShape.outdated.rawValue)
      else { continue }
      let (number, collection) = (rows.int64(row, 1), rows.int64(row, 2))
      try writer.write(app: rows.int64(row, 0)) { (transaction, _) throws(PostgresError) in
        let dropped = try transaction.run(
          """
          UPDATE entity_index SET name = NULL, progress = -1
          WHERE number = \(bind: number) AND name IS NOT NULL
          """)
        if dropped.changes == 1 { try Self.make(spec.renewed, in: collection, transaction) }
      }
      return true
    }
    return false
  }

  /// Waits only for a moment for queries that still use it: writers wait behind this.
  private func drop(_ number: Int64, app: Int64) throws(ServerError) {
    try writer.write(app: app) { (transaction, _) in
      transaction.enqueue("SET LOCAL lock_timeout = '500ms'")
      let table: SQL = "DROP TABLE IF EXISTS x\(sql: String(number))"
      transaction.enqueue(table.plannedEachTime)
      transaction.enqueue("DELETE FROM entity_index WHERE number = \(bind: number)")
    }
  }

  private func fill(_ number: Int64, app: Int64) throws(ServerError) {
    let reading: SQL = """
      SELECT \(EntityIndex.element), collection, progress FROM entity_index
      WHERE number = \(bind: number) AND progress >= 0
      """
    let isFilled = try writer.write(app: app, reading: [reading]) {
      (transaction, rows) throws(PostgresError) in
      guard !rows[0].isEmpty, let index = EntityIndex(rows[0].text(0, 0)) else { return false }
      return try fill(
        index, of: rows[0].int64(0, 1), after: rows[0].int64(0, 2), transaction)
    }
    guard isFilled else { return }
    // A new table has no statistics, and PostgreSQL would not trust the index.
    let analyze: SQL = "ANALYZE x\(sql: String(number))"
    try storage { () throws(PostgresError) in
      _ = try database.read(analyze.plannedEachTime)
    }
  }

  /// Adds the next entities; true: there are none any more.
  private func fill(
    _ index: EntityIndex, of collection: Int64, after last: Int64,
    _ transaction: AppWriter.Transaction
  ) throws(PostgresError) -> Bool {
    let entities = try transaction.run(
      """
      SELECT n, body FROM (
        SELECT n, body, sum(length(body)) OVER (ORDER BY n) - length(body) AS before FROM (
          SELECT n, body FROM entity WHERE collection = \(bind: collection) AND n > \(bind: last)
          ORDER BY n LIMIT \(bind: Self.batchRows)) AS next) AS sized
      WHERE before < \(bind: Self.batchBytes) ORDER BY n
      """)
    var (rows, numbers): ([[[UInt8]]], [Int64]) = ([], [])
    var (shape, isCut) = (IndexShape.plain, false)
    for row in 0..<entities.count {
      let entry = index.entry(entities.bytes(row, 1))
      rows += entry.rows
      numbers += entry.rows.map { _ in entities.int64(row, 0) }
      (shape, isCut) = (max(shape, entry.shape), isCut || entry.isCut)
    }
    if !rows.isEmpty { transaction.enqueue(index.insert(rows, numbers: numbers)) }
    if let note = index.note(shape, isCut: isCut) { transaction.enqueue(note) }
    let progress = entities.isEmpty ? nil : entities.int64(entities.count - 1, 0)
    transaction.enqueue(
      "UPDATE entity_index SET progress = \(bind: progress) WHERE number = \(bind: index.number)")
    if index.spec.automatic != nil { try measure(index, transaction) }
    return entities.isEmpty
  }

  // MARK: Automatic indexes

  func addAutomatic(
    _ spec: IndexSpec, to key: CollectionKey, within rules: IndexLedger.Rules
  ) throws(ServerError) -> Bool {
    try writer.write(app: key.app, reading: [CollectionState.select(key)]) {
      (transaction, rows) throws(PostgresError) in
      let state = collections.state(key, rows[0])
      guard let number = state.number else { return false }
      let known = state.indexes.filter { $0.state != .dropping }.map(\.spec)
      let isNew = CollectionIndex.isNew(automatic: spec, beside: known, within: rules)
      guard isNew == true else { return isNew == nil }
      try Self.make(spec, in: number, transaction)
      return true
    }
  }

  /// Milliseconds for which an index that some server has used stays.
  private static let keptAfterUse: Int64 = 600_000

  func removeAutomatic(_ name: String, from key: CollectionKey) throws(ServerError) -> Bool {
    try writer.write(app: key.app) { (transaction, _) throws(PostgresError) in
      let found = try transaction.run(
        "SELECT spec FROM entity_index WHERE \(Self.isNamed(name, in: key))")
      guard !found.isEmpty, (try? IndexSpec(stored: found.text(0, 0)))?.automatic != nil else {
        return true
      }
      let limit = transaction.now.milliseconds - Self.keptAfterUse
      transaction.enqueue(
        """
        UPDATE entity_index SET name = NULL, progress = -1
        WHERE \(Self.isNamed(name, in: key)) AND coalesce(used, 0) < \(bind: limit)
        """)
      return try transaction.run("SELECT 1 FROM entity_index WHERE \(Self.isNamed(name, in: key))")
        .isEmpty
    }
  }

  func recordUse(of name: String, in key: CollectionKey) throws(ServerError) {
    try storage { () throws(PostgresError) in
      try database.run(
        """
        UPDATE entity_index SET used = (extract(epoch FROM clock_timestamp()) * 1000)::int8
        WHERE \(Self.isNamed(name, in: key))
        """)
    }
  }

  func size(of key: CollectionKey) throws(ServerError) -> Int {
    let rows = try storage { () throws(PostgresError) in
      try database.read(
        """
        SELECT count(*) FROM entity WHERE collection = (SELECT number FROM collection
          WHERE app = \(bind: key.app) AND name = \(bind: key.name))
        """)
    }
    return Int(rows.int64(0, 0))
  }

  private static func isNamed(_ name: String, in key: CollectionKey) -> SQL {
    """
    name = \(bind: name) AND collection = (SELECT number FROM collection
      WHERE app = \(bind: key.app) AND name = \(bind: key.name))
    """
  }

  /// Notes how many bytes an automatic index takes, and drops it if all of them take too many.
  private func measure(
    _ index: EntityIndex, _ transaction: AppWriter.Transaction
  ) throws(PostgresError) {
    let sizes: SQL = """
      SELECT pg_total_relation_size('\(sql: index.table)'), pg_total_relation_size('entity')
      """
    let size = try transaction.run(sizes.plannedEachTime)
    var spec = index.spec
    spec.automatic?.bytes = Int(size.int64(0, 0))
    transaction.enqueue(
      """
      UPDATE entity_index SET spec = \(bind: spec.storedText)
      WHERE number = \(bind: index.number)
      """)
    let specs = try transaction.run("SELECT spec FROM entity_index WHERE name IS NOT NULL")
    let all = (0..<specs.count).reduce(0) { sum, row in
      sum + ((try? IndexSpec(stored: specs.text(row, 0)))?.automatic?.bytes ?? 0)
    }
    guard all > rules.allowedBytes(of: Int(size.int64(0, 1))) else { return }
    transaction.enqueue(
      "UPDATE entity_index SET name = NULL, progress = -1 WHERE number = \(bind: index.number)")
  }
}
