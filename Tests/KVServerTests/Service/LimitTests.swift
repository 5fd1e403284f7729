internal import KVBase
internal import KVJSON
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerHTTP

@Suite("Limits and bad input") struct LimitTests {
  @Test("refuse bodies that are too large, announced or not")
  func bodies() throws {
    let server = try TestServer { $0.limits.bodyBytes = 2000 }
    let ana = try server.user("ana")
    let fits = "{\"x\":\"\(String(repeating: "x", count: 1992))\"}"
    #expect(fits.utf8.count == 2000)
    #expect(try server.send(as: ana, "POST", "/appdata/kid/notes", body: fits).status == 201)
    let announced = try server.send(as: ana, "POST", "/appdata/kid/notes", body: fits + " ")
    #expect(announced.status == 413 && announced.error == "RequestEntityTooLarge")
    let connection = try #require(RawConnection(port: server.port))
    let chunk = "7d1\r\n\(fits) \r\n0\r\n\r\n"
    connection.send(
      head("POST", "/appdata/kid/notes", as: ana, headers: "Transfer-Encoding: chunked") + chunk)
    #expect(HTTPClient.receive(connection)?.status == 413)
  }

  @Test("cut a body that does not end")
  func endlessBody() throws {
    let server = try TestServer { $0.limits.bodyBytes = 2000 }
    let ana = try server.user("ana")
    let connection = try #require(RawConnection(port: server.port))
    connection.send(
      head("POST", "/appdata/kid/notes", as: ana, headers: "Transfer-Encoding: chunked"))
    let chunk = "400\r\n\(String(repeating: " ", count: 1024))\r\n"
    var sent = 0
    while sent < 20_000, connection.send(chunk) { sent += 1 }
    #expect(sent < 20_000)
  }

  @Test("cut a request that is not whole in time, however it drips")
  func slowRequests() throws {
    let server = try TestServer { $0.limits.requestSeconds = 1 }
    let start = monotonicNanoseconds()
    for prefix in ["", "GET /appd", "GET /healthz HTTP/1.1\r\nHost: x\r\n"] {
      let connection = try #require(RawConnection(port: server.port))
      connection.send(prefix)
      let worker = Worker("drip") {
        // One byte at a time, faster than any limit on silence, until the server has had enough.
        while connection.drip(), monotonicNanoseconds() - start < 300_000_000_000 {}
      }
      _ = connection.drain()
      worker?.join()
      #expect(connection.isAtEnd)
    }
    #expect(monotonicNanoseconds() - start < 60_000_000_000)
  }

