internal import KVBase
internal import KVJSON

extension DirectWriter {
  /// How often an entity that others change at the same time is read and written anew.
  static let maxAttempts = 5

  /// Sends writes past the queue. If the application has said which members it knows, updates keep the others of
  /// what the backend has: that is read first, and a write holds on the condition that it is still there. Where
  /// others were faster it is read again.
  func sendCompleted(
    _ writes: [RemoteWrite],
    outcome: (Int, Result<RemoteOutcome, StoreError>) -> Void
  ) throws(StoreError) {
    var waiting = Array(writes.indices)
    var attempts = 1
    while !waiting.isEmpty {
      let wanted = waiting.map { writes[$0] }
      let round = try completed(wanted)
      try record(zip(wanted, round).filter { $0 != $1 }.compactMap(\.1.update))
      var overtaken: [Int] = []
      let ids = round.compactMap { id(of: $0) }
      remote.send(round, in: collection, call: call.sendingOnce(ids)) { index, result in
        let isLast = attempts == Self.maxAttempts
        if !isLast, round[index] != writes[waiting[index]], result.isOvertaken {
          overtaken.append(waiting[index])
        } else {
          outcome(waiting[index], result)
        }
      }
      (waiting, attempts) = (overtaken, attempts + 1)
    }
  }

  private func id(of write: RemoteWrite) -> String? {
    switch write {
    case .create(let body): format.key(of: body)
    case .update(let id, _, _, _), .delete(let id, _): id
    case .createMany, .batch, .change: nil
    }
  }

  private func completed(
    _ writes: [RemoteWrite]
  ) throws(StoreError) -> [RemoteWrite] {
    guard let known = call.known else { return writes }
    let stored = try engine.backendEntities(writes.compactMap(\.replacedId), remote, call: call)
    return writes.map { write in
      guard case .update(let id, let body, .none, _) = write, let old = stored[RecordID(id)] else {
        return write
      }
      let whole = old.bytes.withBorrowedBytes { known.completed(body, from: $0, format: format) }
      let condition = old.version.map { RemoteCondition.version($0) }
      return .update(id: id, whole, if: condition ?? .none)
    }
  }
}

extension RemoteWrite {
  /// The id of the entity that it replaces, whatever that is.
  fileprivate var replacedId: String? {
    guard case .update(let id, _, .none, _) = self else { return nil }
    return id
  }
}

extension Result where Failure == StoreError {
  /// Whether the backend's entity is not the one that was read, or gone.
  fileprivate var isOvertaken: Bool {
    guard case .failure(let error) = self else { return false }
    return (error.kind == .conflict || error.kind == .notFound) && !error.wasCarriedOut
  }
}

extension Call {
  /// The same call, to send new writes of these entities.
  func sendingOnce(_ ids: [String]) -> Call {
    sending(ids.lazy.map { ($0, Identifier.revision()) })
  }
}
