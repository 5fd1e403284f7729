/// Proves a session that has run out anew.
package protocol SessionRenewal: AnyObject, Sendable {
  /// What proves the session now; nil: no user is logged in.
  func proof() throws(StoreError) -> String?

  /// Called when the backend has refused a proof. True: there is a new one. False: none can be had.
  /// Throws if the backend does not answer.
  func renew(_ refused: String, _ call: Call) throws(StoreError) -> Bool
}

extension SessionRenewal {
  /// Runs a request, once more if its session had run out and could be renewed.
  package func renewing<R>(
    _ call: Call, _ body: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let proof = try proof()
    do throws(StoreError) { return try body() } catch {
      guard error.failureClass == .sessionOver, let proof, try renew(proof, call) else {
        throw error
      }
    }
    return try body()
  }
}

/// A backend whose requests are repeated once when the session had run out and could be renewed. An answer
/// that refuses the session is not the request's own: nothing of it was handed over.
package final class RenewingRemote: RemoteMiddleware {
  package let remote: any Remote
  private let renewal: any SessionRenewal

  package init(_ remote: any Remote, _ renewal: any SessionRenewal) {
    self.remote = remote
    self.renewal = renewal
  }

  package func around<R>(
    _ call: Call, _ request: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try renewal.renewing(call, request)
  }

  /// Sends the writes; those that were refused are sent once more, together.
  package func send(
    _ writes: [RemoteWrite], in collection: String, call: Call,
    outcome: (Int, Result<RemoteOutcome, StoreError>) -> Void
  ) {
    var refused: [(index: Int, error: StoreError)] = []
    let proof = (try? renewal.proof()) ?? nil
    remote.send(writes, in: collection, call: call) { index, result in
      if proof != nil, case .failure(let error) = result, error.failureClass == .sessionOver {
        refused.append((index, error))
      } else {
        outcome(index, result)
      }
    }
    guard let proof, let first = refused.first else { return }
    var end = first.error
    do throws(StoreError) {
      if try renewal.renew(proof, call) {
        let again = refused.map(\.index)
        return remote.send(again.map { writes[$0] }, in: collection, call: call) {
          outcome(again[$0], $1)
        }
      }
    } catch {
      end = error
    }
    for (index, _) in refused { outcome(index, .failure(end)) }
  }
}
