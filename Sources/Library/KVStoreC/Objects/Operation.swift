internal import KVBase
internal import KVClient
internal import KVSync

/// What an operation may use while it runs.
struct OperationContext: Sendable {
  /// Cancels the operation.
  var cancellation: Cancellation
  /// Counts what the operation has done, for `kv_request_progress`.
  var progress: Progress
  /// Receives the local answer of an operation that has two.
  var early: @Sendable (Outcome) -> Void

  /// The same with the options of the call, as stores take it.
  func run(_ options: Options?) -> DataStore.Run {
    DataStore.Run(options, cancellation: cancellation, progress: progress)
  }
}

/// One call of the header that may wait for the network: made from its arguments by both of its forms, then
/// run on the caller's thread or on one of the library's.
struct Operation: Sendable {
  typealias Body = @Sendable (OperationContext) throws(StoreError) -> Answered<Outcome>

  let client: ClientObject
  /// Whether it never waits for the network: then it need not wait behind what does.
  let isLocal: Bool
  let body: Body

  init(on client: ClientObject, isLocal: Bool = false, _ body: @escaping Body) {
    self.client = client
    self.isLocal = isLocal
    self.body = body
  }
}

extension Answered {
  func map<Other: Sendable>(_ change: (Value) -> Other) -> Answered<Other> {
    Answered<Other>(change(value), isLocal: isLocal)
  }
}

extension Answered where Value == Outcome {
  /// What only the backend can have said.
  static func remote(_ outcome: Outcome) -> Answered<Outcome> { Answered(outcome, isLocal: false) }
}
