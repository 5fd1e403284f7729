/// A moment in the life of a collection, which rows carry that are written from then on.
package struct RefreshMark: Sendable, Equatable {
  package var generation: Int64
  package init(generation: Int64) { self.generation = generation }
}
