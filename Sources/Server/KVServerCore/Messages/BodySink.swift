/// Takes the body of a request in large pieces, so that it is never in memory as a whole. Asked by one worker at a time.
package protocol BodySink: AnyObject, Sendable {
  /// Keeps the next piece; may block. False: it could not be kept, and nothing more is wanted.
  func take(_ piece: UnsafeRawBufferPointer) -> Bool
  /// Nothing more comes: what is held for this body can be let go.
  func end()
}
