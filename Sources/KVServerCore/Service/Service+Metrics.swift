internal import KVBase

/// `/metrics`.
extension Service {
  /// The page, for whoever has the master secret of one of the apps.
  func metrics(_ request: Request) throws(ServerError) -> Response {
    let header = request.headers[.authorization]
    let isMaster = apps.all.contains { served in
      guard case .principal(.master) = try? Authenticator.claim(header, for: served.app) else {
        return false
      }
      return true
    }
    guard isMaster else {
      throw ServerError(.invalidCredentials, "this needs the master secret of an app")
    }
    return metrics.page
  }

  /// Adds what the service's own parts say of themselves.
  func addMetrics(pools: [(name: String, pool: WorkerPool)]) {
    metrics.add { page in
      let all = pools.map { ($0.name, $0.pool.status) }
      page.begin("kvstored_workers", .gauge, help: "Threads that work on requests.")
      for (name, status) in all { page.add(status.threads, [("pool", name)]) }
      page.begin("kvstored_workers_busy", .gauge, help: "Threads that work on a request now.")
      for (name, status) in all { page.add(status.running, [("pool", name)]) }
      page.begin("kvstored_work_waiting", .gauge, help: "Requests that wait for a thread.")
      for (name, status) in all { page.add(status.waiting, [("pool", name)]) }
    }
    metrics.add { [live] page in
      page.add(
        "kvstored_polls_waiting", .gauge, help: "Long polls that wait for a message.",
        value: live.waitingCount)
    }
    if !settings.logic.all.isEmpty {
      metrics.add { [logicMetrics] page in logicMetrics.write(to: &page) }
    }
    metrics.add { [store] page in store.status.write(to: &page) }
  }
}
