extension StoreStatus {
  package func write(to page: inout MetricsText) {
    page.add(
      "kvstored_feed_waiting", .gauge, help: "Commits that live data has not processed yet.",
      value: feedWaiting)
    page.add(
      "kvstored_feed_age_seconds", .gauge,
      help:
        "The age in seconds of the oldest commit that live data has not processed; above 5 the server is not healthy.",
      value: feedAge)
    if let pool { Self.write(pool, to: &page) }
    page.begin("kvstored_storage_bytes", .gauge, help: "The size of the stored data.")
    for (part, count) in bytes { page.add(count, [("part", part)]) }
  }

  private static func write(_ pool: Pool, to page: inout MetricsText) {
    page.begin("kvstored_pool_connections", .gauge, help: "Connections to the database.")
    page.add(pool.open - pool.idle, [("state", "busy")])
    page.add(pool.idle, [("state", "idle")])
    page.add(
      "kvstored_pool_connections_max", .gauge, help: "The limit of connections.",
      value: pool.limit)
    page.add(
      "kvstored_pool_waiting", .gauge, help: "Threads that wait for a connection.",
      value: pool.waiting)
    page.add(
      "kvstored_pool_round_trips_total", .counter,
      help: "Round trips to the database: one may carry several statements.",
      value: pool.roundTrips)
  }
}
