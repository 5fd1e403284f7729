internal import CMicrohttpd
internal import KVBase
internal import KVServerCore

/// Sends a body that is made piece by piece: while one piece travels, a worker makes the next. At most
/// two exist at a time.
///
/// The event thread never waits: when it has nothing to send, the connection is suspended until the
/// worker has made something.
///
/// `@unchecked Sendable`: `onProgress`, `sending` and `offset` are touched by the event thread of the connection only.
final class BodyStream: @unchecked Sendable {
  private enum Next {
    case nothing
    case inTheMaking
    case made(Payload)
    case end
    case failure
  }

  private struct State {
    var next = Next.nothing
    var isSuspended = false
  }

  private let source: any BodySource
  private let connection: OpaquePointer
  private let pool: WorkerPool
  private let asker: Asker
  private let budget: WorkBudget
  private let state = Monitor(State())
  /// Called when another piece begins to travel.
  var onProgress: () -> Void = {}
  private var sending: Payload?
  private var offset = 0
  /// How much has been handed to the connection.
  private(set) var sentBytes = 0

  init(
    _ source: any BodySource, over connection: OpaquePointer, with pool: WorkerPool,
    for asker: Asker, budget: WorkBudget
  ) {
    self.source = source
    self.connection = connection
    self.pool = pool
    self.asker = asker
    self.budget = budget
  }

  /// Whether the connection waits for a piece. Only the maker of the piece ends that.
  var isSuspended: Bool { state.withLock { $0.isSuspended } }

  /// Fills `buffer`; what libmicrohttpd expects of a content reader.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    if let count = copy(into: buffer) { return count }
    switch advance() {
    case .made(let piece):
      sending = piece
      offset = 0
      startNext()
      onProgress()
      return copy(into: buffer) ?? 0
    case .nothing, .inTheMaking: return 0
    case .end: return MHD_CONTENT_READER_END_OF_STREAM_VALUE
    case .failure: return MHD_CONTENT_READER_END_WITH_ERROR_VALUE
    }
  }

  private func copy(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    guard let piece = sending, offset < piece.count else { return nil }
    let count = min(buffer.count, piece.count - offset)
    piece.withBytes {
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count]))
    }
    offset += count
    sentBytes += count
    return count
  }

  /// Takes the next piece if it is made; else suspends the connection until it is.
  private func advance() -> Next {
    startNext()
    return state.withLock { state in
      switch state.next {
      case .made:
        defer { state.next = .nothing }
        return state.next
      case .inTheMaking:
        state.isSuspended = true
        MHD_suspend_connection(connection)
        return .inTheMaking
      case .nothing, .end, .failure: return state.next
      }
    }
  }

  /// Has a worker make the next piece, unless one is being made or there is none.
  private func startNext() {
    let isNeeded = state.withLock { state in
      guard case .nothing = state.next else { return false }
      state.next = .inTheMaking
      return true
    }
    guard isNeeded else { return }
    if !pool.submit(for: asker, { [self] in finish(make()) }) { finish(.failure) }
  }

  private func make() -> Next {
    budget.resume()
    defer { budget.pause() }
    do {
      guard let piece = try source.nextPiece() else { return .end }
      return piece.isComplete ? .made(piece) : .failure
    } catch {
      return .failure
    }
  }

  private func finish(_ next: Next) {
    state.withLock { state in
      state.next = next
      guard state.isSuspended else { return }
      state.isSuspended = false
      MHD_resume_connection(connection)
    }
  }
}
