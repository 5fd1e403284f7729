internal import KVBase
internal import KVJSON

/// A backend whose requests are sent again where that is safe and worthwhile: see `Retry`.
///
/// Reads that arrive in parts are not: who takes in the parts starts anew, or goes on from where it is.
final class RetryingRemote: RemoteMiddleware {
  /// So many requests in a row without an answer, and the rest of the round need not be tried.
  private static let patience = 6

  let remote: any Remote

  init(_ remote: any Remote) { self.remote = remote }

  /// If the answer of a deletion was lost, the next one counts only what was left.
  func around<R>(
    _ call: Call, _ request: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try call.repeating(request)
  }

  /// Once: only who has taken parts of the answer knows how to go on.
  func aroundParts<R>(
    _ call: Call, _ request: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try request()
  }

  // MARK: Writes

  /// Rounds: all requests, then after a pause those again that failed in a way that may pass.
  func send(
    _ writes: [RemoteWrite], in collection: String, call: Call,
    outcome: (Int, Result<RemoteOutcome, StoreError>) -> Void
  ) {
    var waiting = Array(writes.indices)
    var attempt = 0
    while true {
      let round = send(waiting.map { writes[$0] }, in: collection, call: call, attempt: attempt) {
        outcome(waiting[$0], $1.of(attempt: attempt))
      }
      guard let error = round.error, !round.held.isEmpty else { return }
      let indices = round.held.map { waiting[$0] }
      let end: StoreError
      do throws(StoreError) {
        if try call.retry.clock.wait(call.retry.pause(after: attempt, error), call) {
          (waiting, attempt) = (indices, attempt + 1)
          continue
        }
        end = error
      } catch {
        end = error
      }
      // One error for all, whatever the others' were.
      for index in indices { outcome(index, .failure(end.of(attempt: attempt + 1))) }
      return
    }
  }

  /// What of a round is to be sent again, and the error that says when.
  private struct Round {
    var held: [Int] = []
    var error: StoreError?
    var silences = 0

    mutating func hold(_ index: Int, _ failure: StoreError) {
      held.append(index)
      silences += failure.isOffline ? 1 : 0
      let asked = error?.answer?.retryAfter ?? 0
      if error == nil || (failure.answer?.retryAfter ?? 0) > asked { error = failure }
    }
  }

  private func send(
    _ writes: [RemoteWrite], in collection: String, call: Call, attempt: Int,
    outcome: (Int, Result<RemoteOutcome, StoreError>) -> Void
  ) -> Round {
    var round = Round()
    // Stopping a round must not cancel the call.
    let stop = Cancellation()
    var sending = call
    sending.cancellation = stop
    call.cancellation.notifying {
      stop.cancel()
    } during: {
      remote.send(writes, in: collection, call: sending) { index, result in
        guard case .failure(let error) = result else {
          round.silences = 0
          return outcome(index, result)
        }
        if error.kind == .cancelled, round.error != nil, !call.cancellation.isCancelled {
          round.held.append(index)
        } else if call.retry.isWorthwhile(after: attempt, error),
          writes[index].isRepeatable(format(of: collection))
        {
          round.hold(index, error)
          if round.silences >= Self.patience { stop.cancel() }
        } else {
          outcome(index, result)
        }
      }
    }
    return round
  }
}

extension Result<RemoteOutcome, StoreError> {
  /// This outcome, with the number of the attempt, from 0, in its errors and those of its writes, and in what was merged.
  fileprivate func of(attempt: Int) -> Self {
    map { outcome in
      switch outcome {
      case .stored, .deleted: outcome
      case .merged(let entity, _): .merged(entity, followsFailure: attempt > 0)
      case .storedMany(let many): .storedMany(many.map { $0.mapError { $0.of(attempt: attempt) } })
      case .batch(let many): .batch(many.map { $0.of(attempt: attempt) })
      }
    }.mapError { $0.of(attempt: attempt) }
  }
}

extension RemoteWrite {
  /// Whether the backend recognises it the second time: a create without an id would happen twice.
  fileprivate func isRepeatable(_ format: RecordFormat) -> Bool {
    switch self {
    case .update, .delete, .change: true
    case .create(let entity): format.key(of: entity) != nil
    case .createMany(let entities): entities.allSatisfy { format.key(of: $0) != nil }
    case .batch(let writes): writes.allSatisfy { $0.isRepeatable(format) }
    }
  }
}
