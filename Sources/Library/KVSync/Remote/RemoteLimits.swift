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
  /// Bytes of an id, which has no control characters then, and is not `.` or `..`; nil: ids are any texts.
  package var bytesPerID: Int?

  /// No backend has a lower limit for entities.
  package static let bytesOfAnyEntity = 1024
  /// Bytes of an entity as JSON, as far as the backend has told; nil: unknown.
  package var bytesPerEntity: Int?

  package init() {}

  /// Whether the backend takes an id.
  package func allowsID(_ id: String) -> Bool {
    guard let bytesPerID else { return true }
    return id.utf8.count <= bytesPerID && id != "." && id != ".."
      && id.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }
}
