internal import KVBase

/// One request on its way and where its answer goes.
final class Exchange: Sendable {
  let request: HTTPRequest
  let sink: any Sink
  /// Moves on while bytes travel, if it allows for progress.
  let deadline: Deadline
  /// The server: scheme, host and port, as they are written in the URL.
  let host: String

  init(_ request: HTTPRequest, sink: any Sink, until deadline: Deadline) {
    self.request = request
    self.sink = sink
    self.deadline = deadline
    host = Self.host(of: request.url)
  }

  private static func host(of url: String) -> String {
    var slashes = 0
    let isBeforePath: (UInt8) -> Bool = { byte in
      if byte == UInt8(ascii: "/") { slashes += 1 }
      return slashes < 3
    }
    return String(decoding: url.utf8.prefix(while: isBeforePath), as: UTF8.self)
  }
}
