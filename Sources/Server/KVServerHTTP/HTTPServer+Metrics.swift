package import KVServerCore

extension HTTPServer {
  package func write(to page: inout MetricsText) {
    let status = status
    page.add("kvstored_connections", .gauge, help: "Open connections.", value: status.connections)
    page.add(
      "kvstored_connections_max", .gauge, help: "The limit of open connections.",
      value: limits.connections)
    page.add(
      "kvstored_requests_active", .gauge,
      help: "Requests without an answer, including waiting polls.",
      value: status.requests)
    page.add(
      "kvstored_body_memory_bytes", .gauge, help: "The memory of request bodies.",
      value: status.bodyMemory)
    page.add(
      "kvstored_body_memory_max_bytes", .gauge, help: "The limit of that memory.",
      value: limits.bodyMemory)
  }
}
