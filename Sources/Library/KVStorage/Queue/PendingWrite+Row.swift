internal import KVBase
internal import KVJSON
internal import KVSQLite
internal import KVSync

extension PendingWrite.Operation {
  /// How the table writes it.
  var number: Int64 {
    switch self {
    case .create: 1
    case .update: 2
    case .delete: 3
    }
  }

  init(number: Int64) {
    switch number {
    case 1: self = .create
    case 3: self = .delete
    default: self = .update
    }
  }
}

extension PendingWrite.State {
  /// How the table writes it.
  var number: Int64 {
    switch self {
    case .waiting: 0
    case .refused: 1
    case .conflict: 2
    case .backendWentBack: 3
    }
  }

  init(number: Int64) {
    switch number {
    case 1: self = .refused
    case 2: self = .conflict
    case 3: self = .backendWentBack
    default: self = .waiting
    }
  }
}

extension PendingWrite {
  /// What the column `confirmed` has for a change of a version that was confirmed when the backend had other data.
  static let ofOtherData = "other"

  /// The columns that `init(row:of:)` reads.
  static let columns =
    """
    p.id, p.operation, p.revision, p.n, p.created, p.changed, p.attempts, p.error, p.sent, p.state, p.conditional,
    p.condition, p.base IS NULL, p.confirmed, p.operators NOT NULL OR p.sent_operators NOT NULL
    """
  /// How many columns these are.
  static let columnCount: Int32 = 15

  /// Reads the first columns of the current row.
  init(row: borrowing Statement, of collection: String) {
    self.init(
      collection: collection, id: row.text(0) ?? "", operation: Operation(number: row.int64(1)),
      revision: row.int64(2), order: row.int64(3),
      createdAt: Timestamp(milliseconds: row.int64(4)),
      changedAt: Timestamp(milliseconds: row.int64(5)), attempts: row.int(6),
      lastError: row.text(7))
    isAsFirstSent = row.int64(8) == revision
    state = State(number: row.int64(9))
    isConditional = row.int64(10) != 0
    condition = row.text(11)
    isNewThere = row.int64(12) != 0
    hasOperators = row.int64(14) != 0
    let confirmed = row.text(13)
    changesOtherData = confirmed == Self.ofOtherData
    guard !changesOtherData else { return }
    wasConfirmed = confirmed != nil
    lostVersion = confirmed.flatMap { $0.isEmpty ? nil : RecordVersion($0) }
  }
}
