/// What became of a record between the fetch and the moment when it was read.
package enum RecordState: Int32, Sendable {
  case unchanged = 0
  /// The record was changed; it is shown as it was when it was read.
  case changed = 1
  case deleted = 2
}
