internal import KVBase

/// `/metrics`.
extension Service {
  /// The page, for clients with the master secret of one of the apps.
  func metrics(_ request: Request) throws(ServerError) -> Response {
    guard try isAdministrator(request) else {
      throw ServerError(
        .invalidCredentials, "this needs a master secret of an app, with the scope read or admin")
    }
    return metrics.page
  }

  /// Whether a request has the master secret of one of the apps.
  func isAdministrator(_ request: Request) throws(ServerError) -> Bool {
    // The key says of which app the secret has to be. One that no app has is held against any of them.
    let header = request.headers[.authorization]
    let named = apps.all.first { Authenticator.names($0.app, header) } ?? apps.all.first
    guard let named else { return false }
    do throws(ServerError) {
      guard let master = try proof(request, for: named.app).master else { return false }
      return !master.scopes.isDisjoint(with: Route.metrics.scopes(for: .get))
    } catch {
      if error.code == .invalidCredentials { return false }
      throw error
    }
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
