internal import KVBase
internal import KVSync

/// The entities of a find as C walks over them. Safe from any thread; what it lends is valid until its
/// next call.
final class CursorObject: HandleObject {
  static let kind = HandleKind.cursor

  private struct State {
    /// nil once closed or at the end.
    var cursor: (any EntityCursor)?
    /// The cursor's, with what it gave last.
    var block: RowBuffer?
    /// The error that followed the entities of the last page.
    var failure: StoreError?
    lazy var page = TextBuffer()

    /// The next entity, followed by a NUL; nil at the end.
    mutating func next() throws(StoreError) -> UnsafeBufferPointer<CChar>? {
      if let text = block?.next() { return text }
      if let failure = failure.take() { throw failure }
      guard let cursor else { return nil }
      block = try cursor.block()
      if block == nil {
        cursor.close()
        self.cursor = nil
      }
      return block?.next()
    }
  }

  private let state: Monitor<State>
  /// The client that owns this cursor; nil for the one that an answer lends.
  let client: ClientObject?

  init(_ cursor: any EntityCursor, client: ClientObject? = nil) {
    state = Monitor(State(cursor: cursor))
    self.client = client
  }

  /// The next entity, followed by NUL; nil at the end.
  func next() throws(StoreError) -> UnsafeBufferPointer<CChar>? {
    try state.withLock { (state) throws(StoreError) in try state.next() }
  }

  /// The next entities as an array; 0 of them at the end.
  func nextPage(_ limit: Int) throws(StoreError) -> (
    text: UnsafeBufferPointer<CChar>, count: UInt32
  ) {
    try state.withLock { (state) throws(StoreError) in
      state.page.clear()
      try state.page.append("[")
      var count = 0
      do throws(StoreError) {
        while count < limit, let entity = try state.next() {
          if count > 0 { try state.page.append(",") }
          try state.page.append(UnsafeRawBufferPointer(entity))
          count += 1
        }
      } catch {
        // What comes before a damaged entity is given first.
        guard error.kind == .corrupt, count > 0 else { throw error }
        state.failure = error
      }
      try state.page.append("]")
      return (try state.page.text(), UInt32(clamping: count))
    }
  }

  func close() {
    let cursor = state.withLock { state in
      defer { (state.cursor, state.block) = (nil, nil) }
      return state.cursor
    }
    cursor?.close()
  }

  deinit { close() }
}
