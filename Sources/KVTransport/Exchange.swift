/// One request on its way and where its answer goes.
final class Exchange: Sendable {
  let request: HTTPRequest
  let sink: any Sink
  let isStreamed: Bool

  /// `isStreamed`: much may come; the connection reads in big steps.
  init(_ request: HTTPRequest, sink: any Sink, isStreamed: Bool) {
    self.request = request
    self.sink = sink
    self.isStreamed = isStreamed
  }
}