  @Test("answer broken HTTP with 400 or by hanging up, and go on")
  func brokenHTTP() throws {
    // The HTTP library may miss the end of what has no line, if it comes with it: that connection ends as an idle one.
    let server = try TestServer { $0.limits.requestSeconds = 5 }
    // With the status of the answer; nil: the connection ends without one, since no line of it says what it wants.
    let messages: [(text: String, status: Int?)] = [
      ("\r\n\r\nHELLO\r\n\r\n", nil), ("HELLO\r\n\r\n", nil), ("GET\r\n\r\n", nil),
      ("GET /healthz\r\n\r\n", 400), ("GET /healthz HTTP/9.9\r\n\r\n", 505),
      ("GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400), ("GET * HTTP/1.1\r\nHost: x\r\n\r\n", 400),
      ("GET /healthz HTTP/1.1\r\nno colon\r\n\r\n", 400),
      ("POST /user/kid HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n", 400),
      ("POST /user/kid HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n", 413),
      // Refused for want of credentials, before the first chunk is read.
      ("POST /user/kid HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 401),
      ("POST /user/kid HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: nonsense\r\n\r\n", 400),
      ("\u{0}\u{1}\u{2}\u{3}", nil), (String(repeating: "A", count: 200_000), 414),
    ]
    for (message, status) in messages {
      let connection = try #require(RawConnection(port: server.port))
      connection.send(message)
      connection.endOutput()
      let answer = String(decoding: connection.drain(), as: UTF8.self)
      let expected = status.map { " \($0) " } ?? ""
      #expect(
        answer.dropFirst("HTTP/1.1".count).hasPrefix(expected) && answer.isEmpty == (status == nil),
        "\(message.prefix(40)): \(answer.prefix(80))")
      #expect(try server.send(as: .nobody, "GET", "/healthz").status == 200)
    }
  }

  @Test("refuse headers beyond any measure")
  func headers() throws {
    let server = try TestServer()
    let connection = try #require(RawConnection(port: server.port))
    connection.send("GET /healthz HTTP/1.1\r\nHost: x\r\n")
    let line = "X-Filler: \(String(repeating: "x", count: 1000))\r\n"
    for _ in 0..<200 { guard connection.send(line) else { break } }
    connection.send("\r\n")
    let answer = String(decoding: connection.drain(), as: UTF8.self)
    #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 431") || answer.hasPrefix("HTTP/1.1 413"))
    #expect(try server.send(as: .nobody, "GET", "/healthz").status == 200)
  }

  @Test("refuse bodies that are no JSON, or JSON of the wrong kind")
  func brokenJSON() throws {
    let server = try TestServer()
    let ana = try server.user("ana")
    let texts: [([UInt8], String)] = [
      ([], "JSONParseError"), (Array("{".utf8), "JSONParseError"),
      (Array("{} x".utf8), "JSONParseError"), (Array("{'a':1}".utf8), "JSONParseError"),
      ([0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D], "JSONParseError"),
      (Array("{\"a\":\"\\ud800\"}".utf8), "JSONParseError"),
      (Array("7".utf8), "InputValidationFailed"), (Array("null".utf8), "InputValidationFailed"),
      (Array("\"text\"".utf8), "InputValidationFailed"),
    ]
    let authorization = ("Authorization", try #require(ana.authorization))
    for (body, error) in texts {
      for (method, path) in [("POST", "/appdata/kid/notes"), ("PUT", "/appdata/kid/notes/x")] {
        let answer = try server.client().send(
          method, path, headers: [authorization], body: body)
        #expect(answer?.status == 400 && answer?.error == error, "\(method) \(body)")
      }
    }
    for path in ["/user/kid", "/user/kid/login", "/rpc/kid/check-username-exists"] {
      #expect(try server.send(as: .app, "POST", path, body: "{").error == "JSONParseError")
      #expect(try server.send(as: .app, "POST", path, body: "[]").error == "BadRequest")
    }
  }

  @Test("refuse JSON that is nested too deep, without falling over")
  func deepJSON() throws {
    let server = try TestServer()
    let ana = try server.user("ana")
    for depth in [1000, 100_000, 1_000_000] {
      let open = String(repeating: "[", count: depth)
      let close = String(repeating: "]", count: depth)
      let body = "{\"a\":\(open)\(close)}"
      let path = "/appdata/kid/notes"
      #expect(try server.send(as: ana, "POST", path, body: body).error == "JSONParseError")
      #expect(try server.send(as: ana, "POST", path, body: open).error == "JSONParseError")
      let error = body.utf8.count > 1 << 20 ? "RequestEntityTooLarge" : "JSONParseError"
      #expect(try server.send(as: .app, "POST", "/user/kid", body: body).error == error)
      let access = "{\"_acl\":\(String(repeating: "{\"a\":", count: depth))"
      #expect(try server.send(as: ana, "POST", path, body: access).error == "JSONParseError")
    }
    let filter = String(repeating: "{\"$and\":[", count: 1000)
    #expect(try server.send(as: ana, "GET", query("/appdata/kid/notes", filter)).status == 400)
  }

  @Test("let a client send several requests at once on one connection")
  func pipelining() throws {
    let server = try TestServer()
    let connection = try #require(RawConnection(port: server.port))
    let one = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    connection.send(String(repeating: one, count: 20))
    for _ in 0..<20 { #expect(HTTPClient.receive(connection)?.status == 200) }
  }

  @Test("bound the connections of one address")
  func connections() throws {
    let server = try TestServer { $0.limits.connectionsPerAddress = 3 }
    let clients = try (0..<3).map { _ in try server.client() }
    for client in clients { #expect(client.send("GET", "/healthz")?.status == 200) }
    let refused = RawConnection(port: server.port)
    refused?.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(refused?.drain().isEmpty != false)
  }

  private func head(
    _ method: String, _ path: String, as who: TestServer.Who, headers more: String
  ) -> String {
    "\(method) \(path) HTTP/1.1\r\nHost: x\r\nAuthorization: \(who.authorization ?? "")\r\n\(more)\r\n\r\n"
  }
}
