internal import KVBase
internal import KVJSON

extension Pusher {
  /// So often is sent again what others keep changing meanwhile; then the next push tries.
  private static let maxRounds = 5

  /// Asks about the conflicts that sending has left open, and sends what the answers say.
  ///
  /// Nothing is in flight while the application thinks: what it calls meanwhile, a push of the same
  /// collection included, waits for nothing of ours. The conflicts are in quarantine until then, so that a
  /// process that dies leaves them there.
  func asking(_ first: PushResult) throws(StoreError) -> PushResult {
    guard call.conflicts == .handler, let handler = engine.handler.withLock({ $0.decide }) else {
      return first
    }
    var result = first
    for _ in 0..<Self.maxRounds {
      var again: [String] = []
      for error in result.errors where error.kind == .conflict {
        guard let id = error.id else { continue }
        switch try ask(handler, about: id) {
        case .leftOpen: continue
        case .settled(let isLoss):
          result.errors.removeAll { $0.id?.hasSameBytes(as: id) == true }
          if isLoss { result.discarded += 1 }
        case .sendAgain: again.append(id)
        }
      }
      guard !again.isEmpty else { return result }
      result = result.followed(by: try sendOnce(again), about: again)
    }
    return result
  }

  private enum Answered {
    case leftOpen
    /// `isLoss`: what was changed here was given up.
    case settled(isLoss: Bool)
    case sendAgain
  }

  private func ask(
    _ handler: ConflictHandler, about id: String
  ) throws(StoreError) -> Answered {
    guard let found = try local.pending(id, in: engine.collection), found.write.state == .conflict,
      let theirs = found.theirs
    else { return .leftOpen }
    let conflict = Conflict(id: id, base: found.base, local: found.entity, remote: theirs.bytes)
    let answer = try handler(conflict, call)
    switch answer {
    case .leave: return .leftOpen
    case .keep where found.entity == nil && theirs == .gone:
      return try settle(found.write, theirs, isLoss: false)
    case .take:
      let isLoss = found.entity != nil || theirs != .gone
      let answered = try settle(found.write, theirs, isLoss: isLoss)
      if isLoss { call.discarded(found.write, found.entity, theirs.bytes) }
      return answered
    case .delete where theirs == .gone: return try settle(found.write, theirs, isLoss: false)
    case .keep: return try again(found.write, theirs, change: .unchanged)
    case .delete: return try again(found.write, theirs, change: .deleted)
    case .merged(let entity):
      var body = try self.body(entity, as: id)
      if let known = call.known, let other = theirs.bytes ?? found.entity {
        body = other.withBorrowedBytes { known.completed(body, from: $0, format: engine.format) }
      }
      // There is nothing to send where the answer is what the backend has.
      if let other = theirs.bytes, try BackendEntity(other, engine.format).isSameContent(as: body) {
        return try settle(found.write, theirs, isLoss: false)
      }
      return try again(found.write, theirs, change: .replaced(body))
    }
  }

  private func settle(
    _ write: PendingWrite, _ theirs: RemoteVersion, isLoss: Bool
  ) throws(StoreError) -> Answered {
    try engine.sendGate.fence.settling([write.id]) { () throws(StoreError) in
      try local.acceptRemote([(write, theirs)])
    }
    engine.releaseUnkept([write.id])
    return .settled(isLoss: isLoss)
  }

  private func again(
    _ write: PendingWrite, _ theirs: RemoteVersion, change: RebasedChange
  ) throws(StoreError) -> Answered {
    let isRebased = try local.rebase(write, onto: theirs, as: change, replacesUnseen: false)
    return isRebased ? .sendAgain : .leftOpen
  }

  /// What a conflict handler has answered, with its id.
  private func body(_ entity: [UInt8], as id: String) throws(StoreError) -> [UInt8] {
    let outline: EntityOutline
    do throws(JSONError) {
      outline = try EntityScanner.outline(of: entity, engine.format, isInput: true)
    } catch {
      throw Self.refused("is not an entity: \(error.message)", about: id)
    }
    guard let own = outline.id else {
      return entity.withBorrowedBytes {
        EntityEditing.inserting(id: id, into: $0, outline: outline, format: engine.format)
      }
    }
    guard own.hasSameBytes(as: id) else { throw Self.refused("has another id", about: id) }
    return Array(entity[outline.range])
  }

  private static func refused(_ why: String, about id: String) -> StoreError {
    var error = StoreError(.invalid, "The conflict handler's answer \(why).")
    error.id = id
    return error
  }
}

extension PushResult {
  /// This result, with the new outcomes of entities that were sent again.
  fileprivate func followed(by next: PushResult, about ids: [String]) -> PushResult {
    let keys = Set(ids.map(RecordID.init))
    var indices: [RecordID: Int] = [:]
    var merged = PushResult(
      pushed: pushed + next.pushed, overwritten: overwritten + next.overwritten,
      discarded: discarded + next.discarded)
    for error in errors {
      guard let key = error.id.map(RecordID.init), keys.contains(key) else {
        merged.errors.append(error)
        continue
      }
      indices[key] = error.index
    }
    for var error in next.errors {
      error.index = error.id.flatMap { indices[RecordID($0)] } ?? error.index
      merged.errors.append(error)
    }
    return merged
  }
}
