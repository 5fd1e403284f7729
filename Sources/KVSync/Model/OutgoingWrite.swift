/// A pending write with the bytes to send (nil for a deletion).
package struct OutgoingWrite: Sendable, Equatable {
  package var write: PendingWrite
  package var body: [UInt8]?
  /// What must be true on the backend for it to be carried out.
  package var condition = RemoteCondition.none
  /// The version that the change started from, if the backend needs it: see `Remote.sendsDifferences`.
  package var base: [UInt8]?
  /// What others have on the backend that it replaces although no program has seen it, as was decided before it was sent.
  package var replaced: RemoteVersion?
  /// Whether an earlier request, which had no answer, may have replaced it.
  package var mayHaveReplaced = false

  package init(write: PendingWrite, body: [UInt8]?) {
    self.write = write
    self.body = body
  }
}
