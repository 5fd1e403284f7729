internal import KVQuery

/// Requests past the queue. Should the answer be lost, nothing is pending that would remember what was sent:
/// so it is noted before, and recognised as our own when it is read later.
extension DirectWriter {
  /// Sends what `sent` lists. `outcome`: what the result says of these; nil: some have no answer.
  func unqueued<R>(
    _ sent: [(id: String, sent: RemoteVersion)], _ send: () throws(StoreError) -> R,
    outcome: (R) -> UnqueuedOutcome? = { _ in .accepted }
  ) throws(StoreError) -> R {
    guard let local, !sent.isEmpty else { return try send() }
    return try end(
      try local.beginUnqueued(sent, in: collection), in: local, send: send, outcome: outcome)
  }

  /// Notes what is sent in place of something that is noted already: the answer to that settles this too.
  func record(_ sent: [(id: String, sent: RemoteVersion)]) throws(StoreError) {
    guard let local, !sent.isEmpty else { return }
    _ = try local.beginUnqueued(sent, in: collection)
  }

  /// Sends a deletion by query. Nothing else is on its way meanwhile: it may be for any entity.
  func removing<R>(
    _ query: Query, _ send: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try engine.sendGate.sendingAny(call) { () throws(StoreError) in
      guard let local else { return try send() }
      return try end(try local.beginRemoval(of: query, in: collection), in: local, send: send) {
        _ in
        .removed
      }
    }
  }

  private func end<R>(
    _ request: Int64, in local: any UnqueuedLog, send: () throws(StoreError) -> R,
    outcome: (R) -> UnqueuedOutcome?
  ) throws(StoreError) -> R {
    let result: R
    do throws(StoreError) { result = try send() } catch {
      if error.isRefusal { try local.endUnqueued(request, .refused) }
      throw error
    }
    if let outcome = outcome(result) { try local.endUnqueued(request, outcome) }
    return result
  }
}

extension RemoteWrite {
  /// What an update leaves on the backend.
  var update: (id: String, sent: RemoteVersion)? {
    if case .update(let id, let body, _, _) = self { (id, .entity(body)) } else { nil }
  }
}
