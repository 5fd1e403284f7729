/// Rows as they move from one store to another: values of SQL, without what is a store's own, such as the numbers of apps and
/// collections.
package enum TransferValue: Sendable, Equatable {
  case null
  case integer(Int64)
  case flag(Bool)
  case bytes([UInt8])
  case texts([[UInt8]])

  /// What a column has.
  package enum Kind: Sendable { case integer, flag, bytes, texts }
}

/// The tables whose rows move one by one.
package enum TransferTable: Sendable, CaseIterable {
  case accounts, formerUsers, sessions, groupMembers, listeners, messages, streams, writeTokens
  case entities, deletions, formerAccess

  /// The tables of an app; those of a collection.
  package static let ofApps: [TransferTable] = allCases.filter { !$0.isOfCollections }
  package static let ofCollections: [TransferTable] = allCases.filter(\.isOfCollections)

  package var isOfCollections: Bool {
    switch self {
    case .entities, .deletions, .formerAccess: true
    case .accounts, .formerUsers, .sessions, .groupMembers, .listeners, .messages, .streams,
      .writeTokens:
      false
    }
  }

  /// The columns that come first in each row, and tell it from all others; rows are in their order.
  package var keyCount: Int {
    switch self {
    case .accounts, .formerUsers, .sessions, .messages, .entities: 1
    case .groupMembers, .streams, .deletions, .formerAccess: 2
    case .listeners, .writeTokens: 3
    }
  }

  /// What the columns have, without the body.
  package var kinds: [TransferValue.Kind] {
    let access: [TransferValue.Kind] = [.bytes, .flag, .flag, .texts, .texts]
    return switch self {
    case .accounts: [.bytes, .bytes, .bytes, .flag, .integer, .integer, .bytes, .integer]
    case .formerUsers: [.bytes]
    case .sessions:
      [.bytes, .bytes, .integer, .integer, .integer, .bytes, .bytes, .integer]
    case .groupMembers: [.bytes, .bytes]
    case .listeners: [.bytes, .bytes, .bytes, .bytes, .integer]
    case .messages: [.integer, .bytes, .bytes]
    case .streams: [.bytes, .bytes, .bytes]
    case .writeTokens: [.integer, .integer, .integer, .integer, .integer]
    case .entities: [.bytes, .integer, .integer, .integer] + access
    case .deletions, .formerAccess: [.integer, .bytes] + access
    }
  }

  /// Whether a row has a body: bytes that may be many.
  package var hasBody: Bool {
    switch self {
    case .entities, .deletions, .messages: true
    case .accounts, .formerUsers, .sessions, .groupMembers, .listeners, .streams, .writeTokens,
      .formerAccess:
      false
    }
  }

  /// Besides the key: a column whose value no two rows of the place share.
  package var uniqueColumn: Int? {
    switch self {
    case .accounts, .entities: 1
    case .formerUsers, .sessions, .groupMembers, .listeners, .messages, .streams, .writeTokens,
      .deletions, .formerAccess:
      nil
    }
  }
}

package struct TransferRow: Sendable {
  package var values: [TransferValue]
  /// Nil: there is none, or only its digest was read.
  package var body: [UInt8]?
  /// SHA-256 of the body; empty if there is none.
  package var digest: [UInt8]

  package init(_ values: [TransferValue], body: [UInt8]?, digest: [UInt8]) {
    self.values = values
    self.body = body
    self.digest = digest
  }

  func isSame(as other: TransferRow) -> Bool { values == other.values && digest == other.digest }
}

/// Whose rows are meant.
package struct TransferPlace: Sendable {
  package let app: String
  /// Nil: rows of the app itself.
  package var collection: String?

  package init(app: String, collection: String? = nil) {
    self.app = app
    self.collection = collection
  }
}

/// A collection with its settings, as stores keep them.
package struct TransferCollection: Sendable, Equatable {
  package var name: String
  package var permissions: String?
  package var historyDays: Int64?
  package var historySince: Int64?
  package var readRule: String?
  package var ruleSince: Int64
  /// The specifications of its indexes, in the order in which they were added.
  package var indexes: [String]

  package init(
    name: String, permissions: String?, historyDays: Int64?, historySince: Int64?,
    readRule: String?, ruleSince: Int64, indexes: [String]
  ) {
    self.name = name
    self.permissions = permissions
    self.historyDays = historyDays
    self.historySince = historySince
    self.readRule = readRule
    self.ruleSince = ruleSince
    self.indexes = indexes
  }
}

/// Times of an app.
package struct TransferClock: Sendable, Equatable {
  /// No time that was given out is later.
  package var latest: Int64
  /// Live messages after this are complete; 0: not known.
  package var liveFloor: Int64

  package init(latest: Int64, liveFloor: Int64) {
    self.latest = latest
    self.liveFloor = liveFloor
  }
}

/// Data that can be read row by row. One thread at a time. Throws what is wrong, as a sentence for the administrator.
package protocol TransferReader: AnyObject {
  /// Names the data: see `ServerStore`.
  var epoch: String { get }

  /// In the order of their bytes.
  func apps() throws(TransferFailure) -> [String]

  /// Those of an app, the server's own included, in the order of their names' bytes.
  func collections(of app: String) throws(TransferFailure) -> [TransferCollection]

  func clock(of app: String) throws(TransferFailure) -> TransferClock

  /// The time of the last write to an entity of an app that can be told from the data, in milliseconds; 0: there is none.
  func lastWrite(to app: String) throws(TransferFailure) -> Int64

  /// The rows after a key, in the order of the keys; some of them, and none at the end.
  func rows(
    of table: TransferTable, in place: TransferPlace, after key: [TransferValue]?
  ) throws(TransferFailure) -> [TransferRow]
}

/// Data that other data is moved to.
package protocol TransferTarget: TransferReader {
  /// The time of the last write that an earlier run has moved here, which has moved all, in milliseconds; nil: none has. Otherwise
  /// nothing can be moved here: servers may use it.
  var movedUntil: Int64? { get }

  /// Makes an app, and collections with these settings; removes all other collections of the app, and all indexes.
  func prepare(
    _ app: String, _ collections: [TransferCollection]
  ) throws(TransferFailure)

  /// Removes the rows with these keys, then adds rows, in one transaction.
  func change(
    _ table: TransferTable, in place: TransferPlace, removing keys: [[TransferValue]],
    adding rows: [TransferRow]
  ) throws(TransferFailure)

  /// Adds and fills the indexes of an app's collections, and sets its times.
  func complete(
    _ app: String, _ collections: [TransferCollection], clock: TransferClock
  ) throws(TransferFailure)

  /// Says that all is there: from now on servers may use it. What clients remember of `epoch` is true of it. `latest`: the
  /// time of the last write.
  func finish(epoch: String, latest: Int64) throws(TransferFailure)
}

package struct TransferFailure: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}
