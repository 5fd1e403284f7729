internal import KVJSON
internal import KVServerCore

/// The access lists of substreams. Safe from any thread.
final class PostgresStreams: StreamStore {
  private let writer: AppWriter
  private var database: PostgresDatabase { writer.database }

  init(_ writer: AppWriter) { self.writer = writer }

  func acl(of stream: LiveStream, app: Int64) throws(ServerError) -> LiveStreamACL? {
    let rows = try storage { () throws(PostgresError) in
      try database.read(StreamStatements.acl(of: stream, app: app))
    }
    return rows.isEmpty ? nil : try LiveStreamACL(stored: rows.text(0, 0))
  }

  func acls(
    of name: String, app: Int64
  ) throws(ServerError) -> [(owner: String, acl: LiveStreamACL)] {
    let rows = try storage { () throws(PostgresError) in
      try database.read(StreamStatements.acls(of: name, app: app))
    }
    var acls: [(owner: String, acl: LiveStreamACL)] = []
    for row in 0..<rows.count {
      acls.append((rows.text(row, 0), try LiveStreamACL(stored: rows.text(row, 1))))
    }
    return acls
  }

  func set(_ acl: LiveStreamACL, of stream: LiveStream, app: Int64) throws(ServerError) -> Bool {
    let others: SQL = StreamStatements.countOthers(than: stream, app: app)
    return try writer.write(app: app, reading: [others]) { (transaction, rows) in
      guard rows[0].int64(0, 0) < LiveStream.maxPerUser else { return false }
      transaction.enqueue(StreamStatements.set(acl, of: stream, app: app))
      return true
    }
  }

  func removeAll(of owner: String, app: Int64) throws(ServerError) {
    try storage { () throws(PostgresError) in
      try database.run(StreamStatements.removeAll(of: owner, app: app))
    }
  }
}
