internal import KVQuery

/// Where the records of a result come from. Safe from any thread.
package protocol RecordSource: Sendable {
  var count: Int { get }

  /// Whether what is read is kept here already, or may change with each read: then nothing is kept in front of it.
  var isKept: Bool { get }

  /// Reads neighbours in one go: those of a range, or fewer, but at least the first, if they have more than
  /// `maxBytes`.
  func read(_ range: Range<Int>, maxBytes: Int) throws(StoreError) -> FetchedBatch

  /// Begins to follow the query that has found the records. Throws `.unsupported` if nothing tells of its changes.
  func follow(
    _ signal: @escaping @Sendable () -> Void
  ) throws(StoreError) -> any FollowedRecords
}

extension RecordSource {
  package func follow(
    _ signal: @escaping @Sendable () -> Void
  ) throws(StoreError) -> any FollowedRecords {
    throw StoreError(
      .unsupported, "Only what a query has found in the local data can be followed.")
  }
}

/// Records whose query is followed. One thread at a time, except `end`.
package protocol FollowedRecords: AnyObject, Sendable {
  /// The records that the query finds now, and what leads to them from those that were given last; nil: they are the same.
  func changes() throws(StoreError) -> (records: any RecordSource, changes: ListChanges)?

  /// Gives no more signals. From any thread.
  func end()
}

/// Records of the local store, each batch as they are when it is read.
struct LocalRecords: RecordSource {
  let local: any LocalStore
  let collection: String
  var rows: RecordRows
  let form: RecordForm
  /// What has found them; nil: the backend has, in its own way.
  let query: Query?

  var count: Int { rows.count }
  var isKept: Bool { false }

  func read(_ range: Range<Int>, maxBytes: Int) throws(StoreError) -> FetchedBatch {
    try local.read(rows, at: range, as: form, in: collection, maxBytes: maxBytes)
  }

  func follow(
    _ signal: @escaping @Sendable () -> Void
  ) throws(StoreError) -> any FollowedRecords {
    guard let query else {
      throw StoreError(.unsupported, "A page that the backend has chosen cannot be followed.")
    }
    return FollowedLocalRecords(
      self, try local.follow(rows, of: query, in: collection, signal))
  }
}

/// `@unchecked Sendable`: one thread at a time, as `FollowedRecords` demands.
private final class FollowedLocalRecords: FollowedRecords, @unchecked Sendable {
  private var records: LocalRecords
  private let followed: any FollowedRows

  init(_ records: LocalRecords, _ followed: any FollowedRows) {
    self.records = records
    self.followed = followed
  }

  func changes() throws(StoreError) -> (records: any RecordSource, changes: ListChanges)? {
    guard let next = try followed.changes() else { return nil }
    records.rows = next.rows
    return (records, next.changes)
  }

  func end() { followed.end() }
}

/// Records that are held in memory: groups, and what a network store's backend answered.
package struct HeldRecords: RecordSource {
  private let records: FetchedBatch

  package init(_ records: FetchedBatch) { self.records = records }

  package init(_ texts: [[UInt8]]) throws(StoreError) {
    records = FetchedBatch(from: 0)
    for text in texts { try records.append(text, .unchanged) }
  }

  package var count: Int { records.range.count }
  package var isKept: Bool { true }

  package func read(_ range: Range<Int>, maxBytes: Int) -> FetchedBatch { records }
}
