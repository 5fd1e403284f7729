internal import KVBase
internal import KVSync

/// The results of a fetch as C reads them. Safe from any thread; what it lends is valid until its next call.
final class ResultsObject: HandleObject {
  static let kind = HandleKind.results

  private struct State {
    /// The batch whose text was lent last.
    var lent: FetchedResults.Lent?
    let page = TextBuffer()
  }

  let results: FetchedResults
  let client: ClientObject
  private let state = Monitor(State())

  init(_ results: FetchedResults, client: ClientObject) {
    self.results = results
    self.client = client
  }

  /// The record at a position, followed by a NUL; nil if there is no such position.
  func record(
    at position: UInt64
  ) throws(StoreError) -> (text: UnsafeBufferPointer<CChar>, state: RecordState)? {
    guard position < UInt64(results.count) else { return nil }
    let position = Int(position)
    return try state.withLock { (state) throws(StoreError) in
      let batch = try results.batch(at: position, after: &state.lent)
      let text = try batch.text(at: position)
      return (text.assumingMemoryBound(to: CChar.self), batch.state(at: position))
    }
  }

  /// Some records as an array, and what became of each.
  func page(
    at position: UInt64, limit: UInt32, _ receive: (Int, RecordState) -> Void
  ) throws(StoreError) -> (text: UnsafeBufferPointer<CChar>, isEmpty: Bool) {
    let start = Int(min(position, UInt64(results.count)))
    let range = start..<min(results.count, start + Int(limit))
    return try state.withLock { (state) throws(StoreError) in
      state.page.clear()
      try state.page.append("[")
      var position = range.lowerBound
      while position < range.upperBound {
        let batch = try results.batch(at: position)
        for position in position..<min(batch.range.upperBound, range.upperBound) {
          if position > range.lowerBound { try state.page.append(",") }
          try state.page.append(batch.text(at: position))
          receive(position - range.lowerBound, batch.state(at: position))
        }
        position = batch.range.upperBound
      }
      try state.page.append("]")
      return (try state.page.text(), start == results.count)
    }
  }
}
