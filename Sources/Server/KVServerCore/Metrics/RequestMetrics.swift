internal import KVBase

/// How many requests there were, by route, method and status, and how long they took. Safe from any thread; noting a
/// request is a few dozen nanoseconds under a lock.
package final class RequestMetrics: Sendable {
  /// The upper bounds of the buckets, in seconds. The long ones are for polls, which wait.
  static let bounds = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
  ]

  private struct Key: Hashable {
    var route: UInt8
    var method: UInt8
    var status: UInt16
  }

  private struct Histogram {
    /// How many fell into each bucket; the last one has no bound.
    var counts = [Int](repeating: 0, count: RequestMetrics.bounds.count + 1)
    var seconds = 0.0
    var bytes = 0

    mutating func add(seconds: Double, bytes: Int) {
      let bucket = RequestMetrics.bounds.firstIndex { seconds <= $0 } ?? RequestMetrics.bounds.count
      counts[bucket] += 1
      self.seconds += seconds
      self.bytes += bytes
    }
  }

  private let histograms = Monitor([Key: Histogram]())

  package init() {}

  /// Notes a request that has ended. `status` 0: its connection ended before there was an answer.
  package func add(
    _ route: RouteName, method: String, status: Int, nanoseconds: Int64, bytes: Int
  ) {
    let method = Self.methods.firstIndex(of: method) ?? Self.methods.count - 1
    let key = Key(
      route: UInt8(clamping: route.rawValue), method: UInt8(clamping: method),
      status: UInt16(clamping: status))
    histograms.withLock {
      $0[key, default: Histogram()].add(seconds: Double(nanoseconds) / 1e9, bytes: bytes)
    }
  }

  /// The methods that are told apart: clients could invent any number of others.
  private static let methods = [
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other",
  ]

  package func write(to page: inout MetricsText) {
    let all = histograms.withLock { $0 }.map { (labels: Self.labels($0.key), $0.value) }
      .sorted { $0.labels.map(\.value).lexicographicallyPrecedes($1.labels.map(\.value)) }
    page.begin(
      "kvstored_request_duration_seconds", .histogram,
      help:
        "Duration of requests by route, method and status, from the first byte of the head to the end of the answer."
    )
    for (labels, histogram) in all { Self.write(histogram, labels, to: &page) }
    page.begin(
      "kvstored_response_bytes_total", .counter, help: "Bytes of response bodies.")
    for (labels, histogram) in all { page.add(histogram.bytes, labels) }
  }

  private static func write(
    _ histogram: Histogram, _ labels: [MetricsText.Label], to page: inout MetricsText
  ) {
    var total = 0
    for (bound, count) in zip(bounds + [.infinity], histogram.counts) {
      total += count
      page.add(total, suffix: "_bucket", labels + [("le", MetricsText.text(of: bound))])
    }
    page.add(histogram.seconds, suffix: "_sum", labels)
    page.add(total, suffix: "_count", labels)
  }

  private static func labels(_ key: Key) -> [MetricsText.Label] {
    let route = RouteName(rawValue: Int(key.route)) ?? .unknown
    return [
      ("route", "\(route)"), ("method", methods[Int(key.method)]),
      ("status", key.status == 0 ? "none" : String(key.status)),
    ]
  }
}
