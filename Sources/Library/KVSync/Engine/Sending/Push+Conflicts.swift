internal import KVBase
internal import KVJSON
internal import KVQuery

/// How a push notices that others were faster, and what it does about it.
extension Push {
  /// A write that has met another version than the one that it changes.
  struct Conflicted {
    let sent: OutgoingWrite
    let refusal: StoreError
    /// Nil: not asked yet.
    var theirs: RemoteVersion?
    /// Whether the backend has taken the write, and merged it with what it had.
    var isMerged = false

    /// Whether no earlier attempt can have reached the backend.
    var isFirstAttempt: Bool {
      sent.write.attempts == 1 && sent.write.isAsFirstSent && !refusal.followsFailure
    }
  }

  // MARK: Noticing

  /// Gives updates and deletions the condition that the backend still has what they started from: all of them, or with
  /// `clientWins` those that were made on a condition. Where the backend keeps conditions, `clientWins` has them too, to
  /// know what it replaces, except in the last round: the client wins in any case.
  ///
  /// Of a backend that is not known to keep conditions, what it has is read first: what differs is a
  /// conflict. A write of others between that read and ours goes unnoticed.
  ///
  /// One that merges would take an earlier attempt, which was carried out although its answer was lost, for a write of others, and
  /// keep it against what was changed here since. So what it has of such writes is read as well.
  ///
  /// A deletion of what was saved here and, as far as the queue knows, never sent starts from no version: it has no condition that a
  /// backend could keep. So what it would delete is read first, too: others may have made it under the same id. If nothing is there, the
  /// deletion is done without a request, which could only meet what others make meanwhile; what was sent and arrives later is
  /// removed when it is seen (`Arrivals`).
  func conditioned(
    _ outgoing: [OutgoingWrite], isLast: Bool
  ) throws(StoreError) -> (ready: [OutgoingWrite], conflicts: [Conflicted]) {
    let winsAnyway = call.conflicts == .clientWins
    let comparesAll = !winsAnyway || (remote.keepsConditions && !isLast)
    guard
      comparesAll || outgoing.contains(where: { $0.write.isConditional || $0.operators != nil })
    else {
      return (outgoing, [])
    }
    var ready: [OutgoingWrite] = []
    var tried: [RecordID: [RemoteVersion]] = [:]
    for var sent in outgoing {
      // What operators have made of one version replaces no other one.
      let compares = comparesAll || sent.write.isConditional || sent.operators != nil
      if sent.carriedOut == nil, sent.write.operation != .create, compares {
        // Changed since it was taken up: its turn comes with the next push.
        guard let now = try local.pending(sent.write.id, in: engine.collection),
          now.write.revision == sent.write.revision
        else {
          if winsAnyway, !sent.write.isConditional, sent.operators == nil { ready.append(sent) }
          continue
        }
        sent.condition = RemoteCondition(
          base: now.base, sent.write.operation, format: engine.format)
        if let filter = now.write.condition, remote.evaluatesConditions {
          sent.condition = try sent.condition.matching(filter)
        }
        if remote.sendsDifferences {
          sent.base = now.base
          if !now.tried.isEmpty { tried[RecordID(sent.write.id)] = now.tried }
        }
      }
      ready.append(sent)
    }
    // Asked before anything is read: the first answer of a service may be what tells that it keeps them.
    let backendDecides = remote.keepsConditions
    let asked = ready.filter {
      $0.condition != .none
        && (!backendDecides || tried[RecordID($0.write.id)] != nil || $0.deletesUnseen)
    }
    guard !asked.isEmpty else { return (ready, []) }
    let theirs = try backendEntities(asked.map(\.write.id))
    var conflicts: [Conflicted] = []
    var rest: [OutgoingWrite] = []
    for sent in ready {
      let key = RecordID(sent.write.id)
      let found = theirs[key]
      let isOurOwn = try found?.isSameContent(asOneOf: tried[key] ?? []) ?? false
      // A backend that keeps conditions decides itself, except about our own writes.
      let isDecidedHere = !sent.condition.holds(for: found) && (isOurOwn || !backendDecides)
      guard isDecidedHere || sent.deletesUnseen else {
        rest.append(sent)
        continue
      }
      conflicts.append(
        Conflicted(
          sent: sent, refusal: .conflict(sent.write.id, isGone: found == nil),
          theirs: found.map { .entity($0.bytes) } ?? .gone))
    }
    return (rest, conflicts)
  }

  // MARK: Deciding

