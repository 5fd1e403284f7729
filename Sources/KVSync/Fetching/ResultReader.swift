package import KVBase
package import KVQuery

/// Reads of a local store for results that load little by little. Safe from any thread.
package protocol ResultReader: AnyObject, Sendable {
  /// The rows of the records that match, in the query's order.
  func rows(
    of query: Query, in collection: String, writtenSince: Timestamp?, within budget: WorkBudget
  ) throws(StoreError) -> RecordRows

  /// The rows of the records with these ids, in their order; those that are not there are left out.
  func rows(of ids: [String], in collection: String) throws(StoreError) -> RecordRows

  /// Reads some of the records, as they are now and at one moment: those of a range, or fewer, but at least the first,
  /// if they have more than `maxBytes`.
  func read(
    _ rows: RecordRows, at range: Range<Int>, as form: RecordForm, in collection: String,
    maxBytes: Int
  ) throws(StoreError) -> FetchedBatch
}
