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

  /// Whether operators have made what would be sent.
  var isCounted = false

  /// How lists are merged.
  var rules = MergeRules()
  /// Whether the backend may have an earlier attempt in what is there.
  var mayHaveArrived = false

  /// Whether the backend has taken the write, and merged it with what it had: `theirs` came of both.
  var isMerged = false

  enum Verdict: Equatable {
    /// There is nothing left to send: what is there is what was wanted, or what the backend has made of it.
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

  struct Decision: Equatable {
    var verdict: Verdict
    /// What it gives up: something of ours, something of theirs, or nothing.
    var lost: EntityMerge.Side?

    init(_ verdict: Verdict, losing lost: EntityMerge.Side? = nil) {
      (self.verdict, self.lost) = (verdict, lost)
    }
  }

  /// First what is no conflict, then what the strategy says.
  func decision(_ strategy: ConflictStrategy) throws(StoreError) -> Decision {
    if isMerged { return try decisionAfterMerging(strategy) }
    if !isOthers, try isDone() { return Decision(.done) }
    if try isOurOwn() { return Decision(.again(.unchanged)) }
    if !isCondition, try isUnchanged() { return Decision(.again(.unchanged)) }
    switch strategy {
    case .clientWins: return Decision(.overwrite, losing: .theirs)
    case .serverWins: return Decision(.take, losing: try takingLosesOurs() ? .ours : nil)
    case .merge: return Decision(try merge())
    case .automerge: return try automerge()
    case .optimistic, .handler: return Decision(.open)
    }
  }

  /// An earlier attempt was carried out and its answer was lost, or others have done the same.
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

  /// It was saved on the backend without a change.
  private func isUnchanged() throws(StoreError) -> Bool {
    guard let base, let bytes = theirs.bytes else { return false }
    return try entity(bytes).isSame(as: entity(base))
  }

  private func merge() throws(StoreError) -> Verdict {
    guard let (merged, theirs, _) = try merged(winner: nil) else { return .open }
    // Whatever we have changed, they have too.
    if try entity(theirs).isSame(as: merged, startedFrom: nil) { return .take }
    return .again(.replaced(merged))
  }

  /// Where one has deleted what the other has changed, the backend wins.
  private func automerge() throws(StoreError) -> Decision {
    guard let (merged, theirs, hasLost) = try merged(winner: .theirs) else {
      return Decision(.take, losing: .ours)
    }
    let lost: EntityMerge.Side? = hasLost ? .ours : nil
    if try entity(theirs).isSame(as: merged, startedFrom: nil) {
      return Decision(.take, losing: lost)
    }
    return Decision(.again(.replaced(merged)), losing: lost)
  }

  /// Whether theirs lacks something that was changed here.
  private func takingLosesOurs() throws(StoreError) -> Bool {
    guard let (merged, theirs, hasLost) = try merged(winner: .theirs) else { return true }
    if hasLost { return true }
    return try !entity(theirs).isSame(as: merged, startedFrom: nil)
  }

  /// A backend that merges keeps what it had against what is sent, also where no other client has changed that.
  private func decisionAfterMerging(
    _ strategy: ConflictStrategy
  ) throws(StoreError) -> Decision {
    if isCounted, try isDone() { return Decision(.done) }
    let winner: EntityMerge.Side = strategy == .clientWins ? .ours : .theirs
    guard let (merged, theirs, hasLost) = try merged(winner: winner) else { return Decision(.done) }
    let lost = hasLost ? winner.other : nil
    guard try !entity(theirs).isSame(as: merged, startedFrom: nil) else {
      return Decision(hasLost && strategy.leavesOpen ? .open : .done, losing: lost)
    }
    switch strategy {
    case .clientWins, .automerge: return Decision(.again(.replaced(merged)), losing: lost)
    case .serverWins: return Decision(.done, losing: .ours)
    case .merge where !hasLost: return Decision(.again(.replaced(merged)))
    case .merge, .optimistic, .handler: return Decision(.open)
    }
  }

  /// Nil if one of them is a deletion, or if both have changed the same member and no side wins.
  private func merged(
    winner: EntityMerge.Side?
  ) throws(StoreError) -> (merged: [UInt8], theirs: [UInt8], hasLost: Bool)? {
    guard let ours, let theirs = theirs.bytes else { return nil }
    var merge = EntityMerge(
      format, winner: winner, isAppended: isMerged, isCounted: isCounted, rules: rules,
      mayHaveArrived: mayHaveArrived)
    guard let merged = try merge.merged(base: base, ours: ours, theirs: theirs) else { return nil }
    return (merged, theirs, merge.hasLost)
  }

  private func entity(_ bytes: [UInt8]) throws(StoreError) -> BackendEntity {
    try BackendEntity(bytes, format)
  }
}

extension EntityMerge.Side {
  fileprivate var other: EntityMerge.Side { self == .ours ? .theirs : .ours }
}

extension ConflictStrategy {
  /// Whether the application decides what the strategy does not.
  fileprivate var leavesOpen: Bool {
    switch self {
    case .merge, .optimistic, .handler: true
    case .clientWins, .serverWins, .automerge: false
    }
  }
}
