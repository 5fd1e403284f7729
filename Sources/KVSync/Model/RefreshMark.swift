/// A place in the life of a collection: rows written before it are older.
package struct RefreshMark: Sendable, Equatable {
  package var generation: Int64
  package init(generation: Int64) { self.generation = generation }
}
