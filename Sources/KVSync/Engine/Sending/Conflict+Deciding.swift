internal import KVJSON

/// What a write has met on the backend, and what is known here.
struct ConflictResolver {
  let format: RecordFormat
  /// What would be sent; nil: a deletion.
  let ours: [UInt8]?
  let base: [UInt8]?
  let theirs: RemoteVersion
  let tried: [RemoteVersion]
  /// Whether it is known that others have made what is there.
  var isOthers = false
  /// Whether the backend was asked to match a filter: then it may have refused what has not changed since.
  var isCondition = false

  enum Verdict: Equatable {
    /// There is nothing left to send: what is there is what was wanted.
    case done
    /// The backend's entity replaces ours.
    case take
    /// Ours replaces what is there, whatever that is.
    case overwrite
    /// Ours is sent over what is there.
    case again(RebasedChange)
    /// Nothing decides it.
    case open
  }

  /// First what is no conflict, then what the strategy says.
  func verdict(_ strategy: ConflictStrategy) throws(StoreError) -> Verdict {
    if !isOthers, try isDone() { return .done }
    if try isOurOwn() { return .again(.unchanged) }
    if !isCondition, try isUnchanged() { return .again(.unchanged) }
    switch strategy {
    case .clientWins: return .overwrite
    case .serverWins: return .take
    case .merge: return try merge()
    case .optimistic, .handler: return .open
    }
  }

  /// An earlier attempt was carried out and its answer was lost, or somebody else has done the same.
  private func isDone() throws(StoreError) -> Bool {
    switch (ours, theirs) {
    case (nil, .gone): return true
    case (nil, .entity), (_?, .gone): return false
    case (let ours?, .entity(let bytes)):
      return try entity(bytes).isSame(as: ours, startedFrom: base.map(entity))
    }
  }

  /// Whether the backend's entity is one that we sent before and have changed since.
  private func isOurOwn() throws(StoreError) -> Bool {
    guard let bytes = theirs.bytes else { return tried.contains(.gone) }
    return try entity(bytes).isSameContent(asOneOf: tried)
  }

  /// Somebody has saved it there without changing it.
  private func isUnchanged() throws(StoreError) -> Bool {
    guard let base, let bytes = theirs.bytes else { return false }
    return try entity(bytes).isSame(as: entity(base))
  }

  private func merge() throws(StoreError) -> Verdict {
    guard let ours, let bytes = theirs.bytes,
      let merged = try EntityMerge.merged(base: base, ours: ours, theirs: bytes, format: format)
    else { return .open }
    // Whatever we have changed, they have too.
    if try entity(bytes).isSame(as: merged, startedFrom: nil) { return .take }
    return .again(.replaced(merged))
  }

  private func entity(_ bytes: [UInt8]) throws(StoreError) -> BackendEntity {
    try BackendEntity(bytes, format)
  }
}
