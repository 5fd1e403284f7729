internal import KVJSON
internal import KVSQLite
internal import KVServerCore

/// The ACLs of substreams, in the database. Safe from any thread.
final class LiveStreams: StreamStore {
  private let database: Database

  init(_ database: Database) { self.database = database }

  func acl(of stream: LiveStream, app: Int64) throws(ServerError) -> LiveStreamACL? {
    let text = try Entities.storage { () throws(SQLiteError) -> String? in
      try database.withReader { (connection: borrowing Connection) throws(SQLiteError) in
        let select = try connection.statement(StreamStatements.acl(of: stream, app: app))
        return try select.step() ? select.text(0) : nil
      }
    }
    guard let text else { return nil }
    return try LiveStreamACL(stored: text)
  }

  func acls(
    of name: String, app: Int64
  ) throws(ServerError) -> [(owner: String, acl: LiveStreamACL)] {
    let rows = try Entities.storage { () throws(SQLiteError) -> [(owner: String, acl: String)] in
      try database.withReader { (connection: borrowing Connection) throws(SQLiteError) in
        let select = try connection.statement(StreamStatements.acls(of: name, app: app))
        var rows: [(owner: String, acl: String)] = []
        while try select.step() { rows.append((select.text(0) ?? "", select.text(1) ?? "")) }
        return rows
      }
    }
    return try rows.map { (row) throws(ServerError) in
      (row.owner, try LiveStreamACL(stored: row.acl))
    }
  }

  func set(_ acl: LiveStreamACL, of stream: LiveStream, app: Int64) throws(ServerError) -> Bool {
    try Entities.storage { () throws(SQLiteError) -> Bool in
      try database.write { (connection: borrowing Connection) throws(SQLiteError) -> Bool in
        let others = try connection.statement(
          StreamStatements.countOthers(than: stream, app: app))
        guard try others.step(), others.int(0) < LiveStream.maxPerUser else { return false }
        try connection.run(StreamStatements.set(acl, of: stream, app: app))
        return true
      }
    }
  }

  func removeAll(of owner: String, app: Int64) throws(ServerError) {
    try Entities.storage { () throws(SQLiteError) in
      try database.write { (connection: borrowing Connection) throws(SQLiteError) in
        try connection.run(StreamStatements.removeAll(of: owner, app: app))
      }
    }
  }
}
