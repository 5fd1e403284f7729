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
      MemberStatements.users(in: write.id, app: app),
      MemberStatements.isFormer(write.id, app: app),
    ]
    let result = try writer.write(app: app, reading: reading) {
      (transaction, rows) throws(PostgresError) -> Result<WrittenEntity?, ServerError> in
      if !write.isDelete, !rows[3].isEmpty { return .failure(.formerGroup) }
      let state = try collections.make(collections.state(key, rows[0], for: claim), in: transaction)
      guard let number = state.number else { throw PostgresError(.other, "there are no groups") }
      // No device can subscribe to groups.
      var groups = EntityWriter(transaction, state, number: number, stored: rows[1])
      let result = try groups.perform(write, for: viewer)
      if case .success = result {
        let former = (0..<rows[2].count).map { rows[2].text($0, 0) }
        Self.apply(MembershipChange(from: former, to: members), to: write.id, in: transaction)
        if write.isDelete {
          transaction.enqueue(MemberStatements.keepID(of: write.id, app: app))
        }
      }
      return result
    }
    return try result.get()
  }

  private static func apply(
    _ change: MembershipChange, to group: String, in transaction: AppWriter.Transaction
  ) {
    guard !change.isEmpty else { return }
    let app = transaction.app
    transaction.enqueue(
      """
      INSERT INTO group_member (app, usr, grp)
      SELECT \(bind: app), usr, \(bind: group) FROM unnest(\(bind: change.joined)) AS usr
      """)
    transaction.enqueue(MemberStatements.remove(change.left, from: group, app: app))
    transaction.enqueue(MemberStatements.noteRights(of: change, app: app, at: transaction.now))
  }
}
