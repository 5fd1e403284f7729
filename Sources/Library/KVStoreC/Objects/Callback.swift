internal import CKVStore

/// A function of the host with its context and the function that frees it.
///
/// `@unchecked Sendable`: the context is the host's; it is only handed back, on the thread that the
/// header promises. `retire` is called exactly once, at the end of the last call.
struct Callback<Function>: @unchecked Sendable {
  let function: Function
  let context: UnsafeMutableRawPointer?
  fileprivate let free: kv_free_fn?

  init(_ function: Function, _ context: UnsafeMutableRawPointer?, free: kv_free_fn?) {
    self.function = function
    self.context = context
    self.free = free
  }

  /// Lets the host free its context: after the last call, or instead of any.
  func retire() { free?(context) }
}

extension Callback where Function == kv_answer_fn? {
  /// Whether there is anything to call, if only to free the context.
  var isWanted: Bool { function != nil || free != nil }
}

typealias AnswerCallback = Callback<kv_answer_fn?>
typealias TokenCallback = Callback<kv_token_fn>
typealias MigrationCallback = Callback<kv_migration_fn>
typealias LogCallback = Callback<kv_log_fn>
typealias ConflictCallback = Callback<kv_conflict_fn>
typealias EventCallback = Callback<EventHandlers>

/// The functions that a subscription calls, by what there is to tell; nil: the host does not want to know.
struct EventHandlers {
  enum Kind {
    case ready, next, status, failure
  }

  private let ready, next, status, failure: kv_event_fn?

  /// One function for all kinds of events.
  init(_ receive: @escaping kv_event_fn) {
    (ready, next, status, failure) = (receive, receive, receive, receive)
  }

  /// One for everything, if the host wants to be told at all.
  init(ifAny receive: kv_event_fn?) {
    (ready, next, status, failure) = (receive, receive, receive, receive)
  }

  /// A function for each kind; nil if there is no function at all.
  init?(
    ready: kv_event_fn?, next: kv_event_fn?, status: kv_event_fn?, failure: kv_event_fn?
  ) {
    guard ready != nil || next != nil || status != nil || failure != nil else { return nil }
    (self.ready, self.next, self.status, self.failure) = (ready, next, status, failure)
  }

  subscript(_ kind: Kind) -> kv_event_fn? {
    switch kind {
    case .ready: ready
    case .next: next
    case .status: status
    case .failure: failure
    }
  }
}
