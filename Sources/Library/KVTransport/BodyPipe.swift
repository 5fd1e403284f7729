internal import KVBase

/// A body on its way from the transport's thread to the thread that asked for it.
///
/// Two buffers are swapped: one is filled here while the receiver works on the other. When the one to
/// fill is full, the transfer is paused until the receiver comes back, so memory stays bounded
/// and no other transfer waits.
final class BodyPipe: Sink {
  /// Bytes in one buffer before the transfer is paused.
  static let capacity = 128 << 10

  private struct State {
    var head: HTTPHead?
    var filling: [UInt8] = []
    var byteCount = 0
    var isPaused = false
    var hasEnded = false
    var failure: TransportError?
  }

  /// An event for the receiver.
  enum Event {
    /// Bytes were put into its buffer. If the transfer was paused, it has to be resumed.
    case piece(HTTPHead, mustResume: Bool)
    case end(HTTPHead)
    case failure(TransportError)
  }

  private let state = Monitor(State())
  private let maxBytes: Int

  init(maxBytes: Int) { self.maxBytes = maxBytes }

  // MARK: The transport's side

  func begin(_ head: HTTPHead) { state.withLock { $0.head = head } }

  func receive(_ piece: UnsafeRawBufferPointer) -> SinkVerdict {
    let verdict = state.withLock { state -> SinkVerdict in
      guard !state.hasEnded else { return .ended }
      guard piece.count <= maxBytes - state.byteCount else { return .tooLarge }
      guard state.filling.isEmpty || state.filling.count + piece.count <= Self.capacity else {
        state.isPaused = true
        return .full
      }
      do throws(TransportError) {
        try state.filling.makeRoom(for: piece.count, or: TransportError.outOfMemory)
      } catch {
        return .noMemory
      }
      state.filling.append(contentsOf: piece)
      state.byteCount += piece.count
      return .accepted
    }
    if case .full = verdict { announce() }
    return verdict
  }

  func announce() { state.withLockNotifyingAll { _ in } }

  func end(_ failure: TransportError?) {
    state.withLockNotifyingAll { state in
      guard !state.hasEnded else { return }
      state.hasEnded = true
      state.failure = failure
    }
  }

  // MARK: The receiver's side

  /// Waits for bytes and swaps them with the empty `buffer`. Nil: the deadline has passed.
  func next(into buffer: inout [UInt8], until deadline: Deadline) -> Event? {
    state.wait(until: deadline) { state in
      if let failure = state.failure { return .failure(failure) }
      if let head = state.head, !state.filling.isEmpty {
        swap(&state.filling, &buffer)
        defer { state.isPaused = false }
        return .piece(head, mustResume: state.isPaused)
      }
      guard state.hasEnded else { return nil }
      return state.head.map { .end($0) } ?? .failure(.noHead)
    }
  }
}

extension TransportError {
  /// libcurl calls it a success when the connection ends in the middle of a header line.
  static let noHead = TransportError(
    .reset, "The connection ended before the head of the answer was complete.")
}
