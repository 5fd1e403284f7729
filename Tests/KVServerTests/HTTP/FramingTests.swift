import KVJSON
import Testing

@testable import KVServer
@testable import KVServerCore

/// Bytes in, bytes out: what could be understood in two ways is refused, so that no request hides inside another.
@Suite("HTTP framing") struct FramingTests {
  private static let start =
    "POST /appdata/kid/notes HTTP/1.1\r\nHost: x\r\nAuthorization: Basic a2lkOm1hcw==\r\n"
  private static let body = "{\"a\":1}"
  private static let chunks = "7\r\n{\"a\":1}\r\n0\r\n\r\n"

  /// A request with these headers, and a body of seven bytes.
  private static func post(_ headers: String) -> String { "\(start)\(headers)\r\n\r\n\(body)" }
  /// The same with a body in chunks.
  private static func chunked(_ headers: String, _ chunks: String = chunks) -> String {
    "\(start)\(headers)\r\n\r\n\(chunks)"
  }
  private static func get(_ rest: String) -> String { "GET /healthz HTTP/1.1\r\n\(rest)" }

  private static let length = "Content-Length: 7"
  private static let coding = "Transfer-Encoding: chunked"

  static let ambiguous: [(String, String)] = [
    ("space before a colon", post("Content-Length : 7")),
    ("tab before a colon", post("Content-Length\t: 7")),
    ("length and coding", chunked("\(length)\r\n\(coding)")),
    ("coding and length", chunked("\(coding)\r\n\(length)")),
    ("two lengths", post("\(length)\r\nContent-Length: 8")),
    ("one length twice", post("\(length)\r\ncontent-length: 7")),
    ("two hosts", post("Host: y\r\n\(length)")),
    ("no host", get("\r\n")),
    ("two credentials", post("Authorization: Basic eDp5\r\n\(length)")),
    ("a NUL in a value", post("X: a\0b\r\n\(length)")),
    ("a NUL at the end of a value", post("X: a\0\r\n\(length)")),
    ("two NULs in a value", post("X: a\0\0Y: b\r\n\(length)")),
    ("NULs that look like the end", post("X: a\0\0\0\0\r\n\(length)")),
    ("a NUL in the target", "GET /healthz\0x HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("a control character", get("Host: x\r\nX: a\u{1}b\r\n\r\n")),
    ("a lone CR", get("Host: x\r\nX: a\rb\r\n\r\n")),
    ("a bare LF after a header", get("Host: x\nX: y\r\n\r\n")),
    ("a bare LF after the first line", "GET /healthz HTTP/1.1\nHost: x\r\n\r\n"),
    ("bare LFs", get("Host: x\n\n")),
    ("a bare LF at the end", get("Host: x\r\n\n")),
    ("a folded line", get("Host: x\r\nX: a\r\n b\r\n\r\n")),
    ("a folded first line", get(" Host: y\r\nHost: x\r\n\r\n")),
    ("a header without a name", get("Host: x\r\n: y\r\n\r\n")),
    ("a name with a bracket", get("Host: x\r\nX(: y\r\n\r\n")),
    ("an unknown coding", chunked("Transfer-Encoding: gzip")),
    ("a list of codings", chunked("Transfer-Encoding: gzip, chunked")),
    ("identity", post("Transfer-Encoding: identity")),
    ("two codings", chunked("\(coding)\r\nTransfer-Encoding: x")),
    ("chunks in HTTP/1.0", chunked(coding).replacing("HTTP/1.1", with: "HTTP/1.0")),
    ("an escape in the method", "G\u{1B}[2JET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("a tab after the method", "GET\t /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("a method with a quote", "G\"ET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("a method outside of ASCII", "GÉT /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
    (
      "a long method",
      "\(String(repeating: "A", count: 33)) /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    ),
    ("two spaces", "GET  /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("a space in the target", "GET /healthz x HTTP/1.1\r\nHost: x\r\n\r\n"),
  ]

  @Test(
    "refuses an ambiguous head with 400 in the protocol's shape, and closes", arguments: ambiguous)
  func refuses(name: String, message: String) throws {
    let server = try TestServer()
    // What would be taken for a second request if the first one ended elsewhere.
    let answers = try exchange(server, message + Self.get("Host: x\r\n\r\n"))
    #expect(answers.count == 1 && answers.first?.status == 400, "\(name): \(answers.map(\.text))")
    #expect(answers.first?.error == "BadRequest", "\(name): \(answers.map(\.text))")
    #expect(try server.send(as: .master, "GET", "/appdata/kid/notes").json == .array([]), "\(name)")
  }

  static let allowed: [(String, String)] = [
    ("chunks", chunked(coding)),
    ("capitals", chunked("transfer-encoding: CHUNKED")),
    ("an extension", chunked(coding, "7;a=b\r\n{\"a\":1}\r\n0\r\n\r\n")),
    ("a trailer", chunked(coding, "7\r\n{\"a\":1}\r\n0\r\nX: y\r\n\r\n")),
    ("no space after a colon", post("Content-Length:7")),
    ("tabs after a colon", post("Content-Length:\t \t7")),
    ("empty values", post("X:\r\nY: \r\n\(length)")),
    ("UTF-8 in a value", post("X: é\r\n\(length)")),
    ("an empty line in front", "\r\n" + post(length)),
    ("what may be repeated", post("X: 1\r\nX: 2\r\nCookie: a=b; c=\"d\"\r\n\(length)")),
    ("odd parameters", post(length).replacing("notes", with: "notes?a&b=c&=&d=%20+&&")),
  ]

  @Test("accepts what is allowed, if unusual", arguments: allowed)
  func accepts(name: String, message: String) throws {
    let server = try TestServer()
    let connection = try #require(RawConnection(port: server.port))
    connection.send(message)
    #expect(HTTPClient.receive(connection)?.status == 201, "\(name)")
  }

  @Test("refuses a body that is compressed with 415, and says of every answer that it is private")
  func codedBodies() throws {
    let server = try TestServer()
    for (coding, status) in [
      ("gzip", 415), ("br", 415), ("gzip, identity", 415), ("identity", 201),
    ] {
      let answers = try exchange(
        server, Self.post("Connection: close\r\n\(Self.length)\r\nContent-Encoding: \(coding)"))
      #expect(answers.first?.status == status, "\(coding)")
      #expect(answers.first?.headers["cache-control"] == "no-store")
      #expect(answers.first?.headers["x-content-type-options"] == "nosniff")
    }
    let health = try server.send(as: .nobody, "GET", "/healthz").expect(200)
    #expect(health.headers["x-content-type-options"] == "nosniff")
    let unreadable = try exchange(server, "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(unreadable.first?.headers["cache-control"] == "no-store")
  }

  @Test("takes six hundred parameters, and HTTP/1.0 without a host")
  func more() throws {
    let server = try TestServer()
    let parameters = (0..<600).map { "p\($0)=\($0)" }.joined(separator: "&")
    #expect(try server.send(as: .master, "GET", "/appdata/kid/notes?\(parameters)").status == 200)
    let old = try #require(RawConnection(port: server.port))
    old.send("GET /healthz HTTP/1.0\r\n\r\n")
    #expect(old.line()?.hasSuffix("200 OK") == true)
  }

  /// What libmicrohttpd refuses by itself has its own text: what docs/kvstored.md tells about proxies.
  @Test(
    "leaves to the library what that refuses, in words of its own",
    arguments: [
      post("Content-Length: 7, 7"), post("Content-Length: +7"), post("Content-Length: +5"),
      post("Content-Length: 7 "),
      post("Content-Length: 0x7"), post("no colon"), post("X\0Y: z"),
      post(length).replacing("HTTP/1.1", with: "HTTP/1.1 "),
      chunked(coding, "0x7\r\n{\"a\":1}\r\n0\r\n\r\n"),
      chunked(coding, "7\r\n{\"a\":1}x\r\n0\r\n\r\n"),
    ])
  func library(message: String) throws {
    let server = try TestServer()
    let answers = try exchange(server, message)
    #expect(answers.first?.status == 400)
    #expect(answers.allSatisfy { $0.status == 400 })
    #expect(try server.send(as: .master, "GET", "/appdata/kid/notes").json == .array([]))
  }

  /// These the library tolerates, and shows nothing of: docs/kvstored.md says so.
  @Test(
    "cannot tell a bare LF in chunks from CR LF",
    arguments: [
      "7\n{\"a\":1}\r\n0\r\n\r\n", "7\r\n{\"a\":1}\n0\r\n\r\n", "7\r\n{\"a\":1}\r\n0\n\n",
    ])
  func chunkLines(chunks: String) throws {
    let server = try TestServer()
    let connection = try #require(RawConnection(port: server.port))
    connection.send(Self.chunked(Self.coding, chunks))
    #expect(HTTPClient.receive(connection)?.status == 201)
  }

  @Test("answers a chunk extension that fills the connection's memory with the library's 500")
  func longExtension() throws {
    let server = try TestServer()
    let connection = try #require(RawConnection(port: server.port))
    connection.send(Self.chunked(Self.coding, "7;"))
    connection.send(String(repeating: "x", count: 60_000))
    #expect(connection.line() == "HTTP/1.1 500 Internal Server Error")
    #expect(try server.send(as: .master, "GET", "/appdata/kid/notes").json == .array([]))
  }

  /// Sends bytes, and reads answers until the server closes.
  private func exchange(_ server: TestServer, _ message: String) throws -> [HTTPAnswer] {
    let connection = try #require(RawConnection(port: server.port))
    connection.send(message)
    var answers: [HTTPAnswer] = []
    while let answer = HTTPClient.receive(connection) { answers.append(answer) }
    #expect(connection.isAtEnd)
    return answers
  }
}
