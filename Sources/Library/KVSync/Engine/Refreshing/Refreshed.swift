/// What a refresh has done so far.
struct Refreshed {
  var pulled = 0
  var removed = 0
  /// What the answer had, in its order; only if asked for.
  var ids: [String]?
  /// How many entities were received.
  var received = 0
  /// How many the backend sent in pages: more, if it cannot select as the query does.
  var answered = 0
  /// How many pages came.
  var pages = 0
  /// Whether what did not come is not there.
  var isComplete = true
  /// Whether only what has changed was read.
  var isDelta = false
  /// Whether reading ended at the most records that are wanted.
  var isCapped = false
  /// When the backend began to evaluate the first page.
  var startedAt: BackendMoment?
}

extension Refreshed {
  mutating func add(_ page: PageAnswer) {
    if pages == 0 { startedAt = page.answer.startedAt }
    pages += 1
    answered += page.count
    if !page.answer.isComplete { isComplete = false }
  }

  mutating func add(_ part: Self) {
    // Of one part only: when the first page of several was evaluated says nothing about the others.
    startedAt = pages == 0 ? part.startedAt : nil
    pages += part.pages
    pulled += part.pulled
    removed += part.removed
    received += part.received
    answered += part.answered
    isComplete = isComplete && part.isComplete
    isCapped = isCapped || part.isCapped
  }

  /// What a pull says of it.
  var pullResult: PullResult { PullResult(pulled: pulled, removed: removed) }
}
