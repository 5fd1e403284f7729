/// Where the answer of one exchange goes. Called on the transport's thread, except `end`.
protocol Sink: AnyObject, Sendable {
  /// The head is complete; called once, before the body.
  func begin(_ head: HTTPHead)
  /// Takes one piece of the body whole, or none of it.
  func take(_ piece: UnsafeRawBufferPointer) -> SinkVerdict
  /// No more pieces come for a moment: whoever waits should see what there is.
  func announce()
  /// The exchange is over. Called at least once, from any thread; only the first one counts.
  func end(_ failure: TransportError?)
}

enum SinkVerdict {
  case taken
  /// Try again after a resumption.
  case full
  case tooLarge
  /// Nobody wants it any more.
  case ended
}
