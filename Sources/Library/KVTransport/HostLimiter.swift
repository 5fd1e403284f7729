/// Limits how many exchanges each host has at once; the others wait in the order in which they came.
///
/// libcurl has such a limit as well (`CURLMOPT_MAX_HOST_CONNECTIONS`). But it does not always notice that a connection
/// has become free, so that a transfer waited until its time to connect was over; and it counts the wait as part of
/// that time.
struct HostLimiter {
  private struct Host {
    var running = 0
    var waiting: [Exchange] = []
  }

  private let limit: Int
  /// The hosts by `Exchange.host`. Two names that only look the same would share a limit, which does no harm.
  private var hosts: [String: Host] = [:]

  init(limit: Int) { self.limit = max(1, limit) }

  /// Whether an exchange may begin now; if not, it waits here.
  mutating func admit(_ exchange: Exchange) -> Bool {
    var host = hosts[exchange.host, default: Host()]
    let mayBegin = host.running < limit
    if mayBegin { host.running += 1 } else { host.waiting.append(exchange) }
    hosts[exchange.host] = host
    return mayBegin
  }

  /// Removes one that was admitted and has ended; returns the one that may begin now.
  mutating func leave(_ exchange: Exchange) -> Exchange? {
    guard var host = hosts[exchange.host] else { return nil }
    let next = host.waiting.isEmpty ? nil : host.waiting.removeFirst()
    if next == nil { host.running -= 1 }
    hosts[exchange.host] = host.running > 0 ? host : nil
    return next
  }

  /// Removes one that may be waiting: it is not to begin any more.
  mutating func remove(_ exchange: Exchange) {
    hosts[exchange.host]?.waiting.removeAll { $0 === exchange }
  }

  /// Removes and returns all that wait.
  mutating func removeAllWaiting() -> [Exchange] {
    let waiting = hosts.values.flatMap(\.waiting)
    for name in hosts.keys { hosts[name]?.waiting = [] }
    return waiting
  }
}
