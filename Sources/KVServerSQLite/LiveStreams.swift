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
        let select = try connection.statement(
          """
          SELECT acl FROM stream
          WHERE app = \(bind: app) AND name = \(bind: stream.name) AND owner = \(bind: stream.owner)
          """)
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
        let select = try connection.statement(
          """
          SELECT owner, acl FROM stream WHERE app = \(bind: app) AND name = \(bind: name)
          ORDER BY owner
          """)
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
          """
          SELECT count(*) FROM stream
          WHERE app = \(bind: app) AND name <> \(bind: stream.name) AND owner = \(bind: stream.owner)
          """)
        guard try others.step(), others.int(0) < LiveStream.maxPerUser else { return false }
        try connection.run(
          """
          INSERT INTO stream (app, name, owner, acl)
          VALUES (\(bind: app), \(bind: stream.name), \(bind: stream.owner), \(bind: acl.json.text))
          ON CONFLICT DO UPDATE SET acl = excluded.acl
          """)
        return true
      }
    }
  }

  func removeAll(of owner: String, app: Int64) throws(ServerError) {
    try Entities.storage { () throws(SQLiteError) in
      try database.write { (connection: borrowing Connection) throws(SQLiteError) in
        try connection.run(
          "DELETE FROM stream WHERE app = \(bind: app) AND owner = \(bind: owner)")
      }
    }
  }
}
