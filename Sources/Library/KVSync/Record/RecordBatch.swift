internal import KVBase
package import KVJSON

/// Records as a backend sent them: a text, and where in it each record is. The text is borrowed, for the duration of the
/// call that it came with.
///
/// Some backends keep deletions among their records, and give them with what a query or ids have brought. They are no
/// proof of what is gone: an answer may be older than what is here, which their versions tell.
package struct RecordBatch {
  package let bytes: UnsafeRawBufferPointer
  /// Where the records are, each with its id.
  package private(set) var outlines: [EntityOutline]
  /// What the answer says was deleted, whether a query would have selected it or not.
  package let deletions: [ChangeBatch.Deletion]
  /// When the backend evaluated the answer, and which data it read; nil: it does not say before the end of the answer.
  package var moment: BackendMoment?

  package init(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline],
    deletions: [ChangeBatch.Deletion] = [], moment: BackendMoment? = nil
  ) {
    self.bytes = bytes
    self.outlines = outlines
    self.deletions = deletions
    self.moment = moment
  }

  package var count: Int { outlines.count }

  /// The bytes of one of its records.
  package func record(_ outline: EntityOutline) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[outline.range])
  }

  /// The records that `isWanted` selects.
  package func filtered(
    _ isWanted: (UnsafeRawBufferPointer) throws(StoreError) -> Bool
  ) throws(StoreError) -> RecordBatch {
    var kept: [EntityOutline] = []
    for outline in outlines where try isWanted(record(outline)) { kept.append(outline) }
    return RecordBatch(bytes, kept, deletions: deletions, moment: moment)
  }

  /// Throws `.proto` if one of its records has no id.
  func checked() throws(StoreError) -> RecordBatch {
    guard outlines.allSatisfy({ $0.id != nil }) else { throw .entityWithoutId }
    return self
  }

  /// The ids of all records. Throws `.proto` if one has none.
  package func ids() throws(StoreError) -> [String] {
    try outlines.map { (outline) throws(StoreError) in
      guard let id = outline.id else { throw .entityWithoutId }
      return id
    }
  }
}

extension RecordBatch {
  /// Lends the records of a JSON array to `body`, as one batch. Throws `.proto` for what is none.
  package static func lend(
    _ array: [UInt8], _ format: RecordFormat = .default,
    deletions: [ChangeBatch.Deletion] = [],
    to body: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) {
    let outlines: [EntityOutline]
    do throws(JSONError) { outlines = try EntityScanner.outlines(ofArray: array, format) } catch {
      throw .badAnswer(error)
    }
    try array.withBorrowedBytes { (bytes) throws(StoreError) in
      try body(RecordBatch(bytes, outlines, deletions: deletions))
    }
  }
}
