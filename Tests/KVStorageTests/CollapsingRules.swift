import KVSync

extension PendingWrite {
  /// What is queued for an entity after one more change; nil: nothing. The reference that tests hold the statements of
  /// `Table` against.
  ///
  /// A create that was never sent and is deleted leaves nothing to send. Once it was sent, even without an answer, the
  /// backend may have it: the deletion is sent, and 404 is a success.
  static func collapsing(
    _ queued: (operation: Operation, attempts: Int)?, with new: Operation
  ) -> Operation? {
    switch (queued?.operation, new) {
    case (nil, _): new
    case (.create?, .delete): queued?.attempts == 0 ? nil : .delete
    case (.create?, _): .create
    case (.update?, .delete): .delete
    case (.update?, _): .update
    case (.delete?, .delete): .delete
    case (.delete?, _): .update
    }
  }
}
