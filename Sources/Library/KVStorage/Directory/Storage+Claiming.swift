package import KVBase
internal import KVSQLite
package import KVSync

extension Storage {
  /// What happens to the data of another user than the one who claims it.
  package enum Takeover: Sendable {
    /// The former user's data is deleted.
    case deleting
    /// The data stays: all users of the device have one set of data.
    case sharing
    /// The data and its pending writes become the claimant's.
    case adopting
  }

  /// The owner of the data; nil: it has none yet. `former`: the user who was logged in before owners were recorded.
  package func owner(former: RecordID?) throws(StoreError) -> RecordID? {
    try readUnclaimed { (db: borrowing Connection) throws(SQLiteError) in
      try Self.owner(former, on: db)
    }
  }

  /// How many writes wait to be sent, whosever they are.
  package func unsentCount() throws(StoreError) -> Int {
    try readUnclaimed { (db: borrowing Connection) throws(SQLiteError) in try Self.unsent(on: db) }
  }

  /// Makes `user` the owner of the data, which is used for that user from now on; nil: no user is logged in, and the
  /// owner stays. Every other call fails with `.noUser` once the data belongs to another user.
  ///
  /// Throws `.pending`, and changes nothing, if another user's writes wait, unless they are adopted.
  package func claim(
    for user: RecordID?, _ takeover: Takeover, former: RecordID?
  ) throws(StoreError) {
    guard let user else { return ownership.claim(for: try owner(former: former)) }
    if try !isOwned(by: user, former) {
      let (unsent, hasDeleted) = try writeUnclaimed {
        (db: borrowing Connection) throws(SQLiteError) -> (Int, Bool) in
        try Self.changeOwner(to: user, takeover, former: former, on: db)
      }
      guard unsent == 0 else { throw Self.unsent(unsent) }
      if hasDeleted { eraseDeleted() }
    }
    // Data that is read-only and has no owner stays so.
    ownership.claim(for: database.isReadOnly ? try owner(former: former) : user)
  }

  /// Another user's writes are in the way of a login.
  package static func unsent(_ count: Int) -> StoreError {
    StoreError(
      .pending,
      "\(count) writes of another user are pending: push them as that user, or export and drop them, before"
        + " another one logs in. If the account is gone, a login with the option adopt makes them the new user's."
    )
  }

  /// Whether nothing has to be written for a claim. Read-only data without an owner is the claimant's.
  private func isOwned(by user: RecordID, _ former: RecordID?) throws(StoreError) -> Bool {
    if database.isReadOnly { return try owner(former: former) ?? user == user }
    return try readUnclaimed { (db: borrowing Connection) throws(SQLiteError) -> Bool in
      guard case .user(user) = try Ownership.owner(on: db) else { return false }
      return true
    }
  }

  private static func owner(
    _ former: RecordID?, on db: borrowing Connection
  ) throws(SQLiteError) -> RecordID? {
    switch try Ownership.owner(on: db) {
    case .unowned: nil
    case .user(let owner): owner
    case .unknown: former
    }
  }

  static func unsent(on db: borrowing Connection) throws(SQLiteError) -> Int {
    Int(try db.integer("SELECT count(*) FROM pending") ?? 0)
  }

  /// Gives how many of another user's writes are in the way, and whether data was deleted.
  private static func changeOwner(
    to user: RecordID, _ takeover: Takeover, former: RecordID?, on db: borrowing Connection
  ) throws(SQLiteError) -> (unsent: Int, hasDeleted: Bool) {
    var hasDeleted = false
    if let owner = try owner(former, on: db), owner != user {
      let unsent = takeover == .adopting ? 0 : try unsent(on: db)
      guard unsent == 0 else { return (unsent, false) }
      hasDeleted = takeover == .deleting
      if hasDeleted { try deleteAll(on: db) }
      // The backend knows the tokens of its own users only: what was sent is sent again as what came of it.
      try db.execute(
        "UPDATE pending SET operators = NULL, sent_operators = NULL WHERE sent_operators NOT NULL")
      // This user may see other entities, and the changes since the last read would not tell.
      try db.execute("DELETE FROM requests")
    }
    try Ownership.set(user, on: db)
    return (0, hasDeleted)
  }
}
