/// Where the records of a result come from. Safe from any thread.
package protocol RecordSource: Sendable {
  var count: Int { get }

  /// Whether what is read is kept here already, or may change with each read: then nothing is kept in front of it.
  var isKept: Bool { get }

  /// Reads neighbours in one go: those of a range, or fewer, but at least the first, if they have more than
  /// `maxBytes`.
  func read(_ range: Range<Int>, maxBytes: Int) throws(StoreError) -> FetchedBatch
}

/// Records of the local store, each batch as they are when it is read.
struct LocalRecords: RecordSource {
  let local: any LocalStore
  let collection: String
  let rows: RecordRows
  let form: RecordForm

  var count: Int { rows.count }
  var isKept: Bool { false }

  func read(_ range: Range<Int>, maxBytes: Int) throws(StoreError) -> FetchedBatch {
    try local.read(rows, at: range, as: form, in: collection, maxBytes: maxBytes)
  }
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
