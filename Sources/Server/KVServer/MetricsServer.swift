internal import KVServerCore
internal import KVServerHTTP

/// Answers `/metrics` on an address of its own, by a thread of its own: also while all others are busy.
final class MetricsServer: Sendable {
  let address: ListenAddress
  private let http: HTTPServer

  init(
    _ service: Service, at wanted: ListenAddress, hosts: [String], log: Log
  ) throws(Server.Failure) {
    let socket = try Server.listen(wanted)
    address = socket.address
    var limits = HTTPLimits()
    limits.connections = 100
    limits.bodyBytes = 1024
    http = HTTPServer(
      limits: limits, pool: WorkerPool("kv-metrics", threads: 1, limit: 10),
      handler: MetricsHandler(service, hosts: hosts), observer: { _ in },
      log: { log.debug("metrics: \($0)") })
    guard http.start(on: socket.release(), threads: 1, tls: nil) else {
      throw Server.Failure("cannot start HTTP on \(address); --log-level debug shows the reason")
    }
  }

  func stop() { http.stop(graceSeconds: 0) }
}

extension RequestMetrics {
  func add(_ record: RequestRecord) {
    add(
      record.route, method: record.method, status: record.status, nanoseconds: record.nanoseconds,
      bytes: record.bytes)
  }
}
