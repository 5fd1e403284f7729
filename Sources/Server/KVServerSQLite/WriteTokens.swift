internal import KVBase
internal import KVSQLite
internal import KVServerCore

/// The tokens of the writes of one principal to a collection. They are stored in the transaction of their write.
struct WriteTokens {
  private let collection: EntityCollection
  private let owner: Int64

  init(_ collection: EntityCollection, _ viewer: Viewer) {
    self.collection = collection
    owner = WriteToken.owner(viewer.principal)
  }

  /// What an earlier write of this entity with this token has done; nil: there was none.
  func find(
    _ token: WriteToken, of id: String, on connection: borrowing Connection
  ) throws(SQLiteError) -> DoneWrite? {
    let key = token.key(of: id, in: collection.name)
    let rows = try connection.statement(
      """
      SELECT kind, at FROM write_token
      WHERE high = \(bind: key.high) AND low = \(bind: key.low) AND owner = \(bind: owner)
        AND app = \(bind: collection.app)
      """)
    guard try rows.step() else { return nil }
    return DoneWrite(kind: rows.int64(0), at: rows.int64(1))
  }

  func add(
    _ done: DoneWrite, _ token: WriteToken, of id: String, on connection: borrowing Connection
  ) throws(SQLiteError) {
    let key = token.key(of: id, in: collection.name)
    try connection.run(
      """
      INSERT INTO write_token (app, high, low, owner, at, kind)
      VALUES (\(bind: collection.app), \(bind: key.high), \(bind: key.low), \(bind: owner),
        \(bind: done.at.milliseconds), \(bind: done.kind.rawValue))
      """)
  }

  /// Forgets some of those that are older than `limit`, or too many. False: there are no more.
  static func forget(
    before limit: Timestamp, on connection: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    try connection.run(
      """
      DELETE FROM write_token WHERE n IN (
        SELECT n FROM write_token ORDER BY n LIMIT \(bind: WriteToken.forgottenAtOnce))
        AND (at < \(bind: limit.milliseconds)
          OR n <= (SELECT max(n) FROM write_token) - \(bind: WriteToken.maxCount))
      """)
    return Int64(connection.changes) == WriteToken.forgottenAtOnce
  }
}
