/// A moment in the life of a collection: what is written or deleted from then on is known to be later, whichever process
/// does it.
package struct RefreshMark: Sendable, Equatable {
  /// Rows that are written from then on carry this number, or a larger one.
  package var generation: Int64
  /// The number of the latest tombstone: those that are made from then on have a larger one.
  package var tombstone: Int64

  /// Later than all that is here.
  package static let latest = RefreshMark(generation: .max, tombstone: .max)

  package init(generation: Int64, tombstone: Int64) {
    self.generation = generation
    self.tombstone = tombstone
  }
}
