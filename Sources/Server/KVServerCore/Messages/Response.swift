package import KVJSON

/// The answer to one request.
package struct Response: Sendable {
  package var status: Int
  package var headers: [(name: String, value: String)]
  package var body: Body

  package enum Body: Sendable {
    case none
    case whole(Payload)
    /// Made piece by piece while it is sent, so that memory does not follow its length.
    case stream(any BodySource, for: Asker)
  }

  package init(_ status: Int, _ body: Body = .none, headers: [(name: String, value: String)] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// A response whose body is JSON.
  package static func json(_ status: Int, _ value: JSONValue) -> Response {
    json(status, Payload(value.bytes))
  }

  /// A response whose body is JSON already.
  package static func json(_ status: Int, _ body: Payload) -> Response {
    Response(status, .whole(body), headers: [contentType])
  }

  /// A response whose body is JSON already.
  package static func json(_ status: Int, _ bytes: [UInt8]) -> Response {
    json(status, Payload(bytes))
  }

  private static let contentType = (name: "Content-Type", value: "application/json; charset=utf-8")
}

/// Makes a long body. Asked for one piece at a time, from changing threads.
package protocol BodySource: AnyObject, Sendable {
  /// The next piece, not empty; nil at the end. May block. An error cuts the connection, so that the
  /// client cannot take a part for the whole.
  func nextPiece() throws -> Payload?
  /// How many bytes all pieces have; nil: that is seen when they end.
  var length: Int? { get }
}

extension BodySource {
  package var length: Int? { nil }
}

/// Sends the answer to one request. The first answer counts; any thread may send it.
package protocol Reply: AnyObject, Sendable {
  /// Whether the client has closed its side, so that an answer may not be received any more.
  var isAbandoned: Bool { get }
  func send(_ response: Response)
}

/// Answers requests. Called on an event thread that serves many connections: what may take long must
/// go elsewhere, and the reply may come at any later time.
package protocol RequestHandler: AnyObject, Sendable {
  /// Looks at the head of a request that has a body, of which nothing has been read yet.
  func checkHead(_ head: Request) -> HeadCheck
  func handle(_ request: Request, _ reply: any Reply)
  /// Whether a request is answered although there are too many connections.
  func isPrivileged(_ head: Request) -> Bool
  /// The answer to a request that cannot be handled.
  func refuse(_ problem: RequestProblem, requestId: String) -> Response
}

/// Whether the body of a request is wanted.
package enum HeadCheck: Sendable {
  /// The body is wanted if it has at most this many bytes. The client counts for its memory.
  case accepted(maxBodyBytes: Int, for: Asker)
  /// The same, but what comes goes to a place of its own, not into memory.
  case streamed(any BodySink, maxBodyBytes: Int, for: Asker)
  /// A worker has to find it out. Nothing of the body is read meanwhile. The closure does not give this again.
  case later(for: Asker, @Sendable () -> HeadCheck)
  case refused(Response)
}

/// Why a request does not get as far as its handler.
package enum RequestProblem: Sendable {
  /// The head breaks the rules of HTTP.
  case malformedHead(String)
  /// The target is no path, or an escape in it is broken.
  case malformedTarget
  case bodyTooLarge(limit: Int)
  /// The body is compressed, or coded in another way.
  case unsupportedCoding(String)
  /// The server is about to end.
  case stopping
  case tooManyConnections
  /// The bodies of other requests fill the memory for bodies.
  case outOfMemory
  /// The place that the body goes to takes no more.
  case notTaken
}
