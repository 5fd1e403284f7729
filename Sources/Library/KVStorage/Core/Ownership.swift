internal import KVBase
internal import KVSQLite
internal import KVSync
internal import Synchronization

/// The owner of a file's data, and whether the file is still owned by the user for whom it is open.
///
/// The owner is a row of the file, so that it changes in one transaction with the data. It is looked at again when
/// another connection has committed, in the snapshot that is read or the transaction that writes; otherwise two numbers
/// are compared. Before the first claim nothing is looked at: the data is anybody's who opens the file.
final class Ownership: Sendable {
  /// The owner that the file names.
  enum Owner {
    case unowned
    case user(RecordID)
    /// The data was written by a version that did not record the owner.
    case unknown
  }

  private let isClaimed = Atomic(false)
  /// The user that the file is open for; nil: no user has logged in.
  private let user = Monitor<RecordID?>(nil)
  /// `Connection.epoch` of the writer when the owner was looked at last.
  private let epoch = Atomic<Int>(-1)

  private static let find = SQL("SELECT user FROM owner")

  static let changed = StoreError(
    .noUser,
    "The local data no longer belongs to this user: another client has logged out, or has logged in another user. Log in"
      + " again, or open a new client.")

  // MARK: For whom the file is open

  func claim(for user: RecordID?) {
    self.user.withLock { $0 = user }
    isClaimed.store(true, ordering: .releasing)
  }

  /// The data was deleted: the next user who logs in may own it.
  func release() { user.withLock { $0 = nil } }

  /// Whether what is read now may be given out. To be asked before the transaction ends, or right after a single
  /// statement.
  func isKept(reading db: borrowing Connection) throws(SQLiteError) -> Bool {
    guard isClaimed.load(ordering: .acquiring) else { return true }
    return try db.isVerified { (db: borrowing Connection) throws(SQLiteError) in
      try isKept(on: db)
    }
  }

  /// Whether the write transaction may go on.
  func isKept(writing db: borrowing Connection) throws(SQLiteError) -> Bool {
    guard isClaimed.load(ordering: .acquiring) else { return true }
    guard epoch.load(ordering: .relaxed) != db.epoch else { return true }
    guard try isKept(on: db) else { return false }
    epoch.store(db.epoch, ordering: .relaxed)
    return true
  }

  /// Data without an owner may have one by now. Data with an owner keeps it: if another client has deleted it since,
  /// what is written now would belong to the next user who logs in.
  private func isKept(on db: borrowing Connection) throws(SQLiteError) -> Bool {
    let owner = try Self.owner(on: db)
    return user.withLock { user in
      switch owner {
      case .unknown: return true
      case .unowned: return user == nil
      case .user(let owner):
        if user == nil { user = owner }
        return user == owner
      }
    }
  }

  // MARK: The row

  static func owner(on db: borrowing Connection) throws(SQLiteError) -> Owner {
    let statement = try db.statement(find)
    guard try statement.step() else { return .unowned }
    return statement.text(0).map { .user(RecordID($0)) } ?? .unknown
  }

  static func set(_ user: RecordID, on db: borrowing Connection) throws(SQLiteError) {
    try db.run("INSERT OR REPLACE INTO owner VALUES (1, \(bind: user.text))")
  }
}
