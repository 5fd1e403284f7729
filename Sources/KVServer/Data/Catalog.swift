internal import KVBase
internal import KVJSON
internal import KVSQLite

/// The collections that exist, kept in memory. The server is the only one to use its database, so this
/// is never out of date. Safe from any thread.
final class Catalog: Sendable {
  private struct Key: Hashable {
    var app: Int64
    var name: RecordID

    init(_ app: Int64, _ name: String) {
      self.app = app
      self.name = RecordID(name)
    }
  }

  private let database: Database
  private let defaults: Permissions
  private let collections: Monitor<[Key: EntityCollection]>

  /// `defaults`: for collections without permissions of their own.
  init(_ database: Database, defaults: Permissions) throws(SQLiteError) {
    self.database = database
    self.defaults = defaults
    let found = try database.read {
      (connection: borrowing Connection) throws(SQLiteError) -> [Key: EntityCollection] in
      try Self.load(connection, defaults)
    }
    collections = Monitor(found)
  }

  /// The number of an app, made the first time.
  func app(_ key: String) throws(SQLiteError) -> Int64 {
    try database.write { (connection: borrowing Connection) throws(SQLiteError) -> Int64 in
      let insert = try connection.prepare(
        "INSERT INTO app (key) VALUES (?1) ON CONFLICT DO NOTHING")
      try insert.bind(key, at: 1)
      try insert.run()
      let select = try connection.prepare("SELECT number FROM app WHERE key = ?1")
      try select.bind(key, at: 1)
      return try select.step() ? select.int64(0) : 0
    }
  }

  func find(_ name: String, of app: Int64) -> EntityCollection? {
    collections.peek { $0[Key(app, name)] }
  }

  func permissions(of name: String, of app: Int64) -> Permissions {
    find(name, of: app)?.permissions ?? defaults
  }

  /// The collection, made if there is none: collections come about when they are first written to.
  func make(_ name: String, of app: Int64) throws(SQLiteError) -> EntityCollection {
    if let found = find(name, of: app) { return found }
    let number = try database.write {
      (connection: borrowing Connection) throws(SQLiteError) -> Int64 in
      try Self.make(name, app, connection)
    }
    return collections.peek { collections in
      let key = Key(app, name)
      if let found = collections[key] { return found }
      let made = EntityCollection(
        number: number, app: app, name: name, .init(permissions: defaults))
      collections[key] = made
      return made
    }
  }

  /// nil: the collection has no permissions of its own any more.
  func set(_ permissions: Permissions?, of name: String, of app: Int64) throws(SQLiteError) {
    let collection = try make(name, of: app)
    try database.write { (connection: borrowing Connection) throws(SQLiteError) in
      let update = try connection.prepare(
        "UPDATE collection SET permissions = ?2 WHERE number = ?1")
      try update.bind(collection.number, at: 1)
      try update.bind(permissions?.json.text, at: 2)
      try update.run()
    }
    collection.state.peek { $0.permissions = permissions ?? defaults }
  }

  /// All collections that clients can name.
  var all: [EntityCollection] {
    collections.peek { $0.filter { $0.key.name != RecordID(Schema.users) }.map(\.value) }
  }

  private static func make(
    _ name: String, _ app: Int64, _ connection: borrowing Connection
  ) throws(SQLiteError) -> Int64 {
    let insert = try connection.prepare(
      "INSERT INTO collection (app, name) VALUES (?1, ?2) ON CONFLICT DO NOTHING")
    try insert.bind(app, at: 1)
    try insert.bind(name, at: 2)
    try insert.run()
    let select = try connection.prepare(
      "SELECT number FROM collection WHERE app = ?1 AND name = ?2")
    try select.bind(app, at: 1)
    try select.bind(name, at: 2)
    let number = try select.step() ? select.int64(0) : 0
    try connection.execute(Schema.createEntities("e\(number)"))
    return number
  }

  private static func load(
    _ connection: borrowing Connection, _ defaults: Permissions
  ) throws(SQLiteError) -> [Key: EntityCollection] {
    var found: [Key: EntityCollection] = [:]
    let select = try connection.prepare(
      "SELECT number, app, name, permissions, history_days, history_since FROM collection")
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
      let (app, name) = (select.int64(1), select.text(2) ?? "")
      found[Key(app, name)] = EntityCollection(
        number: select.int64(0), app: app, name: name, state)
    }
    return found
  }
}
