internal import KVBase
internal import KVJSON
internal import KVSQLite
internal import KVServerCore

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
      let select = try connection.statement(
        "SELECT floor FROM live_floor WHERE app = \(bind: app) AND epoch = \(bind: epoch)")
      guard try select.step() else {
        let history = LiveHistory(at: now)
        try connection.run(MessageStatements.forget(app: app))
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
    let select = try connection.statement(MessageStatements.list(app: app))
    while try select.step() {
      guard let about = LiveMessage.About(select.text(2) ?? "") else { continue }
      history.add(
        LiveMessage(
          time: select.int64(0), collection: select.text(1) ?? "", about: about,
          payload: try select.copy(3)))
    }
  }

  /// Adds messages, in the transaction that they tell of.
  func add(
    _ messages: [LiveMessage], of app: Int64, on connection: borrowing Connection
  ) throws(SQLiteError) {
    for message in messages {
      let payload = String(decoding: message.payload, as: UTF8.self)
      try connection.run(
        """
        INSERT INTO live_message (app, time, topic, about, payload)
        VALUES (\(bind: app), \(bind: message.time), \(bind: message.collection),
          \(bind: message.about.text), \(bind: payload))
        """)
    }
  }

  /// Says, in the transaction that is too much to tell of, that nothing is known of what was until then.
  func cut(
    _ app: Int64, at time: Int64, on connection: borrowing Connection
  ) throws(SQLiteError) {
    try connection.run(MessageStatements.forget(app: app, until: time))
    try Self.setFloor(of: app, time, epoch: epoch, on: connection)
  }

  /// Forgets what a history has forgotten. Need not be durable: it is forgotten once more when it was loaded.
  func forget(_ app: Int64, until floor: Int64) throws(ServerError) {
    let epoch = epoch
    try Entities.storage { () throws(SQLiteError) in
      try database.write(durably: false) { (connection: borrowing Connection) throws(SQLiteError) in
        try connection.run(MessageStatements.forget(app: app, until: floor))
        try Self.setFloor(of: app, floor, epoch: epoch, on: connection)
      }
    }
  }

  private static func setFloor(
    of app: Int64, _ time: Int64, epoch: String, on connection: borrowing Connection
  ) throws(SQLiteError) {
    try connection.run(
      """
      INSERT INTO live_floor (app, epoch, floor)
      VALUES (\(bind: app), \(bind: epoch), \(bind: time))
      ON CONFLICT DO UPDATE SET epoch = excluded.epoch, floor = excluded.floor
      """)
  }
}
