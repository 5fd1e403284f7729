internal import KVBase
package import KVSync

/// The requests of all backends that wait for their answers, by number. Safe from any thread.
///
/// Hosts complete a request by its number, not by a pointer: for one that was completed before, that has no waiter any
/// more or that never was, the call returns an error, and nothing else happens.
package enum PendingRequests {
  private struct State {
    /// The number of the latest request; 0 is no request.
    var last: UInt64 = 0
    var waiting: [UInt64: PendingRequest] = [:]
  }

  private static let state = Monitor(State())

  /// The outcome of a completion.
  package enum Completion: Sendable, Equatable {
    case accepted
    /// It has no waiter.
    case unknown
    /// The answer is too large; the request has failed with that.
    case tooLarge
  }

  /// Opens a request with a number of its own.
  static func open(of handler: any BackendHandler, limit: Int) -> PendingRequest {
    state.withLock { state in
      state.last += 1
      let request = PendingRequest(state.last, handler, limit: limit)
      state.waiting[state.last] = request
      return request
    }
  }

  /// Answers a request with JSON, whose bytes are copied. The first completion counts.
  package static func complete(
    _ number: UInt64, with json: UnsafeRawBufferPointer
  ) -> Completion {
    guard let request = remove(number) else { return .unknown }
    guard json.count <= request.limit else {
      request.end(.failure(.answerTooLarge(request.limit)))
      return .tooLarge
    }
    request.end(.success(Array(json)))
    return .accepted
  }

  /// Ends a request with an error.
  package static func complete(_ number: UInt64, failing error: StoreError) -> Completion {
    guard let request = remove(number) else { return .unknown }
    request.end(.failure(error))
    return .accepted
  }

  /// Whether a request is still worth carrying out.
  package static func isWaiting(_ number: UInt64) -> Bool {
    state.withLock { $0.waiting[number] != nil }
  }

  /// Removes a request, if it is open: it cannot be completed any more.
  static func remove(_ number: UInt64) -> PendingRequest? {
    state.withLock { $0.waiting.removeValue(forKey: number) }
  }
}

/// A request that was handed to a host.
final class PendingRequest: Sendable {
  typealias Answer = Result<[UInt8], StoreError>

  let number: UInt64
  /// The bytes of an answer at the most.
  let limit: Int
  private let handler: any BackendHandler
  private let answer = Monitor<Answer?>(nil)

  init(_ number: UInt64, _ handler: any BackendHandler, limit: Int) {
    self.number = number
    self.handler = handler
    self.limit = limit
  }

  /// The first end is the one that counts.
  func end(_ result: Answer) { answer.withLockNotifyingAll { $0 = $0 ?? result } }

  /// Waits for the answer until the call's deadline or its cancellation. Then the host is told that the request is no longer needed.
  func wait(_ call: Call) throws(StoreError) -> [UInt8] {
    let result = call.cancellation.notifying { [self] in
      end(.failure(StoreError(.cancelled, "The call was cancelled.")))
    } during: {
      answer.wait(until: call.deadline) { $0 }
    }
    if PendingRequests.remove(number) != nil { handler.cancel(number) }
    guard let result = result ?? answer.withLock({ $0 }) else {
      throw StoreError(.timeout, "The backend did not answer in time.")
    }
    return try result.get()
  }
}

extension StoreError {
  fileprivate static func answerTooLarge(_ limit: Int) -> StoreError {
    StoreError(.tooLarge, "The backend's answer has more than \(limit) bytes.")
  }
}
