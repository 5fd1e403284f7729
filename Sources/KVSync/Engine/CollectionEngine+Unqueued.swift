internal import KVQuery

/// Requests past the queue. Should the answer be lost, nothing is pending that would remember what was sent:
/// so it is noted before, and what the backend has of it later is nobody else's.
extension CollectionEngine {
  /// Sends what `sent` lists. `isSettled`: whether each of these was answered, going by the result.
  func unqueued<R>(
    _ sent: [(id: String, sent: TheirVersion)], _ send: () throws(StoreError) -> R,
    isSettled: (R) -> Bool = { _ in true }
  ) throws(StoreError) -> R {
    guard let local, !sent.isEmpty else { return try send() }
    return try end(try local.beginUnqueued(sent, in: collection), local, send, isSettled)
  }

  /// Sends a deletion by query. Nothing else is on its way meanwhile: it may be for any entity.
  func removing<R>(
    _ query: Query, _ call: Call, _ send: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try inFlight.sendingAny(call) { () throws(StoreError) in
      guard let local else { return try send() }
      return try end(try local.beginRemoval(of: query, in: collection), local, send) { _ in true }
    }
  }

  private func end<R>(
    _ request: Int64, _ local: any LocalStore, _ send: () throws(StoreError) -> R,
    _ isSettled: (R) -> Bool
  ) throws(StoreError) -> R {
    let result: R
    do throws(StoreError) { result = try send() } catch {
      if error.isRefusal { try local.endUnqueued(request, isCarriedOut: false) }
      throw error
    }
    if isSettled(result) { try local.endUnqueued(request, isCarriedOut: true) }
    return result
  }
}
