internal import KVJSON
internal import KVServerCore

/// The access lists of substreams. Safe from any thread.
final class PostgresStreams: StreamStore {
  private let writer: AppWriter
  private var database: PostgresDatabase { writer.database }

  init(_ writer: AppWriter) { self.writer = writer }

  func acl(of stream: LiveStream, app: Int64) throws(ServerError) -> LiveStreamACL? {
    let rows = try storage { () throws(PostgresError) in
      try database.read(
        """
        SELECT acl FROM stream
        WHERE app = \(bind: app) AND name = \(bind: stream.name) AND owner = \(bind: stream.owner)
        """)
    }
    return rows.isEmpty ? nil : try LiveStreamACL(stored: rows.text(0, 0))
  }

  func acls(
    of name: String, app: Int64
  ) throws(ServerError) -> [(owner: String, acl: LiveStreamACL)] {
    let rows = try storage { () throws(PostgresError) in
      try database.read(
        """
        SELECT owner, acl FROM stream WHERE app = \(bind: app) AND name = \(bind: name)
        ORDER BY owner
        """)
    }
    var acls: [(owner: String, acl: LiveStreamACL)] = []
    for row in 0..<rows.count {
      acls.append((rows.text(row, 0), try LiveStreamACL(stored: rows.text(row, 1))))
    }
    return acls
  }

  func set(_ acl: LiveStreamACL, of stream: LiveStream, app: Int64) throws(ServerError) -> Bool {
    let others: SQL = """
      SELECT count(*) FROM stream
      WHERE app = \(bind: app) AND name <> \(bind: stream.name) AND owner = \(bind: stream.owner)
      """
    return try writer.write(app: app, reading: [others]) { (transaction, rows) in
      guard rows[0].int64(0, 0) < LiveStream.maxPerUser else { return false }
      transaction.enqueue(
        """
        INSERT INTO stream (app, name, owner, acl)
        VALUES (\(bind: app), \(bind: stream.name), \(bind: stream.owner), \(bind: acl.json.text))
        ON CONFLICT (app, name, owner) DO UPDATE SET acl = excluded.acl
        """)
      return true
    }
  }

  func removeAll(of owner: String, app: Int64) throws(ServerError) {
    try storage { () throws(PostgresError) in
      try database.run("DELETE FROM stream WHERE app = \(bind: app) AND owner = \(bind: owner)")
    }
  }
}
