internal import KVBase
package import KVSync

extension AppSyncRemote {
  /// Sends one after the other: a backend that merges has each on top of the one before.
  package func send(
    _ writes: [RemoteWrite], in collection: String, call: Call,
    outcome: (Int, Result<RemoteOutcome, StoreError>) -> Void
  ) {
    for (index, write) in writes.enumerated() {
      outcome(
        index,
        Result { () throws(StoreError) in
          guard !call.cancellation.isCancelled else {
            throw StoreError(.cancelled, "The call was cancelled.")
          }
          return try ModelWriter(self, try table(collection), call: call).outcome(of: write)
        })
    }
  }
}
