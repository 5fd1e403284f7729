/// What a backend or a custom store of callbacks is asked for.
package enum BackendOperation: String, Sendable, CaseIterable {
  case fetch
  /// Records by their ids; of a custom store its values.
  case fetchIDs = "fetch_ids"
  /// Only of backends.
  case changes, write, live
  /// Only of custom stores.
  case load, save, relationship
  case obtainIDs = "obtain_ids"
}

/// What carries out the requests of a backend: functions of the host.
///
/// Its methods may be called from any thread, at the same time, and must not wait: who calls them waits for the
/// answer, up to its deadline.
package protocol BackendHandler: AnyObject, Sendable {
  func handles(_ operation: BackendOperation) -> Bool

  /// Begins a request, which is answered by `PendingRequests.complete` with its number: from any thread, also before
  /// this returns.
  func begin(_ operation: BackendOperation, number: UInt64, request json: [UInt8])

  /// The request has no waiter any more. It may have been completed at the same moment.
  func cancel(_ number: UInt64)
}
