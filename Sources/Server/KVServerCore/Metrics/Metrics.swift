internal import KVBase

/// What `/metrics` shows: requests, and what the parts of the server say of themselves at the time of asking. Safe from
/// any thread.
package final class Metrics: Sendable {
  /// Writes the families of one part. Called on any thread; must not wait for a database or the network.
  package typealias Source = @Sendable (inout MetricsText) -> Void

  package let requests = RequestMetrics()
  private let sources = Monitor([Source]())

  package init() {}

  /// Adds a part. It must not keep the owner of these metrics alive.
  package func add(_ source: @escaping Source) { sources.withLock { $0.append(source) } }

  /// The page, as it is now.
  package var page: Response {
    var text = MetricsText()
    requests.write(to: &text)
    for source in sources.withLock({ $0 }) { source(&text) }
    return Response(
      200, .whole(Payload(text.bytes)),
      headers: [("Content-Type", "text/plain; version=0.0.4; charset=utf-8")])
  }
}
