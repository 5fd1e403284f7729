internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVSQLite
internal import KVServerCore

/// The indexes of collections: the tables and triggers that the client library has as well. Safe from any thread.
final class SQLiteIndexes: IndexStore {
  /// The number of entities that one transaction adds to an index: writes wait for so long. Dropping one is a single
  /// transaction, whose time follows the size of the index.
  private static let batchRows: Int64 = 500

  private let database: Database
  private let histories: Histories
  private let collections: CollectionRegistry
  private let rules: IndexLedger.Rules

  /// `rules`: how much of the file automatic indexes may take.
  init(
    _ database: Database, _ histories: Histories, collections: CollectionRegistry,
    rules: IndexLedger.Rules
  ) {
    self.rules = rules
    self.database = database
    self.histories = histories
    self.collections = collections
  }

  func indexes(of key: CollectionKey) throws(ServerError) -> [CollectionIndex] {
    guard let collection = collections.find(key) else { return [] }
    return try read { (connection: borrowing Connection) throws(SQLiteError) in
      try Self.indexes(of: collection, on: connection)
    }
  }

  private static func indexes(
    of collection: EntityCollection, on connection: borrowing Connection
  ) throws(SQLiteError) -> [CollectionIndex] {
    let rows = try connection.statement(
      """
      SELECT spec, progress IS NULL, shape FROM indexes
      WHERE collection = \(bind: collection.number) ORDER BY number
      """)
    var found: [CollectionIndex] = []
    while try rows.step() {
      guard let spec = try? IndexSpec(stored: rows.text(0) ?? "") else { continue }
      let shape = IndexShape(rawValue: rows.int64(2)) ?? .unusable
      found.append(CollectionIndex(spec, isReady: rows.int64(1) != 0, shape: shape))
    }
    return found
  }

  func use(for query: Query, in key: CollectionKey) throws(ServerError) -> IndexUse? {
    guard let collection = collections.find(key) else { return nil }
    return try read { (connection: borrowing Connection) throws(SQLiteError) in
      try collection.use(for: query, on: connection)
    }
  }

  func add(_ spec: IndexSpec, to key: CollectionKey) throws(ServerError) {
    try collections.naming.withLock { () throws(ServerError) in
      try add(spec, to: try histories.make(key))
    }
  }

  private func add(_ spec: IndexSpec, to collection: EntityCollection) throws(ServerError) {
    // Looked at where it is added: others add indexes at the same time.
    _ = try write {
      (connection: borrowing Connection) throws(SQLiteError)
        -> Result<CollectionIndex.Addition, ServerError> in
      let known = try Self.indexes(of: collection, on: connection)
      let addition = CollectionIndex.addition(of: spec, beside: known.map(\.spec))
      switch addition {
      case .success(.make): try Self.make(spec, of: collection.number, on: connection)
      case .success(.takeOver(let name)):
        try connection.run(
          """
          UPDATE indexes
          SET name = \(bind: spec.name), spec = \(bind: spec.storedText)
          WHERE collection = \(bind: collection.number) AND name = \(bind: name)
          """)
      case .success(.nothing), .failure: break
      }
      return addition
    }.get()
  }

  private static func make(
    _ spec: IndexSpec, of collection: Int64, on connection: borrowing Connection
  ) throws(SQLiteError) {
    try connection.run(
      """
      INSERT INTO indexes (collection, name, spec)
      VALUES (\(bind: collection), \(bind: spec.name), \(bind: spec.storedText))
      """)
    let entities = EntityCollection.table(collection)
    try connection.execute(
      IndexTable(number: connection.lastInsertRow, spec, on: entities).create)
  }

  private static func drop(
    _ index: IndexTable, on connection: borrowing Connection
  ) throws(SQLiteError) {
    try connection.execute(index.drop)
    try connection.run("DELETE FROM indexes WHERE number = \(bind: index.number)")
  }

  func remove(_ name: String, from key: CollectionKey) throws(ServerError) -> Bool {
    try collections.naming.withLock { () throws(ServerError) in
      guard let collection = collections.find(key) else { return false }
      return try remove(name, from: collection)
    }
  }

  private func remove(_ name: String, from collection: EntityCollection) throws(ServerError) -> Bool
  {
    try write { (connection: borrowing Connection) throws(SQLiteError) in
      let row = try connection.statement(
        """
        SELECT number, spec FROM indexes
        WHERE collection = \(bind: collection.number) AND name = \(bind: name)
        """)
      guard try row.step() else { return false }
      let number = row.int64(0)
      let spec = try? IndexSpec(stored: row.text(1) ?? "")
      row.reset()
      if let spec {
        try connection.execute(IndexTable(number: number, spec, on: collection.table).drop)
      }
      try connection.run("DELETE FROM indexes WHERE number = \(bind: number)")
      return true
    }
  }

  // MARK: Work

  func buildNext() throws(ServerError) -> Bool {
    let (isOutdated, isLeft) = try read { (connection: borrowing Connection) throws(SQLiteError) in
      (
        try Self.outdated(on: connection) != nil,
        try connection.statement("SELECT 1 FROM indexes WHERE progress IS NOT NULL").step()
      )
    }
    if isOutdated { try renewNext() }
    guard isLeft || isOutdated else { return false }
    return try fillNext()
  }

  /// An index whose keys are of other weights of characters than those of this version.
  private static func outdated(
    on connection: borrowing Connection
  ) throws(SQLiteError) -> (index: IndexTable, collection: Int64)? {
    let rows = try connection.statement("SELECT number, spec, collection, shape FROM indexes")
    defer { rows.reset() }
    while try rows.step() {
      guard let spec = try? IndexSpec(stored: rows.text(1) ?? ""),
        spec.isOutdated || rows.int64(3) == IndexShape.outdated.rawValue
      else { continue }
      let entities = EntityCollection.table(rows.int64(2))
      return (IndexTable(number: rows.int64(0), spec, on: entities), rows.int64(2))
    }
    return nil
  }

