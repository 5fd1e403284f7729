internal import KVBase

/// How the calls to the operator's service went. Safe from any thread.
final class LogicMetrics: Sendable {
  enum Outcome: String, CaseIterable { case accepted, refused, failed, unavailable, busy }

  private struct Key: Hashable {
    var event: String
    var outcome: String
  }

  /// By names of ours: hooks, `custom`, and outcomes.
  private let counts = Monitor([Key: Int]())

  func add(_ event: String, _ outcome: Outcome) {
    counts.withLock { $0[Key(event: event, outcome: outcome.rawValue), default: 0] += 1 }
  }

  func write(to page: inout MetricsText) {
    let all = counts.withLock { $0 }.sorted {
      ($0.key.event, $0.key.outcome) < ($1.key.event, $1.key.outcome)
    }
    page.begin(
      "kvstored_logic_calls_total", .counter, help: "Calls to business logic by their outcome.")
    for (key, count) in all {
      page.add(count, [("event", key.event), ("outcome", key.outcome)])
    }
  }
}
