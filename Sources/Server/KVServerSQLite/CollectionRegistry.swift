internal import KVBase
internal import KVJSON
internal import KVSQLite
internal import KVServerCore

/// The collections that exist, kept in memory. The server is the only one to use its database, so this
/// is never out of date. Safe from any thread.
final class CollectionRegistry: Sendable {
  private struct Key: Hashable {
    var app: Int64
    var name: RecordID

    init(_ key: CollectionKey) { (app, name) = (key.app, RecordID(key.name)) }
  }

  private let database: Database
  private let defaults: Permissions
  private let historyDays: Int
  private let collections: Monitor<[Key: EntityCollection]>
  /// Held while what a name refers to is changed, from the lookup to the end of the change; held alone while names are
  /// changed.
  let naming = SharedLock()
  /// Held by a read while it takes its time and finds its collection, and alone while names change: so a read that finds what
  /// had a name before has an earlier time than the change.
  let finding = SharedLock()

  /// `defaults`: for collections without permissions of their own. `historyDays`: how long those without a setting of
  /// their own keep deletions; 0: not at all.
  init(
    _ database: Database, defaults: Permissions, historyDays: Int = 0
  ) throws(SQLiteError) {
    self.database = database
    self.defaults = defaults
    self.historyDays = historyDays
    let found = try database.read {
      (connection: borrowing Connection) throws(SQLiteError) -> [Key: EntityCollection] in
      try Self.load(connection, defaults)
    }
    collections = Monitor(found)
    try indexGroups()
  }

  /// Has the groups in the columns of all collections: a version without groups did not put them there.
  private func indexGroups() throws(SQLiteError) {
    let known = collections.withLock { Array($0.values) }
    for collection in known {
      try database.write { (connection: borrowing Connection) throws(SQLiteError) in
        let isIndexed = try connection.integer(
          "SELECT groups_indexed FROM collection WHERE number = \(collection.number)")
        guard isIndexed == 0 else { return }
        try connection.execute(SQLiteSchema.indexGroups(of: collection))
      }
    }
  }

  /// The number of an app, made the first time.
  func app(_ key: String) throws(SQLiteError) -> Int64 {
    try database.write { (connection: borrowing Connection) throws(SQLiteError) -> Int64 in
      try connection.run("INSERT INTO app (key) VALUES (\(bind: key)) ON CONFLICT DO NOTHING")
      let select = try connection.statement("SELECT number FROM app WHERE key = \(bind: key)")
      return try select.step() ? select.int64(0) : 0
    }
  }

  func find(_ key: CollectionKey) -> EntityCollection? {
    collections.withLock { $0[Key(key)] }
  }

  func permissions(of key: CollectionKey) -> Permissions { permissions(of: key, find(key)) }

  /// `collection`: what was found under the key; nil: there is none.
  func permissions(of key: CollectionKey, _ collection: EntityCollection?) -> Permissions {
    key.isOwn ? key.ownPermissions : collection?.permissions ?? defaults
  }

  /// The collection, made if there is none: collections come about when they are first written to.
  func make(_ key: CollectionKey) throws(SQLiteError) -> EntityCollection {
    if let found = find(key) { return found }
    let made = try database.write {
      (connection: borrowing Connection) throws(SQLiteError) -> EntityCollection in
      try make(key, on: connection)
    }
    return collections.withLock { collections in
      if let found = collections[Key(key)] { return found }
      collections[Key(key)] = made
      return made
    }
  }

  /// Where a history is wanted it begins with the collection: it knows everything from the beginning of time.
  private func make(
    _ key: CollectionKey, on connection: borrowing Connection
  ) throws(SQLiteError) -> EntityCollection {
    var state = EntityCollection.State(permissions: defaults)
    state.knownRule = defaults.read
    if historyDays > 0, !key.isOwn {
      state.history = .on(since: .distantPast, days: historyDays)
    }
    let made = EntityCollection(
      number: try Self.insert(key, state: state, on: connection), key, state: state)
    try connection.execute(SQLiteSchema.createEntities(made.table))
    if state.history != .off { try connection.execute(SQLiteSchema.createHistory(of: made)) }
    return made
  }

  /// Sets a collection's permissions; nil: it follows the defaults again.
  func set(
    _ permissions: Permissions?, of collection: EntityCollection
  ) throws(SQLiteError) {
    try database.write { (connection: borrowing Connection) throws(SQLiteError) in
      try connection.run(
        """
        UPDATE collection SET permissions = \(bind: permissions?.json.text)
        WHERE number = \(bind: collection.number)
        """)
    }
    collection.state.withLock { $0.permissions = permissions ?? defaults }
  }

  /// Says that two collections of an app have each other's names now.
  func exchangeNames(of one: EntityCollection, _ other: EntityCollection) {
    collections.withLock {
      $0[Key(other.key)] = one.named(other.name)
      $0[Key(one.key)] = other.named(one.name)
    }
  }

  /// All collections that clients can name.
  var all: [EntityCollection] {
    collections.withLock { $0.values.filter { !$0.key.isOwn } }
  }

  /// Gives its number, or that of the collection that another thread has made meanwhile.
  private static func insert(
    _ key: CollectionKey, state: EntityCollection.State,
    on connection: borrowing Connection
  ) throws(SQLiteError) -> Int64 {
    var start: Int64?
    if case .on(let since, _) = state.history { start = since.milliseconds }
    try connection.run(
      """
      INSERT INTO collection (app, name, read_rule, history_since, groups_indexed)
      VALUES (\(bind: key.app), \(bind: key.name), \(bind: state.permissions.read.rawValue),
        \(bind: start), 1)
      ON CONFLICT DO NOTHING
      """)
    let select = try connection.statement(
      "SELECT number FROM collection WHERE app = \(bind: key.app) AND name = \(bind: key.name)")
    return try select.step() ? select.int64(0) : 0
  }

  private static func load(
    _ connection: borrowing Connection, _ defaults: Permissions
  ) throws(SQLiteError) -> [Key: EntityCollection] {
    var found: [Key: EntityCollection] = [:]
    let select = try connection.prepare(
      """
      SELECT number, app, name, permissions, history_days, history_since, read_rule, rule_since
      FROM collection
      """)
    while try select.step() {
      var state = EntityCollection.State(permissions: defaults)
      if let text = select.text(3), let value = try? JSONValue(parsing: text),
        let object = value.objectValue
      {
        // What an older version wrote and this one does not know falls back to the defaults.
        try? state.permissions.apply(object)
      }
      if !select.isNull(4) { state.wantedDays = select.int(4) }
      if !select.isNull(5) {
        state.history = .on(
          since: Timestamp(milliseconds: select.int64(5)), days: state.wantedDays ?? 0)
      }
      state.knownRule = select.text(6).flatMap(Permissions.Rule.init)
      state.ruleSince = Timestamp(milliseconds: select.int64(7))
      let key = CollectionKey(app: select.int64(1), name: select.text(2) ?? "")
      found[Key(key)] = EntityCollection(number: select.int64(0), key, state: state)
    }
    return found
  }
}
