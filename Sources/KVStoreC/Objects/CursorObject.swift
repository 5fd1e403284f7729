internal import KVBase
internal import KVSync

/// The entities of a find as C walks over them. Safe from any thread; what it lends is valid until its
/// next call.
final class CursorObject: HandleObject {
  static let kind = HandleKind.cursor

  private struct State {
    /// nil once closed or at the end.
    var cursor: (any EntityCursor)?
    let buffer = TextBuffer()

    /// Copies the next entity behind what is in the buffer; false at the end.
    mutating func appendNext() throws(StoreError) -> Bool {
      guard let cursor else { return false }
      let buffer = self.buffer
      guard let isCopied = try cursor.next({ buffer.append($0) }) else {
        cursor.close()
        self.cursor = nil
        return false
      }
      guard isCopied else { throw TextBuffer.noMemory }
      return true
    }
  }

  private let state: Monitor<State>
  /// Whose child this cursor is; nil for the one that an answer lends.
  let client: ClientObject?

  init(_ cursor: any EntityCursor, client: ClientObject? = nil) {
    state = Monitor(State(cursor: cursor))
    self.client = client
  }

  /// The next entity in the cursor's own buffer, followed by NUL; nil at the end.
  func next() throws(StoreError) -> UnsafeBufferPointer<CChar>? {
    try state.peek { (state) throws(StoreError) in
      state.buffer.clear()
      guard try state.appendNext() else { return nil }
      return try state.buffer.text()
    }
  }

  /// The next entities as an array, in the same buffer; 0 of them at the end.
  func nextPage(_ most: Int) throws(StoreError) -> (text: UnsafeBufferPointer<CChar>, count: UInt32)
  {
    try state.peek { (state) throws(StoreError) in
      state.buffer.clear()
      state.buffer.append("[")
      var count = 0
      while count < most {
        let length = state.buffer.count
        if count > 0 { state.buffer.append(",") }
        guard try state.appendNext() else {
          state.buffer.cut(to: length)
          break
        }
        count += 1
      }
      state.buffer.append("]")
      return (try state.buffer.text(), UInt32(clamping: count))
    }
  }

  func close() {
    let cursor = state.peek { state in
      defer { state.cursor = nil }
      return state.cursor
    }
    cursor?.close()
  }

  deinit { close() }
}
