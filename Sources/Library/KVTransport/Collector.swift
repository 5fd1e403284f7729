internal import KVBase

/// Gathers a whole answer in memory and puts it among the others that one caller waits for.
final class Collector: Sink {
  private struct State {
    var head: HTTPHead?
    var body: [UInt8] = []
    var hasEnded = false
  }

  private let state = Monitor(State())
  private let maxBytes: Int
  private let index: Int
  private let arrivals: Arrivals

  /// `index` names this answer among the `arrivals`.
  init(maxBytes: Int, index: Int, arrivals: Arrivals) {
    self.maxBytes = maxBytes
    self.index = index
    self.arrivals = arrivals
  }

  func begin(_ head: HTTPHead) { state.withLock { $0.head = head } }

  func receive(_ piece: UnsafeRawBufferPointer) -> SinkVerdict {
    state.withLock { state in
      guard !state.hasEnded else { return .ended }
      guard piece.count <= maxBytes - state.body.count else { return .tooLarge }
      do throws(TransportError) {
        try state.body.makeRoom(for: piece.count, or: TransportError.outOfMemory)
      } catch {
        return .noMemory
      }
      state.body.append(contentsOf: piece)
      return .accepted
    }
  }

  func announce() {}

  func end(_ failure: TransportError?) {
    let result = state.withLock { state -> Result<HTTPResponse, TransportError>? in
      guard !state.hasEnded else { return nil }
      state.hasEnded = true
      if let failure { return .failure(failure) }
      guard let head = state.head else { return .failure(.noHead) }
      defer { state.body = [] }
      return .success(HTTPResponse(head: head, body: state.body))
    }
    if let result { arrivals.add(index, result) }
  }
}

/// Answers that have come in and wait for the caller. Safe from any thread.
final class Arrivals: Sendable {
  typealias Arrival = (index: Int, result: Result<HTTPResponse, TransportError>)

  private let waiting = Monitor<[Arrival]>([])

  func add(_ index: Int, _ result: Result<HTTPResponse, TransportError>) {
    waiting.withLockNotifyingAll { $0.append((index, result)) }
  }

  /// The answers that are there, in the order they came; waits for at least one. Nil: the deadline
  /// has passed.
  func next(until deadline: Deadline) -> [Arrival]? {
    waiting.wait(until: deadline) { waiting in
      guard !waiting.isEmpty else { return nil }
      defer { waiting = [] }
      return waiting
    }
  }
}