  /// Puts an empty one in its place.
  private func renewNext() throws(ServerError) {
    try write { (connection: borrowing Connection) throws(SQLiteError) in
      guard let (index, collection) = try Self.outdated(on: connection) else { return }
      try Self.drop(index, on: connection)
      try Self.make(index.spec.renewed, of: collection, on: connection)
    }
  }

  private func fillNext() throws(ServerError) -> Bool {
    try write { (connection: borrowing Connection) throws(SQLiteError) in
      let row = try connection.statement(
        """
        SELECT number, spec, collection FROM indexes WHERE progress IS NOT NULL
        ORDER BY number LIMIT 1
        """)
      guard try row.step(), let spec = try? IndexSpec(stored: row.text(1) ?? "") else {
        return false
      }
      let used = spec.automatic == nil ? 0 : try connection.usedBytes()
      let entities = EntityCollection.table(row.int64(2))
      let index = IndexTable(number: row.int64(0), spec, on: entities)
      row.reset()
      _ = try index.fill(Self.batchRows, on: connection)
      if spec.automatic != nil {
        try charge(try connection.usedBytes() - used, to: index, on: connection)
      }
      return true
    }
  }

  // MARK: Automatic indexes

  func addAutomatic(
    _ spec: IndexSpec, to key: CollectionKey, within rules: IndexLedger.Rules
  ) throws(ServerError) -> Bool {
    try collections.naming.withLock { () throws(ServerError) in
      guard let collection = collections.find(key) else { return false }
      return try write { (connection: borrowing Connection) throws(SQLiteError) in
        let known = try Self.indexes(of: collection, on: connection).map(\.spec)
        let isNew = CollectionIndex.isNew(automatic: spec, beside: known, within: rules)
        guard isNew == true else { return isNew == nil }
        try Self.make(spec, of: collection.number, on: connection)
        return true
      }
    }
  }

  /// No other server uses the data.
  func removeAutomatic(_ name: String, from key: CollectionKey) throws(ServerError) -> Bool {
    let isAutomatic = try indexes(of: key).contains {
      $0.spec.automatic != nil && $0.spec.name.hasSameBytes(as: name)
    }
    if isAutomatic { _ = try remove(name, from: key) }
    return true
  }

  func recordUse(of _: String, in _: CollectionKey) {}

  func size(of key: CollectionKey) throws(ServerError) -> Int {
    guard let collection = collections.find(key) else { return 0 }
    return try read { (connection: borrowing Connection) throws(SQLiteError) in
      // Most that were ever made are still there.
      let highest = try connection.statement("SELECT max(n) FROM \(sql: collection.table)")
      return try highest.step() ? highest.int(0) : 0
    }
  }

  /// Notes how many more bytes of the file an automatic index takes, and drops it if all of them take too many.
  private func charge(
    _ bytes: Int, to index: IndexTable, on connection: borrowing Connection
  ) throws(SQLiteError) {
    var spec = index.spec
    spec.automatic?.bytes += max(0, bytes)
    try connection.run(
      "UPDATE indexes SET spec = \(bind: spec.storedText) WHERE number = \(bind: index.number)")
    let specs = try connection.statement("SELECT spec FROM indexes")
    var all = 0
    while try specs.step() {
      all += (try? IndexSpec(stored: specs.text(0) ?? ""))?.automatic?.bytes ?? 0
    }
    specs.reset()
    guard all > rules.allowedBytes(of: try connection.usedBytes()) else { return }
    try Self.drop(index, on: connection)
  }

  // MARK: Parts

  private func read<R>(
    _ body: (borrowing Connection) throws(SQLiteError) -> R
  ) throws(ServerError) -> R {
    try Entities.storage { () throws(SQLiteError) in
      try database.read { (connection: borrowing Connection) throws(SQLiteError) in
        try body(connection)
      }
    }
  }

  private func write<R>(
    _ body: (borrowing Connection) throws(SQLiteError) -> R
  ) throws(ServerError) -> R {
    try Entities.storage { () throws(SQLiteError) in
      try database.write { (connection: borrowing Connection) throws(SQLiteError) in
        try body(connection)
      }
    }
  }
}

extension EntityCollection {
  /// How its indexes answer a query, in this transaction; nil: not at all.
  func use(for query: Query, on connection: borrowing Connection) throws(SQLiteError) -> IndexUse? {
    let rows = try connection.statement(
      """
      SELECT number, spec, shape FROM indexes WHERE collection = \(bind: number) AND progress IS NULL
      """)
    var usable: [UsableIndex] = []
    while try rows.step() {
      guard let spec = try? IndexSpec(stored: rows.text(1) ?? ""),
        let shape = IndexShape(rawValue: rows.int64(2))
      else { continue }
      let index = IndexTable(number: rows.int64(0), spec, on: table)
      usable.append(UsableIndex(spec, table: index.name, shape: shape))
    }
    return usable.isEmpty ? nil : IndexUse(query, usable)
  }
}

extension RowSelection {
  /// The same with what the indexes can do for it in this transaction: its next pages may be read in others. `note` is told of
  /// these.
  func planned(
    in collection: EntityCollection, on connection: borrowing Connection, _ note: QueryNote? = nil
  ) throws(SQLiteError) -> RowSelection {
    var planned = self
    planned.use = try collection.use(for: query, on: connection)
    if let use = planned.use { note?.found(by: use) }
    return planned
  }
}
