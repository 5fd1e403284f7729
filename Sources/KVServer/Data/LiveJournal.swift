internal import KVBase
internal import KVJSON
internal import KVSQLite

/// Keeps the messages of Live Service in the database, each in the transaction of the write that it tells of: a server
/// that was started again knows what it had to tell. Safe from any thread.
final class LiveJournal: LiveHistoryStore, Sendable {
  private let database: Database
  /// The epoch of the data: messages of another epoch say nothing about it.
  private let epoch: String

  init(_ database: Database, epoch: String) {
    self.database = database
    self.epoch = epoch
  }

  /// The messages of an app, as far as a history keeps them; what is older than these is forgotten. `now`: since when
  /// everything is known if there are none.
  func history(of app: Int64, at now: Timestamp) throws(ServerError) -> LiveHistory {
    try Entities.storage { () throws(SQLiteError) in try load(app, at: now) }
  }

  private func load(_ app: Int64, at now: Timestamp) throws(SQLiteError) -> LiveHistory {
    let epoch = epoch
    return try database.write { (connection: borrowing Connection) throws(SQLiteError) in
      let select = try connection.statement(Self.selectFloor)
      try select.bind(app, at: 1)
      try select.bind(epoch, at: 2)
      guard try select.step() else {
        let history = LiveHistory(at: now)
        try Self.forget(app, until: .max, on: connection)
        try Self.setFloor(of: app, history.floor, epoch: epoch, on: connection)
        return history
      }
      var history = LiveHistory(at: now, since: select.int64(0))
      try Self.load(app, into: &history, on: connection)
      return history
    }
  }

  private static func load(
    _ app: Int64, into history: inout LiveHistory, on connection: borrowing Connection
  ) throws(SQLiteError) {
    let select = try connection.statement(selectAll)
    try select.bind(app, at: 1)
    while try select.step() {
      guard let about = LiveMessage.About(select.text(2) ?? "") else { continue }
      history.add(
        LiveMessage(
          time: select.int64(0), collection: select.text(1) ?? "", about: about,
          payload: select.copy(3)))
    }
  }

  /// Adds messages, in the transaction that they tell of.
  func add(
    _ messages: [LiveMessage], of app: Int64, on connection: borrowing Connection
  ) throws(SQLiteError) {
    for message in messages {
      let insert = try connection.statement(Self.insert)
      try insert.bind(app, at: 1)
      try insert.bind(message.time, at: 2)
      try insert.bind(message.collection, at: 3)
      try insert.bind(message.about.text, at: 4)
      try insert.bind(String(decoding: message.payload, as: UTF8.self), at: 5)
      try insert.run()
    }
  }

  /// Says, in the transaction that is too much to tell of, that nothing is known of what was until then.
  func cut(
    _ app: Int64, at time: Int64, on connection: borrowing Connection
  ) throws(SQLiteError) {
    try Self.forget(app, until: time, on: connection)
    try Self.setFloor(of: app, time, epoch: epoch, on: connection)
  }

  /// Forgets what a history has forgotten. Need not be durable: it is forgotten once more when it was loaded.
  func forget(_ app: Int64, until floor: Int64) throws(ServerError) {
    let epoch = epoch
    try Entities.storage { () throws(SQLiteError) in
      try database.write(durably: false) { (connection: borrowing Connection) throws(SQLiteError) in
        try Self.forget(app, until: floor, on: connection)
        try Self.setFloor(of: app, floor, epoch: epoch, on: connection)
      }
    }
  }

  private static func forget(
    _ app: Int64, until time: Int64, on connection: borrowing Connection
  ) throws(SQLiteError) {
    let delete = try connection.statement(deleteUntil)
    try delete.bind(app, at: 1)
    try delete.bind(time, at: 2)
    try delete.run()
  }

  private static func setFloor(
    of app: Int64, _ time: Int64, epoch: String, on connection: borrowing Connection
  ) throws(SQLiteError) {
    let upsert = try connection.statement(upsertFloor)
    try upsert.bind(app, at: 1)
    try upsert.bind(epoch, at: 2)
    try upsert.bind(time, at: 3)
    try upsert.run()
  }

  private static let selectFloor = SQL(
    "SELECT floor FROM live_floor WHERE app = ?1 AND epoch = ?2")
  private static let upsertFloor = SQL(
    "INSERT INTO live_floor (app, epoch, floor) VALUES (?1, ?2, ?3)"
      + " ON CONFLICT DO UPDATE SET epoch = excluded.epoch, floor = excluded.floor")
  private static let selectAll = SQL(
    "SELECT time, topic, about, payload FROM live_message WHERE app = ?1 ORDER BY time")
  private static let insert = SQL(
    "INSERT INTO live_message (app, time, topic, about, payload) VALUES (?1, ?2, ?3, ?4, ?5)")
  private static let deleteUntil = SQL("DELETE FROM live_message WHERE app = ?1 AND time <= ?2")
}
