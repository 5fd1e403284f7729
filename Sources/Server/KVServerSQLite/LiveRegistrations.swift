internal import KVSQLite
internal import KVServerCore

/// The registrations and subscriptions of live data, in the database. Safe from any thread.
final class LiveRegistrations: RegistrationStore {
  private let database: Database

  init(_ database: Database) { self.database = database }

  func all() throws(ServerError) -> [LiveRegistration] {
    try Entities.storage { () throws(SQLiteError) in try database.read(Self.all) }
  }

  private static func all(
    _ connection: borrowing Connection
  ) throws(SQLiteError) -> [LiveRegistration] {
    let all: SQLFragment = "\(RegistrationStatements.select) ORDER BY rowid"
    let select = try connection.prepare(all)
    var rows: [LiveRegistration] = []
    while try select.step() {
      rows.append(
        LiveRegistration(
          app: select.int64(0), user: select.text(1) ?? "", device: select.text(2) ?? "",
          collection: select.text(3) ?? "", session: select.text(4),
          seen: select.isNull(5) ? nil : select.int64(5)))
    }
    return rows
  }

  func forgetEnded(at now: Int64) throws(ServerError) {
    try run(RegistrationStatements.removeEnded)
    try run(RegistrationStatements.setSeen(now))
  }

  func forget(seenBefore moment: Int64) throws(ServerError) {
    try run(RegistrationStatements.remove(seenBefore: moment))
  }

  func add(_ row: LiveRegistration) throws(ServerError) { try run(RegistrationStatements.add(row)) }

  func register(
    _ device: String, of user: String, app: Int64, session token: String, at now: Int64
  ) throws(ServerError) {
    try run(RegistrationStatements.register(device, of: user, app: app, session: token, at: now))
  }

  func recordActivity(
    _ device: String, of user: String, app: Int64, seen now: Int64
  ) throws(ServerError) {
    try run(RegistrationStatements.recordActivity(device, of: user, app: app, seen: now))
  }

  func devices(
    of user: String, app: Int64, in sessions: SessionSubset
  ) throws(ServerError) -> [String] {
    try texts(RegistrationStatements.devices(of: user, app: app, in: sessions))
  }

  func remove(_ row: LiveRegistration) throws(ServerError) {
    try run(RegistrationStatements.remove(row))
  }

  func remove(device: String, of user: String, app: Int64) throws(ServerError) {
    try run(RegistrationStatements.remove(device: device, of: user, app: app))
  }

  func removeAll(of user: String, app: Int64, collection: String) throws(ServerError) {
    try run(RegistrationStatements.removeAll(of: user, app: app, collection: collection))
  }

  func users(of collection: String, app: Int64) throws(ServerError) -> [String] {
    try texts(RegistrationStatements.users(of: collection, app: app))
  }

  func removeAll(of user: String, app: Int64) throws(ServerError) {
    try run(RegistrationStatements.removeAll(of: user, app: app))
  }

  // MARK: Parts

  private func texts(_ sql: SQLFragment) throws(ServerError) -> [String] {
    try Entities.storage { () throws(SQLiteError) -> [String] in
      try database.withReader { (connection: borrowing Connection) throws(SQLiteError) in
        let select = try connection.statement(sql)
        var texts: [String] = []
        while try select.step() { texts.append(select.text(0) ?? "") }
        return texts
      }
    }
  }

  private func run(_ sql: SQLFragment) throws(ServerError) {
    try Entities.storage { () throws(SQLiteError) in
      try database.write { (connection: borrowing Connection) throws(SQLiteError) in
        try connection.run(sql)
      }
    }
  }
}
