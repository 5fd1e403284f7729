/// A backend's remote with everything that is done around its requests. All reads and writes of entities go through
/// it, so that no caller has to know the layers. From the inside to the outside:
///
/// 1. `RenewingRemote`, next to the backend: the other layers do not notice that a session had expired, and the request that
///    goes out again in its place is no retry.
/// 2. `ConnectivityMiddleware`: notes each attempt, and what came of it in the end.
/// 3. `RetryingRemote`: so each attempt is one of those two, and has a session that is good.
/// 4. `LocalFilteringRemote`, outermost: makes one query into several requests, each of which is renewed and retried by
///    itself.
///
/// `renewal` nil: sessions do not run out, or there are none. `connectivity` may be nil.
package func layers(
  around remote: any Remote, _ renewal: (any SessionRenewal)? = nil,
  connectivity: Connectivity? = nil
) -> LocalFilteringRemote {
  var remote = remote
  if let renewal { remote = RenewingRemote(remote, renewal) }
  if let connectivity { remote = ConnectivityMiddleware(remote, connectivity) }
  return LocalFilteringRemote(RetryingRemote(remote))
}

/// The same for its live service, which waits and comes back by itself: see `LiveFeed`.
package func layers(
  around live: any LiveRemote, _ renewal: (any SessionRenewal)? = nil
) -> any LiveRemote {
  guard let renewal else { return live }
  return RenewingLive(live, renewal)
}