  /// Decides conflicts as the call's strategy says; what it leaves open is set aside. Gives the writes to
  /// send again.
  mutating func settle(_ conflicts: [Conflicted]) throws(StoreError) -> [PendingWrite] {
    guard !conflicts.isEmpty else { return [] }
    let unknown = conflicts.filter { $0.theirs == nil }.map(\.sent.write.id)
    let found = try backendEntities(unknown)
    // A refusal may be the first to tell that the backend has other data than what was changed.
    try answered.note(in: local, engine.collection)
    var round = Round()
    var replaced: [Replaced] = []
    var again: [PendingWrite] = []
    for conflict in conflicts {
      let write = conflict.sent.write
      let key = RecordID(write.id)
      let theirs = conflict.theirs ?? found[key].map { .entity($0.bytes) } ?? .gone
      guard let now = try local.pending(write.id, in: engine.collection),
        now.write.revision == write.revision
      else { continue }
      if conflict.sent.operators != nil {
        switch try operated(conflict, theirs, now: now) {
        case .again(let change):
          guard try local.rebase(write, onto: theirs, as: change, replacesUnseen: false) else {
            continue
          }
          if let now = try local.pending(write.id, in: engine.collection) {
            again.append(now.write)
          }
          continue
        case .done:
          round.confirmed.append(noted(AcceptedWrite(write, stored: theirs.bytes)))
          continue
        default: try local.turnIntoWhole(write.id, in: engine.collection)
        }
      }
      // What was sent before the entity was removed, and arrives after it was saved again, is our own as well.
      let late = try local.tombstone(of: write.id, in: engine.collection)?.sent ?? []
      let base = if let known = now.base { known } else { try startedFrom(theirs, conflict.sent) }
      let meeting = ConflictResolver(
        format: engine.format, ours: conflict.sent.body, base: base, theirs: theirs,
        tried: now.tried + late.map { .entity($0) },
        isOthers: try isOfOthers(conflict, theirs), isCondition: conflict.sent.condition.isFilter,
        isCounted: conflict.sent.operators != nil, rules: call.mergeRules,
        mayHaveArrived: !remote.keepsTokens && !conflict.isFirstAttempt,
        isMerged: conflict.isMerged)
      // The condition of what was merged has held.
      var strategy = conflict.isMerged ? call.conflicts : call.conflicts.holding(write)
      let fate =
        if now.write.changesOtherData || engine.format.versionsOnlyRise, strategy != .clientWins,
          let base
        {
          try local.fate(ofChange: base, meeting: theirs, in: engine.collection)
        } else {
          LostBaseFate?.none
        }
      // The backend has lost the version that was changed: no other client has decided against it.
      if fate != nil { strategy = .optimistic }
      var decision = try meeting.decision(strategy)
      if decision.verdict == .open, fate == .sentAgain { decision = .init(.again(.unchanged)) }
      if decision.verdict == .open, let newest = engine.format.newest(of: write, and: theirs) {
        decision = newest
      }
      if decision.lost == .ours, call.keepsDiscarded { decision = .init(.open) }
      if conflict.sent.mayHaveReplaced { tellOverwritten(write) }
      switch decision.verdict {
      case .done:
        round.confirmed.append(noted(AcceptedWrite(write, stored: theirs.bytes)))
        if decision.lost == .ours { tellDiscarded(write, conflict.sent.body, for: theirs) }
      case .take:
        // A condition that did not hold is told also where the same is there.
        let isLoss = decision.lost != nil || write.isConditional && !write.wasConfirmed
        replaced.append(Replaced(sent: conflict.sent, theirs: theirs, isLoss: isLoss))
      case .overwrite, .again:
        let change: RebasedChange =
          if case .again(let change) = decision.verdict { change } else { .unchanged }
        // They have our own earlier version, or ours is to be merged into theirs: what it replaces is told now.
        if decision.lost == nil { tellOverwritten(write) }
        guard
          try local.rebase(
            write, onto: theirs, as: change, replacesUnseen: decision.lost == .theirs)
        else { continue }
        if decision.lost == .ours { tellDiscarded(write, conflict.sent.body, for: theirs) }
        if let now = try local.pending(write.id, in: engine.collection) { again.append(now.write) }
      case .open:
        round.theirs[key] = theirs
        fail(write, conflict.refusal.asConflict(isGone: theirs == .gone), round: &round)
      }
    }
    try write(round)
    if !replaced.isEmpty { try acceptRemote(replaced) }
    return again
  }

  /// What the operators of a write make of what it has met; nil: they do not fit it, or the backend may have them already, and the entity
  /// that they have made meets what is there like any other.
  private func operated(
    _ conflict: Conflicted, _ theirs: RemoteVersion, now: PendingDetail
  ) throws(StoreError) -> ConflictResolver.Verdict? {
    guard let operators = conflict.sent.operators, conflict.sent.isFirstOfOperators,
      !conflict.refusal.followsFailure || recognisesRepeats, !now.write.changesOtherData,
      let bytes = theirs.bytes, let json = try? JSONValue(parsing: operators.updates)
    else { return nil }
    let (updates, operated): (EntityUpdates, [UInt8])
    do throws(QueryError) {
      updates = try EntityUpdates(json, engine.format)
      operated = try updates.apply(to: bytes, now: engine.clock()) ?? bytes
    } catch {
      return nil
    }
    guard conflict.isMerged, let ours = conflict.sent.body else {
      return .again(.operated(operated))
    }
    let left = try EntityMerge.left(
      of: operated, base: now.base, ours: ours, theirs: bytes, engine.format,
      call.mergeRules.appending(at: updates.pushedPaths))
    return left.map { .again(.operated($0)) } ?? .done
  }

