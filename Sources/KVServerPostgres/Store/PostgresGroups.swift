internal import KVBase
internal import KVServerCore

/// The groups of users: an entity that clients see, and rows that say who is in it, written in one transaction. Safe
/// from any thread.
final class PostgresGroups: UserGroupStore {
  private let writer: AppWriter
  private let collections: PostgresCollections

  init(_ writer: AppWriter, _ collections: PostgresCollections) {
    self.writer = writer
    self.collections = collections
  }

  func perform(
    _ write: EntityWrite, members: [String], for principal: Principal, app: Int64
  ) throws(ServerError) -> WrittenEntity? {
    let viewer = Viewer(principal: principal, permissions: .sharedByACL)
    let claim = Claim.principal(principal)
    let key = CollectionKey.groups(of: app)
    let reading: [SQL] = [
      CollectionState.select(key, for: claim), StoredRow.select([write.id], in: key),
      AccountStatements.members(of: write.id, app: app),
    ]
    let result = try writer.write(app: app, reading: reading) {
      (transaction, rows) throws(PostgresError) -> Result<WrittenEntity?, ServerError> in
      let state = try collections.make(collections.state(key, rows[0], for: claim), in: transaction)
      guard let number = state.number else { throw PostgresError(.other, "there are no groups") }
      // Nobody can subscribe to groups.
      var groups = EntityWriter(transaction, state, number: number, stored: rows[1])
      let result = try groups.perform(write, for: viewer)
      if case .success = result {
        let former = (0..<rows[2].count).map { rows[2].text($0, 0) }
        Self.set(members, of: write.id, former: former, in: transaction)
      }
      return result
    }
    return try result.get()
  }

  private static func set(
    _ members: [String], of group: String, former: [String],
    in transaction: AppWriter.Transaction
  ) {
    let (former, wanted) = (Set(former.map { RecordID($0) }), Set(members.map { RecordID($0) }))
    let joined = wanted.subtracting(former).map(\.text)
    let left = former.subtracting(wanted).map(\.text)
    guard !joined.isEmpty || !left.isEmpty else { return }
    let app = transaction.app
    transaction.enqueue(
      """
      INSERT INTO group_member (app, usr, grp)
      SELECT \(bind: app), usr, \(bind: group) FROM unnest(\(bind: joined)) AS usr
      """)
    transaction.enqueue(
      """
      DELETE FROM group_member
      WHERE app = \(bind: app) AND grp = \(bind: group) AND usr = ANY(\(bind: left))
      """)
    // Who has read before has a time that is not later than this transaction's.
    transaction.enqueue(
      """
      UPDATE account SET rights_since = \(bind: transaction.now.milliseconds + 1)
      WHERE app = \(bind: app) AND id = ANY(\(bind: joined + left))
      """)
  }
}
