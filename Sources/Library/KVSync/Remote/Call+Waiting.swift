package import KVBase

extension Call {
  /// Waits until `body`, which runs with the monitor's lock held, returns something other than nil.
  ///
  /// Throws `.cancelled` the moment the call is, and `.timeout` with this message at its deadline.
  package func wait<Value, R>(
    on monitor: Monitor<Value>, timeout message: String, for body: (inout Value) -> R?
  ) throws(StoreError) -> R {
    let result = cancellation.notifying {
      monitor.withLockNotifyingAll { _ in }
    } during: {
      monitor.wait(until: deadline) { value -> Result<R, StoreError>? in
        guard !cancellation.isCancelled else {
          return .failure(StoreError(.cancelled, "The call was cancelled."))
        }
        return body(&value).map { .success($0) }
      }
    }
    guard let result else { throw StoreError(.timeout, message) }
    return try result.get()
  }
}
