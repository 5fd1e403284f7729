import KVBase
import KVTestSupport
import KVTransport
import Testing

@Suite("Exchanges over HTTP") struct TransportTests {
  @Test("A request arrives as it was written")
  func request() throws {
    try withServer {
      $1.send(ScriptedReply(201, headers: [("X-Echo", "yes")], "made"))
    } run: { transport, server in
      let answer = try transport.exchange(
        HTTPRequest(
          "POST", server.url + "/a/b%20c?x=%2B1",
          headers: [HTTPHeader("Content-Type", "application/json"), HTTPHeader("X-Empty", "")],
          body: .bytes(Array(#"{"n":1}"#.utf8))),
        until: .after(seconds: 120), cancellation: Cancellation())
      #expect(answer.head.status == 201)
      #expect(answer.head["x-echo"] == "yes")
      #expect(answer.body == Array("made".utf8))
      let request = try #require(server.requests.first)
      #expect(request.method == "POST")
      #expect(request.target == "/a/b%20c?x=%2B1")
      #expect(request.text == #"{"n":1}"#)
      #expect(request["Content-Type"] == "application/json")
      #expect(request["X-Empty"] == "")
      #expect(request["Expect"] == nil)
      #expect(request["Content-Length"] == "7")
    }
  }

  @Test("Every method keeps its name and its body", arguments: ["GET", "PUT", "DELETE", "PATCH"])
  func methods(method: String) throws {
    try withServer {
      $1.send(ScriptedReply(200, $0.method))
    } run: { transport, server in
      for body in [nil, HTTPBody.bytes([]), .bytes([1, 2, 3])] {
        let answer = try transport.exchange(
          HTTPRequest(method, server.url, body: body), until: .after(seconds: 120),
          cancellation: Cancellation())
        #expect(answer.body == Array(method.utf8))
      }
      #expect(server.requests.map(\.body) == [[], [], [1, 2, 3]])
      #expect(server.requests[0]["Content-Length"] == nil)
      #expect(server.requests[1]["Content-Length"] == "0")
      #expect(server.requests[2]["Content-Type"] == nil)
    }
  }

  @Test("An error status is an answer", arguments: [400, 401, 404, 413, 500, 503, 550])
  func errorStatus(status: Int) throws {
    try withServer {
      $1.send(ScriptedReply(status, "why"))
    } run: { transport, server in
      let answer = try transport.get(server.url)
      #expect(answer.head.status == status)
      #expect(answer.body == Array("why".utf8))
    }
  }

  @Test("A redirect is an answer and is not followed")
  func redirect() throws {
    let target = try ScriptedServer(replying: { _ in ScriptedReply() })
    defer { target.stop() }
    let url = target.url
    try withServer {
      $1.send(ScriptedReply(302, headers: [("Location", url)]))
    } run: { transport, server in
      let request = HTTPRequest(
        "GET", server.url, headers: [HTTPHeader("Authorization", "Kinvey secret")])
      let answer = try transport.exchange(
        request, until: .after(seconds: 120), cancellation: Cancellation())
      #expect(answer.head.status == 302)
      #expect(target.requests.isEmpty)
    }
  }

  @Test("A connection is used again")
  func reuse() throws {
    try withServer {
      $1.send(ScriptedReply(200, "ok"))
    } run: { transport, server in
      for _ in 0..<5 {
        let answer = try transport.get(server.url)
        #expect(answer.head.status == 200)
      }
      #expect(server.connectionCount == 1)
    }
  }

  @Test("A kept connection that died meanwhile is replaced without the caller noticing")
  func staleConnection() throws {
    try withServer { request, connection in
      connection.send(ScriptedReply(200, "ok"))
      connection.close()
    } run: { transport, server in
      for _ in 0..<5 {
        let answer = try transport.get(server.url)
        #expect(answer.head.status == 200)
      }
      #expect(server.requests.count == 5)
    }
  }

  @Test("Unless it may be sent once only: then the caller is told", arguments: [0, 2, 100_000])
  func once(count: Int) throws {
    try withServer { request, connection in
      if connection.number == 0, request.method == "POST" {
        connection.close()
      } else {
        connection.send(ScriptedReply(200, request.text))
      }
    } run: { transport, server in
      let bytes = [UInt8](repeating: 0x61, count: count)
      let request = HTTPRequest("POST", server.url, body: .once(bytes))
      _ = try transport.get(server.url)
      #expect(transport.failure(of: request)?.kind == .reset)
      #expect(server.requests.map(\.connection) == [0, 0])
      // Over a fresh connection it arrives.
      #expect(try transport.exchange(request).body == bytes)
    }
  }

  @Test("What may be repeated is sent again when its kept connection breaks")
  func repeated() throws {
    try withServer { request, connection in
      if connection.number == 0, request.method == "POST" {
        connection.close()
      } else {
        connection.send(ScriptedReply())
      }
    } run: { transport, server in
      _ = try transport.get(server.url)
      _ = try transport.exchange(HTTPRequest("POST", server.url, body: .bytes([1])))
      #expect(server.requests.map(\.connection) == [0, 0, 1])
    }
  }

  @Test("Packed answers are unpacked")
  func gzip() throws {
    // printf hello | gzip -n
    let packed: [UInt8] = [
      0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0x86, 0xA6, 0x10,
      0x36, 5, 0, 0, 0,
    ]
    try withServer { request, connection in
      let accepted = request["Accept-Encoding"] ?? ""
      guard accepted.contains("gzip") else { return connection.close() }
      connection.send(ScriptedReply(headers: [("Content-Encoding", "gzip")], body: packed))
    } run: { transport, server in
      let answer = try transport.get(server.url)
      #expect(answer.body == Array("hello".utf8))
      #expect(answer.head.bodyBytes == nil)
    }
  }

  @Test("Chunked answers, interim answers and folded headers are understood")
  func variants() throws {
    try withServer { _, connection in
      connection.send("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
      connection.send(
        "HTTP/1.1 200 OK\r\nX-Long: one\r\n two\r\nTransfer-Encoding: chunked\r\n\r\n")
      connection.send("3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-Trailer: t\r\n\r\n")
    } run: { transport, server in
      let answer = try transport.get(server.url)
      #expect(answer.body == Array("abcde".utf8))
      #expect(answer.head.status == 200)
      #expect(answer.head["X-Long"] == "one two")
      #expect(answer.head["Link"] == nil)
      #expect(answer.head["X-Trailer"] == nil)
    }
  }

  @Test(
    "What can not be sent is refused before any connection",
    arguments: [
      HTTPRequest("GET", ""),
      HTTPRequest("GET", "file:///etc/passwd"),
      HTTPRequest("GET", "ftp://127.0.0.1/"),
      HTTPRequest("GET", "http://user:word@127.0.0.1/"),
      HTTPRequest("GET", "http://127.0.0.1/a b"),
      HTTPRequest("GET", "http://127.0.0.1/\u{0}"),
      HTTPRequest("GET", "http://127.0.0.1:99999/"),
      HTTPRequest("", "http://127.0.0.1/"),
      HTTPRequest("GET\r\nX: y", "http://127.0.0.1/"),
      HTTPRequest("GET", "http://127.0.0.1/", headers: [HTTPHeader("A", "b\r\nC: d")]),
      HTTPRequest("GET", "http://127.0.0.1/", headers: [HTTPHeader("A", "b\u{0}")]),
      HTTPRequest("GET", "http://127.0.0.1/", headers: [HTTPHeader("A: b", "c")]),
      HTTPRequest("GET", "http://127.0.0.1/", headers: [HTTPHeader("", "c")]),
    ])
  func invalid(request: HTTPRequest) throws {
    let transport = try makeTransport()
    defer { transport.close() }
    let failure = try #require(transport.failure(of: request))
    #expect(failure.kind == .invalid, "\(failure)")
    #expect(!failure.message.contains("word"))
  }

  @Test("A body can be read while it is sent", arguments: [true, false])
  func bodySource(isCounted: Bool) throws {
    try withServer {
      $1.send(ScriptedReply(200, "\($0.body.count)"))
    } run: { transport, server in
      let source = CountingSource(total: 3_000_000, isCounted: isCounted)
      let answer = try transport.exchange(
        HTTPRequest("PUT", server.url, body: .source(source)), until: .after(seconds: 120),
        cancellation: Cancellation())
      #expect(answer.body == Array("3000000".utf8))
      #expect(server.requests.first?.body.last == UInt8(truncatingIfNeeded: 2_999_999))
    }
  }

  @Test("A body that can not be read ends the exchange")
  func failingSource() throws {
    try withServer { _, _ in
    } run: { transport, server in
      let source = CountingSource(total: 3_000_000, isCounted: true, failsAt: 100_000)
      let failure = transport.failure(of: HTTPRequest("PUT", server.url, body: .source(source)))
      #expect(failure?.kind == .invalid)
    }
  }
}

/// Counts upwards, byte by byte.
@Suite("What a log may say about requests") struct RequestTraceTests {
  @Test("is method, path, status, time and bytes, without the query")
  func traces() throws {
    let server = try ScriptedServer { request, connection in
      connection.send(ScriptedReply(request.method == "GET" ? 404 : 200, "body"))
    }
    defer { server.stop() }
    let lines = Monitor<[RequestTrace]>([])
    let transport = try Transport(TransportOptions(proxy: "")) { trace in
      lines.withLock { $0.append(trace) }
    }
    defer { transport.close() }
    _ = try transport.get("\(server.url)/a/b?secret=1")
    _ = transport.streamed("\(server.url)/c") { (_, _) throws(TransportError) in }
    var hidden = HTTPRequest("POST", "\(server.url)/key/1", body: .bytes([]))
    hidden.loggedPath = "/publish"
    _ = try transport.exchange(hidden)
    let traces = lines.withLock { $0 }
    #expect(traces.map(\.method) == ["GET", "GET", "POST"])
    #expect(traces.map(\.path) == ["/a/b", "/c", "/publish"])
    #expect(traces.map(\.status) == [404, 404, 200])
    #expect(traces.map(\.bytes) == [4, 4, 4])
    #expect(traces[0].text.hasPrefix("GET /a/b 404, "))
  }

  @Test("is why there is no answer") func failures() throws {
    let lines = Monitor<[String]>([])
    let server = try ScriptedServer { _, connection in connection.close() }
    defer { server.stop() }
    let transport = try Transport(TransportOptions(proxy: "")) { trace in
      lines.withLock { $0.append(trace.text) }
    }
    defer { transport.close() }
    _ = transport.failure(of: HTTPRequest("GET", server.url))
    #expect(lines.withLock { $0.first }?.hasPrefix("GET / reset, ") == true)
  }
}

private final class CountingSource: BodySource {
  private let total: Int
  private let failsAt: Int
  private let position = Monitor(0)
  let byteCount: Int?

  init(total: Int, isCounted: Bool, failsAt: Int = .max) {
    self.total = total
    self.failsAt = failsAt
    byteCount = isCounted ? total : nil
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    position.withLock { position in
      guard position < failsAt else { return nil }
      let count = min(buffer.count, total - position)
      for offset in 0..<count { buffer[offset] = UInt8(truncatingIfNeeded: position + offset) }
      position += count
      return count
    }
  }

  func rewind() -> Bool {
    position.withLockNotifyingAll { $0 = 0 }
    return true
  }
}
