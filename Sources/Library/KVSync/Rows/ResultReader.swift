package import KVBase
package import KVJSON
package import KVQuery

/// Reads of a local store for results that load little by little. Safe from any thread.
package protocol ResultReader: AnyObject, Sendable {
  /// The rows of the records that match, in the query's order.
  func rows(
    of query: Query, in collection: String, writtenSince: Timestamp?, within budget: WorkBudget
  ) throws(StoreError) -> RecordRows

  /// The rows of the records with these ids, in their order, with the places of those that are not there.
  func rows(of ids: [String], in collection: String) throws(StoreError) -> RecordRows

  /// Which version of the backend's each record with one of these ids has or started from; nil where that is not known.
  func backendVersions(
    of ids: [String], in collection: String
  ) throws(StoreError) -> [RecordVersion?]

  /// Begins to follow a query whose result were these rows. `signal` is called, from any thread and with no lock held,
  /// whenever there may be other ones, until that is ended.
  func follow(
    _ rows: RecordRows, of query: Query, in collection: String,
    _ signal: @escaping @Sendable () -> Void
  ) throws(StoreError) -> any FollowedRows

  /// Reads some of the records, as they are now and at one moment: those of a range, or fewer, but at least the first,
  /// if they have more than `maxBytes`.
  func read(
    _ rows: RecordRows, at range: Range<Int>, as form: RecordForm, in collection: String,
    maxBytes: Int
  ) throws(StoreError) -> FetchedBatch
}

/// The rows of a query that is followed. One thread at a time, except `end`.
package protocol FollowedRows: AnyObject, Sendable {
  /// The rows as they are now, and what leads to them from those that were given last; nil: they are the same. After an
  /// error the next call makes up for what was missed.
  func changes() throws(StoreError) -> (rows: RecordRows, changes: ListChanges)?

  /// Gives no more signals. From any thread.
  func end()
}
