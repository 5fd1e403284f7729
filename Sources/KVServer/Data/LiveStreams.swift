internal import KVJSON
internal import KVSQLite

/// Keeps the ACLs of substreams. Safe from any thread.
final class LiveStreams: Sendable {
  /// A user who has more substreams than this may change those he has.
  static let maxPerUser: Int64 = 1000

  private let database: Database

  init(_ database: Database) { self.database = database }

  /// The ACL of a substream; nil: its owner has never set one.
  func acl(of stream: LiveStream, app: Int64) throws(ServerError) -> LiveStreamACL? {
    let text = try Entities.storage { () throws(SQLiteError) -> String? in
      try database.withReader { (connection: borrowing Connection) throws(SQLiteError) in
        let select = try connection.statement(Self.select)
        try Self.bind(stream, app, to: select)
        return try select.step() ? select.text(0) : nil
      }
    }
    guard let text else { return nil }
    return try Self.acl(text)
  }

  private static func acl(_ text: String) throws(ServerError) -> LiveStreamACL {
    guard let object = try? JSONValue(parsing: text).objectValue else {
      throw ServerError(.internalErrorStop, cause: "the ACL of a stream is not JSON")
    }
    return try LiveStreamACL(object)
  }

  /// The owners of a stream's substreams for which `isWanted` says so, in the order of their ids.
  func owners(
    of name: String, app: Int64, where isWanted: (LiveStream, LiveStreamACL) -> Bool
  ) throws(ServerError) -> [String] {
    let rows = try Entities.storage { () throws(SQLiteError) -> [(owner: String, acl: String)] in
      try database.withReader { (connection: borrowing Connection) throws(SQLiteError) in
        let select = try connection.statement(Self.selectAll)
        try select.bind(app, at: 1)
        try select.bind(name, at: 2)
        var rows: [(owner: String, acl: String)] = []
        while try select.step() { rows.append((select.text(0) ?? "", select.text(1) ?? "")) }
        return rows
      }
    }
    var owners: [String] = []
    for row in rows where isWanted(LiveStream(name, of: row.owner), try Self.acl(row.acl)) {
      owners.append(row.owner)
    }
    return owners
  }

  /// False: the owner has too many.
  func set(_ acl: LiveStreamACL, of stream: LiveStream, app: Int64) throws(ServerError) -> Bool {
    try Entities.storage { () throws(SQLiteError) -> Bool in
      try database.write { (connection: borrowing Connection) throws(SQLiteError) -> Bool in
        let count = try connection.statement(Self.count)
        try Self.bind(stream, app, to: count)
        guard try count.step(), count.int64(0) < Self.maxPerUser else { return false }
        let upsert = try connection.statement(Self.upsert)
        try Self.bind(stream, app, to: upsert)
        try upsert.bind(acl.json.text, at: 4)
        try upsert.run()
        return true
      }
    }
  }

  func removeAll(of owner: String, app: Int64) throws(ServerError) {
    try Entities.storage { () throws(SQLiteError) in
      try database.write { (connection: borrowing Connection) throws(SQLiteError) in
        let delete = try connection.statement(Self.deleteUser)
        try delete.bind(app, at: 1)
        try delete.bind(owner, at: 2)
        try delete.run()
      }
    }
  }

  private static func bind(
    _ stream: LiveStream, _ app: Int64, to statement: borrowing Statement
  ) throws(SQLiteError) {
    try statement.bind(app, at: 1)
    try statement.bind(stream.name, at: 2)
    try statement.bind(stream.owner, at: 3)
  }

  private static let select = SQL(
    "SELECT acl FROM stream WHERE app = ?1 AND name = ?2 AND owner = ?3")
  private static let selectAll = SQL(
    "SELECT owner, acl FROM stream WHERE app = ?1 AND name = ?2 ORDER BY owner")
  private static let count = SQL(
    "SELECT count(*) FROM stream WHERE app = ?1 AND name <> ?2 AND owner = ?3")
  private static let upsert = SQL(
    "INSERT INTO stream (app, name, owner, acl) VALUES (?1, ?2, ?3, ?4)"
      + " ON CONFLICT DO UPDATE SET acl = excluded.acl")
  private static let deleteUser = SQL("DELETE FROM stream WHERE app = ?1 AND owner = ?2")
}
