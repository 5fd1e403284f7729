/// One request on its way and where its answer goes.
final class Exchange: Sendable {
  let request: HTTPRequest
  let sink: any Sink

  init(_ request: HTTPRequest, sink: any Sink) {
    self.request = request
    self.sink = sink
  }
}