  /// Whether what a conditional write has met is others' work, though it may look the same: the write was never sent
  /// before, or it was to insert and what is there is another user's.
  private func isOfOthers(_ conflict: Conflicted, _ theirs: RemoteVersion) throws(StoreError)
    -> Bool
  {
    let sent = conflict.sent
    guard sent.write.isConditional, !sent.write.wasConfirmed else { return false }
    if conflict.isFirstAttempt { return true }
    guard sent.condition == .isMissing, let there = theirs.bytes else { return false }
    return try !BackendEntity(there, engine.format).isMade(by: user)
  }

  /// What the backend has, if an update or a deletion that has no base started from it all the same; else nil. An entity that has
  /// left the filter of a pull is not here any more when it is saved again. The saved entity, or its tombstone, says which
  /// version was here last.
  private func startedFrom(
    _ theirs: RemoteVersion, _ sent: OutgoingWrite
  ) throws(StoreError) -> [UInt8]? {
    guard sent.write.operation != .create, !sent.write.isConditional, let bytes = theirs.bytes,
      let version = engine.format.version(of: bytes)
    else { return nil }
    if sent.body.flatMap({ engine.format.version(of: $0) }) == version { return bytes }
    let tombstone = try local.tombstone(of: sent.write.id, in: engine.collection)
    return tombstone?.localVersion == version ? bytes : nil
  }

  private struct Replaced {
    let sent: OutgoingWrite
    let theirs: RemoteVersion
    /// Whether something of ours is given up.
    let isLoss: Bool
  }

  private mutating func acceptRemote(_ replaced: [Replaced]) throws(StoreError) {
    try engine.sendGate.fence.settling(replaced.map(\.sent.write.id)) { () throws(StoreError) in
      try local.acceptRemote(replaced.map { ($0.sent.write, $0.theirs) })
    }
    for one in replaced {
      call.replaced(one.sent.write, one.sent.body)
      // What was changed since it was sent is still to be sent.
      let isLeft = try local.pending(one.sent.write.id, in: engine.collection) != nil
      if one.isLoss, !isLeft { tellDiscarded(one.sent.write, one.sent.body, for: one.theirs) }
    }
    engine.releaseUnkept(replaced.map(\.sent.write.id))
    call.progress.update { $0.entitiesDone += UInt64(replaced.count) }
  }
}

extension OutgoingWrite {
  /// Whether it deletes whatever version the backend has.
  fileprivate var deletesUnseen: Bool { write.operation == .delete && condition == .isMissing }
}

extension ConflictStrategy {
  /// What happens to one write: what was made on a condition replaces nothing else, and is not merged with it.
  fileprivate func holding(_ write: PendingWrite) -> ConflictStrategy {
    // What the backend had confirmed is not given up for what it went back to.
    if write.wasConfirmed { return .optimistic }
    return switch self {
    case .clientWins, .merge: write.isConditional ? .optimistic : self
    case .automerge: write.isConditional ? .serverWins : self
    case .serverWins, .optimistic, .handler: self
    }
  }
}

extension RemoteCondition {
  /// That the backend has what a change started from; no condition where records have no versions. A change whose version is not
  /// known, because it was never sent or a write was given up, conflicts with whatever is there.
  init(base: [UInt8]?, _ operation: PendingWrite.Operation, format: RecordFormat) {
    if let version = base.flatMap({ format.version(of: $0) }) {
      self = .version(version)
    } else if (operation == .delete || base != nil) && format.version.isEmpty {
      self = .none
    } else {
      self = .isMissing
    }
  }

  /// The same for a record that also has to match a filter. What is new there has nothing to match.
  func matching(_ filter: String) throws(StoreError) -> RemoteCondition {
    guard case .version(let version) = self else { return self }
    do throws(QueryError) {
      // Without the parts that demand nothing.
      return .matches(try Query(filter: filter).filter.deciding([], by: []), version)
    } catch {
      throw StoreError(error)
    }
  }

  var isFilter: Bool { if case .matches = self { true } else { false } }

  /// Whether it holds for what the backend has. What a deletion finds gone is as it should be.
  func holds(for found: BackendEntity?) -> Bool {
    switch self {
    case .none: true
    case .version(let version), .matches(_, let version): found?.version == version
    case .isMissing: found == nil
    }
  }
}

extension StoreError {
  static func conflict(_ id: String, isGone: Bool) -> StoreError {
    var error = StoreError(
      .conflict,
      isGone
        ? "The entity was changed locally and deleted on the backend."
        : "The entity was changed locally and, differently, on the backend.")
    error.id = id
    return error
  }

  /// The backend's refusal of a condition, as what it means.
  func asConflict(isGone: Bool) -> StoreError {
    var error = StoreError.conflict(id ?? "", isGone: isGone)
    error.id = id
    error.answer = answer
    return error
  }
}
