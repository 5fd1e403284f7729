/// Tells a backend that cannot be reached from an entity whose request gets no answer.
///
/// One request without an answer says little: it may be that its entity makes the connection break, and
/// then the queue behind it must not wait for it. Several in a row, with no answer in between, say that
/// the backend is gone. Which of the two it was is known after the next answer, or when the push is over.
struct Reachability {
  /// After so many requests in a row without an answer the backend counts as gone.
  private static let patience = 6

  /// The writes of the requests that have had no answer since the last answer.
  private(set) var unanswered: [(write: PendingWrite, error: StoreError)] = []
  private var inRow = 0
  /// Whether nothing may overtake a write that has had no answer.
  private let isStrict: Bool

  /// `isStrict`: the first request without an answer ends it, unless it has been in vain several times: then it is
  /// perhaps because of the entity.
  init(isStrict: Bool = false) { self.isStrict = isStrict }

  /// Why it is not worth going on; nil: it is.
  var isGone: Bool { inRow >= Self.patience }

  /// Why the writes without an answer had none; nil: there are none.
  var silence: StoreError? { unanswered.last?.error }

  /// Notes that the backend has answered. Gives the writes that had no answer before: it was because of themselves.
  mutating func recordAnswer() -> [(write: PendingWrite, error: StoreError)] {
    defer { self = Reachability(isStrict: isStrict) }
    return unanswered
  }

  /// A request with these writes had no answer.
  mutating func recordSilence(_ writes: [PendingWrite], _ error: StoreError) {
    let isNew = writes.allSatisfy { $0.attempts <= PushBatch.maxAttempts }
    inRow += isStrict && isNew ? Self.patience : 1
    unanswered += writes.map { ($0, error) }
  }
}
