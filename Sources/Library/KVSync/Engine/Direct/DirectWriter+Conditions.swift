internal import KVBase
internal import KVJSON
internal import KVQuery

/// Writes on a condition.
extension DirectWriter {
  /// A write of an entity (nil: its deletion) on a condition.
  ///
  /// That there is none is what a backend demands of each insert. A filter is decided here, and the write demands the
  /// version that was looked at, where the backend keeps conditions. Local versions say nothing of the backend.
  func conditioned(
    _ id: String, _ body: [UInt8]?, condition: WriteCondition
  ) throws(StoreError) -> RemoteWrite {
    switch condition {
    case .none: return Self.write(id, body, if: .none)
    case .isMissing:
      guard let body else { throw .removesNothing }
      return .create(body)
    case .version:
      throw StoreError(
        .unsupported, "A write that goes only to the backend cannot depend on a local version.")
    case .matches(let query):
      guard let found = try engine.backendEntities([id], remote, call: call)[RecordID(id)] else {
        throw .conditionFailed(id, "does not exist")
      }
      if let failure = condition.failure(of: id, (0, found.bytes)) { throw failure }
      let whole = body.map { body in
        guard let known = call.known else { return body }
        return found.bytes.withBorrowedBytes { known.completed(body, from: $0, format: format) }
      }
      return Self.write(id, whole, if: remoteCondition(query.filter, found.version))
    }
  }

  private func remoteCondition(
    _ filter: Predicate, _ version: RecordVersion?
  ) -> RemoteCondition {
    guard let version else { return .none }
    return remote.evaluatesConditions ? .matches(filter, version) : .version(version)
  }

  private static func write(
    _ id: String, _ body: [UInt8]?, if condition: RemoteCondition
  ) -> RemoteWrite {
    body.map { .update(id: id, $0, if: condition) } ?? .delete(id: id, if: condition)
  }

  /// Sends it; what has met something else fails with `.conflict` and the id.
  func conditionalOutcome(
    of write: RemoteWrite, _ id: String
  ) throws(StoreError) -> RemoteOutcome {
    do throws(StoreError) { return try outcome(of: write) } catch {
      var error = error
      switch write {
      case .create(let body) where error.kind == .conflict:
        if let arrived = try arrived([(id, body, error)])[RecordID(id)] {
          return .stored(arrived)
        }
      case .update(_, _, let condition, _), .delete(_, let condition):
        let isFailed = error.kind == .conflict || error.kind == .notFound
        guard condition != .none, isFailed, !error.wasCarriedOut else { throw error }
        if let arrived = try ownOutcome(of: write, id, refused: error) { return arrived }
        error.kind = .conflict
      default: throw error
      }
      error.id = id
      throw error
    }
  }

  /// What an earlier attempt of a write, whose answer was lost, has done, if that is why it was refused: a backend that keeps
  /// no tokens is asked for what it has. That is ours if it is what was sent, in a version which came after the one that the
  /// write started from. Nil: others have changed it.
  func ownOutcome(
    of write: RemoteWrite, _ id: String, refused error: StoreError
  ) throws(StoreError) -> RemoteOutcome? {
    guard error.followsFailure, !remote.keepsTokens else { return nil }
    let found = try engine.backendEntities([id], remote, call: call)[RecordID(id)]
    switch (write, found) {
    case (.delete, nil): return .deleted(1)
    case (.update(_, let body, let condition, _), let found?):
      guard let base = condition.base, let version = found.version,
        version != base, !format.isOlder(version, than: base),
        try found.isSameContent(as: body)
      else { return nil }
      return .stored(found.bytes)
    default: return nil
    }
  }

  /// Finds the inserts that were refused because an earlier attempt arrived: what an earlier attempt, whose answer was lost,
  /// has made.
  func arrived(
    _ refused: [(id: String, body: [UInt8], refusal: StoreError)]
  ) throws(StoreError) -> [RecordID: [UInt8]] {
    let doubtful = refused.filter { $0.refusal.kind == .conflict && $0.refusal.followsFailure }
    let user = try engine.writer()
    let found = try engine.backendEntities(doubtful.map(\.id), remote, call: call)
    var arrived: [RecordID: [UInt8]] = [:]
    for (id, body, _) in doubtful {
      guard let theirs = found[RecordID(id)], theirs.isMade(by: user),
        try theirs.isSameContent(as: body)
      else { continue }
      arrived[RecordID(id)] = theirs.bytes
    }
    return arrived
  }
}

extension RemoteCondition {
  /// The version that a write starts from.
  fileprivate var base: RecordVersion? {
    switch self {
    case .version(let version), .matches(_, let version): version
    case .none, .isMissing: nil
    }
  }
}
