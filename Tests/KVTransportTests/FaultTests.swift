import KVBase
import KVTestSupport
import KVTransport
import Testing

@Suite("Servers that misbehave") struct FaultTests {
  @Test("Nobody listens")
  func refused() throws {
    let server = try ScriptedServer { _, _ in }
    let url = server.url
    server.stop()
    let transport = try makeTransport()
    defer { transport.close() }
    #expect(transport.failure(of: HTTPRequest("GET", url))?.kind == .connect)
  }

  @Test("The host does not exist")
  func unresolved() throws {
    let transport = try makeTransport()
    defer { transport.close() }
    let failure = transport.failure(of: HTTPRequest("GET", "http://no-such-host.invalid/secret"))
    #expect(failure?.kind == .resolve)
    #expect(failure?.message.contains("secret") == false)
  }

  @Test(
    "An answer that is cut short",
    arguments: [
      "", "HTTP/1.1 200 OK\r\nContent-Le",
      "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[{\"_id\"",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
    ])
  func cut(bytes: String) throws {
    try withServer { _, connection in
      connection.send(bytes)
      connection.close()
    } run: { transport, server in
      let failure = transport.failure(of: HTTPRequest("GET", server.url))
      #expect(failure?.kind == .reset, "\(String(describing: failure))")
    }
  }

  @Test("A connection that is reset in the middle of the body")
  func reset() throws {
    try withServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[{")
      connection.reset()
    } run: { transport, server in
      #expect(transport.failure(of: HTTPRequest("GET", server.url))?.kind == .reset)
    }
  }

  @Test(
    "What is no HTTP",
    arguments: [
      "SSH-2.0-OpenSSH_9.2\r\n", "\u{0}\u{1}\u{2}\u{3}\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nabc",
      "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nabc",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzzz\r\n",
      "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nplain",
    ])
  func malformed(bytes: String) throws {
    try withServer { _, connection in
      connection.send(bytes)
      connection.close()
    } run: { transport, server in
      let failure = transport.failure(of: HTTPRequest("GET", server.url))
      let kinds: [TransportError.Kind] = [.malformed, .reset, .tooLarge]
      #expect(kinds.contains { $0 == failure?.kind }, "\(String(describing: failure))")
    }
  }

  @Test(
    "Headers without end are cut off",
    arguments: [10, 60_000])
  func endlessHeaders(length: Int) throws {
    try withServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\n")
      let line = "X-Again: \(String(repeating: "y", count: length))\r\n"
      while connection.send(line) {}
    } run: { transport, server in
      let failure = transport.failure(of: HTTPRequest("GET", server.url))
      #expect(failure?.kind == .tooLarge, "\(String(describing: failure))")
    }
  }

  @Test("One header line without end is cut off")
  func endlessLine() throws {
    try withServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nX: ")
      while connection.send("yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy") {}
    } run: { transport, server in
      #expect(transport.failure(of: HTTPRequest("GET", server.url))?.kind == .tooLarge)
    }
  }

  @Test("A request whose head is longer than can be sent is too large, and is not sent")
  func longHead() throws {
    try withServer { _, connection in
      connection.send(ScriptedReply(200, ""))
    } run: { transport, server in
      let long = String(repeating: "y", count: 2_000_000)
      for request in [
        HTTPRequest("GET", "\(server.url)/?q=\(long)"),
        HTTPRequest("GET", server.url, headers: [HTTPHeader("X-Long", long)]),
      ] {
        let failure = transport.failure(of: request)
        #expect(failure?.kind == .tooLarge)
        #expect(failure?.message.contains("1000000") == true)
      }
      #expect(server.requests.isEmpty)
    }
  }

  @Test("Work on the pieces of an answer counts as time of the call")
  func slowReceiver() throws {
    try withServer { _, connection in
      connection.send(ScriptedReply(200, String(repeating: "x", count: 1 << 20)))
    } run: { transport, server in
      let deadline = Deadline.after(seconds: 0.3)
      let result = transport.streamed(server.url, until: deadline) {
        (_, _) throws(TransportError) in
        while !deadline.hasPassed {}
      }
      #expect(result.transportFailure()?.kind == .timeout)
    }
  }

  @Test("Interim answers without end are cut off")
  func endlessInterim() throws {
    try withServer { _, connection in
      while connection.send("HTTP/1.1 103 Early Hints\r\n\r\n") {}
    } run: { transport, server in
      #expect(transport.failure(of: HTTPRequest("GET", server.url))?.kind == .tooLarge)
    }
  }

  @Test("An answer that is longer than allowed, announced or not", arguments: [true, false])
  func tooLarge(isAnnounced: Bool) throws {
    try withServer { _, connection in
      let length = isAnnounced ? "Content-Length: 1000000000\r\n" : ""
      connection.send("HTTP/1.1 200 OK\r\n\(length)\r\n")
      while connection.send([UInt8](repeating: 0x20, count: 10_000)) {}
    } run: { transport, server in
      let failure = transport.failure(of: HTTPRequest("GET", server.url, maxBytes: 50_000))
      #expect(failure?.kind == .tooLarge)
    }
  }

  @Test("An answer of exactly the allowed length")
  func justFits() throws {
    try withServer {
      $1.send(ScriptedReply(body: [UInt8](repeating: 7, count: 50_000)))
    } run: { transport, server in
      let answer = try transport.get(server.url, maxBytes: 50_000)
      #expect(answer.body.count == 50_000)
      #expect(
        transport.failure(of: HTTPRequest("GET", server.url, maxBytes: 49_999))?.kind == .tooLarge)
    }
  }

  @Test("A small packed answer that unpacks to gigabytes is stopped at the limit")
  func bomb() throws {
    try withServer { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
      connection.send(GzipBomb.start)
      while connection.send(GzipBomb.block) {}
    } run: { transport, server in
      let failure = transport.failure(of: HTTPRequest("GET", server.url, maxBytes: 1 << 20))
      #expect(failure?.kind == .tooLarge, "\(String(describing: failure))")
    }
  }

  @Test(
    "A server that answers nothing runs into the deadline", arguments: ["", "HTTP/1.1 200 OK\r\n"])
  func silent(start: String) throws {
    try withServer { _, connection in
      connection.send(start)
      connection.waitForEnd()
    } run: { transport, server in
      let failure = transport.failure(
        of: HTTPRequest("GET", server.url), until: .after(seconds: 0.2))
      #expect(failure?.kind == .timeout)
    }
  }

  @Test("A deadline that has passed already does no harm")
  func noTime() throws {
    try withServer {
      $1.send(ScriptedReply())
    } run: { transport, server in
      let failure = transport.failure(of: HTTPRequest("GET", server.url), until: .after(seconds: 0))
      #expect(failure == nil || failure?.kind == .timeout)
    }
  }
}
