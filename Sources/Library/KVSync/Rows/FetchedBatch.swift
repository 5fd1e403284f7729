internal import KVBase

/// Records that were read together: neighbours in a result, as JSON texts, each followed by a NUL.
///
/// `@unchecked Sendable`: filled by who made it, and never changed afterwards.
package final class FetchedBatch: @unchecked Sendable {
  /// What a record costs beside its text.
  private static let overhead = 40

  /// The position of the first record.
  package let start: Int
  private let texts = RowBuffer()
  private var states: [RecordState] = []
  /// Why a record cannot be shown, by its position.
  private var failures: [Int: StoreError] = [:]
  /// Whether all records were read: else another attempt may give more.
  package private(set) var isWhole = true

  package init(from start: Int) { self.start = start }

  package var range: Range<Int> { start..<start + states.count }

  /// The number of bytes that it takes.
  package var size: Int { texts.size + states.count * Self.overhead }

  package func append(_ text: UnsafeRawBufferPointer, _ state: RecordState) throws(StoreError) {
    try texts.add(text)
    states.append(state)
  }

  package func append(_ text: [UInt8], _ state: RecordState) throws(StoreError) {
    try text.withBorrowedBytes { (text) throws(StoreError) in try append(text, state) }
  }

  /// Adds a record that is not there any more.
  package func appendDeleted() throws(StoreError) { try append(Self.null, .deleted) }

  /// Adds a record that cannot be shown.
  package func append(_ failure: StoreError) throws(StoreError) {
    failures[range.upperBound] = failure
    try append(Self.null, .unchanged)
  }

  /// Says why a record could not be read this time.
  package func setMissing(_ failure: StoreError, at position: Int) {
    failures[position] = failure
    isWhole = false
  }

  package func state(at position: Int) -> RecordState { states[position - start] }

  /// The text of a record, valid as long as the batch; `null` of one that was deleted. Throws what is wrong with it.
  package func text(at position: Int) throws(StoreError) -> UnsafeRawBufferPointer {
    if let failure = failures[position] { throw failure }
    return texts[position - start]
  }

  private static let null = Array("null".utf8)
}
