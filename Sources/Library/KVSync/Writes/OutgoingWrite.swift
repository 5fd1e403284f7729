/// A pending write with the bytes to send (nil for a deletion).
package struct OutgoingWrite: Sendable, Equatable {
  package var write: PendingWrite
  package var body: [UInt8]?
  /// What the write was made of: sent in place of the body, where the backend carries out operators.
  package var operators: OutgoingOperators?
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

  /// The operators that the backend gets in place of the body.
  var carriedOut: OutgoingOperators? { operators?.form == .operators ? operators : nil }

  /// Whether it is the entity that operators have made, and no request can have brought the backend any of them.
  var isFirstOfOperators: Bool { operators?.form == .entity(isFirst: true) }

  /// By which the backend recognises the write when it is sent again.
  var token: String { operators?.token ?? Self.token(of: write.revision) }

  /// The token of a write that is sent as it is in one revision.
  package static func token(of revision: Int64) -> String { String(revision, radix: 16) }
}

/// Operators that are sent. As long as no answer has come, they are sent again as they are, with the same token: the backend
/// carries them out once. What is changed meanwhile is sent afterwards.
package struct OutgoingOperators: Sendable, Equatable {
  package enum Form: Sendable, Equatable {
    /// The backend carries them out.
    case operators
    /// The backend gets the entity that they have made. `isFirst`: no request that had no answer can have brought it any of them.
    case entity(isFirst: Bool)
  }

  package var form = Form.operators
  /// `[{"$inc":{"a":1}},…]`.
  package var updates: String
  package var token: String
  /// Whether more was changed since they were sent first.
  package var hasMore: Bool

  package init(
    updates: String, token: String, hasMore: Bool, form: Form = .operators
  ) {
    self.form = form
    self.updates = updates
    self.token = token
    self.hasMore = hasMore
  }
}

extension StoreError {
  /// The error for operators that are sent to a backend which carries out none.
  package static var noOperators: StoreError {
    StoreError(.unsupported, "This backend carries out no operators.")
  }
}
