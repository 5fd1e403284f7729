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

  enum Verdict: Equatable {
    /// There is nothing left to send: what is there is what was wanted.
    case done
    /// What is there replaces ours.
    case take
    /// Ours replaces what is there, whatever that is.
    case overwrite
    /// Ours is sent over what is there.
    case again(RebasedChange)
    /// Nothing decides it.
    case open
  }

  /// First what is no conflict, then what the strategy says.
  func verdict(_ strategy: ConflictStrategy) -> Verdict {
    if isDone, !isOthers { return .done }
    if isOurOwn || isUnchanged { return .again(.unchanged) }
    switch strategy {
    case .clientWins: return .overwrite
    case .serverWins: return .take
    case .merge: return merge
    case .optimistic, .handler: return .open
    }
  }

  /// An earlier attempt was carried out and its answer was lost, or somebody else has done the same.
  private var isDone: Bool {
    switch (ours, theirs) {
    case (nil, .gone): true
    case (nil, .entity), (_?, .gone): false
    case (let ours?, .entity(let bytes)):
      entity(bytes).isSame(as: ours, startedFrom: base.map(entity))
    }
  }

  /// What is there is what we have sent before, and have changed since.
  private var isOurOwn: Bool {
    tried.contains { tried in
      switch (tried, theirs) {
      case (.gone, .gone): true
      case (.entity(let sent), .entity(let bytes)): entity(bytes).isSameContent(as: sent)
      case (.gone, .entity), (.entity, .gone): false
      }
    }
  }

  /// Somebody has saved it there without changing it.
  private var isUnchanged: Bool {
    guard let base, let bytes = theirs.bytes else { return false }
    return entity(bytes).isSame(as: entity(base))
  }

  private var merge: Verdict {
    guard let ours, let bytes = theirs.bytes,
      let merged = EntityMerge.merged(base: base, ours: ours, theirs: bytes, format: format)
    else { return .open }
    // Whatever we have changed, they have too.
    if entity(bytes).isSame(as: merged, startedFrom: nil) { return .take }
    return .again(.replaced(merged))
  }

  private func entity(_ bytes: [UInt8]) -> BackendEntity { BackendEntity(bytes, format) }
}
