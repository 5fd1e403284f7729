package import KVJSON

/// The outcome of one request that the backend carried out.
package indirect enum RemoteOutcome: Sendable, Equatable {
  /// The entity as the backend stored it.
  case stored([UInt8])
  /// The same, where the backend had another version than the one that the write names, and merged the two. `followsFailure`: an
  /// earlier attempt may have made that version.
  case merged([UInt8], followsFailure: Bool = false)
  /// One result for each entity of a `createMany`, in its order.
  case storedMany([Result<[UInt8], StoreError>])
  /// How many were deleted; 0 when it was not there (404). `at`: the version that the deletion made; nil: unknown.
  case deleted(Int, at: RecordVersion? = nil)
  /// The outcomes of the writes of a `batch`, in its order.
  case batch([Result<RemoteOutcome, StoreError>])
}
