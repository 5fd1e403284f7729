/// The limits of one request to a backend.
package struct RemoteLimits: Sendable, Equatable {
  /// How many requests it carries at once; with 1 all come from one thread.
  package var connections = 1
  /// Records of an answer. What exceeds them is left out: see `ReadAnswer.mayBeCut`.
  package var recordsPerAnswer = 10_000
  /// Ids that a query names.
  package var idsPerQuery = 100
  /// New entities of a `createMany`.
  package var createsPerRequest = 100
  /// Writes of any kind in a `batch`; 1: only creates go together.
  package var writesPerBatch = 1

  package init() {}
}
