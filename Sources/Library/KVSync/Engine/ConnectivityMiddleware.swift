/// A backend each of whose answers, and silences, tells whether it can be reached.
package final class ConnectivityMiddleware: RemoteMiddleware {
  package let remote: any Remote
  private let connectivity: Connectivity

  package init(_ remote: any Remote, _ connectivity: Connectivity) {
    self.remote = remote
    self.connectivity = connectivity
  }

  package func around<R>(
    _ call: Call, _ request: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try connectivity.noting(request)
  }

  package func send(
    _ writes: [RemoteWrite], in collection: String, call: Call,
    outcome: (Int, Result<RemoteOutcome, StoreError>) -> Void
  ) {
    remote.send(writes, in: collection, call: call) { index, result in
      if case .failure(let error) = result {
        connectivity.record(error)
      } else {
        connectivity.record(nil)
      }
      outcome(index, result)
    }
  }
}
