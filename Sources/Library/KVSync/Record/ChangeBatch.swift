package import KVJSON

/// Some of what a backend says has changed among the entities of a query. In all batches of one read an id comes once at
/// the most: what counts is how it is now.
package enum ChangeBatch {
  /// Records that match, as they are now.
  case saved(RecordBatch)
  /// Records that were deleted.
  case deleted([Deletion])
  /// Ids of what the query may have had and has no more: it is something else now, may not be read any more, or was
  /// deleted as something else. Only some backends tell.
  case left([String])

  package struct Deletion: Sendable {
    package var id: String
    /// The version with which it was gone; nil: unknown.
    package var version: RecordVersion?

    package init(id: String, version: RecordVersion? = nil) {
      self.id = id
      self.version = version
    }
  }
}
