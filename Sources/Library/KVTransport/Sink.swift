/// Receives the answer of one exchange. Called on the transport's thread, except `end`.
protocol Sink: AnyObject, Sendable {
  /// The head is complete; called once, before the body.
  func begin(_ head: HTTPHead)
  /// Accepts one piece of the body as a whole, or nothing of it.
  func receive(_ piece: UnsafeRawBufferPointer) -> SinkVerdict
  /// Wakes the reader of the body: no more pieces come for a moment.
  func announce()
  /// The exchange is over. Called at least once, from any thread; only the first one counts.
  func end(_ failure: TransportError?)
}

enum SinkVerdict {
  case accepted
  /// There is no room: the bytes come again after a resumption.
  case full
  case tooLarge
  /// There is no memory for it.
  case noMemory
  /// It is not wanted any more.
  case ended
}
