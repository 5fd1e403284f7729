import KVBase
import KVTestSupport
import KVTransport
import Testing

@Suite("WebSockets") struct WebSocketTests {
  @Test("Texts go both ways, of every length that a frame writes in another way")
  func echo() throws {
    try withServer { request, connection in
      connection.upgrade(request)
      var reader = FrameReader(connection)
      while let frame = reader.next(), frame.opcode == 1 {
        connection.send(Frame(opcode: 1, payload: frame.payload).bytes)
      }
    } run: { transport, server in
      let socket = try transport.open(server.url)
      for count in [0, 1, 125, 126, 5000, 65_535] {
        let text = String(repeating: "x", count: count)
        try socket.send(Array(text.utf8))
        #expect(try socket.text() == text)
      }
      #expect(server.requests.count == 1)
    }
  }

  @Test("The handshake offers the subprotocols and has the headers; the target is the URL's")
  func handshake() throws {
    try withServer { request, connection in
      connection.upgrade(request, headers: "Sec-WebSocket-Protocol: graphql-ws\r\n")
      connection.send(Frame.text("ready").bytes)
      connection.waitForEnd()
    } run: { transport, server in
      let request = WebSocketRequest(
        server.url + "/graphql?a=b", protocols: ["graphql-ws", "header-abc"],
        headers: [HTTPHeader("x-api-key", "da2")])
      let socket = try transport.open(
        request, until: .after(seconds: 120), cancellation: Cancellation())
      #expect(try socket.text() == "ready")
      let seen = try #require(server.requests.first)
      #expect(seen.target == "/graphql?a=b")
      #expect(seen["Host"] == "127.0.0.1:\(server.port)")
      #expect(seen["Sec-WebSocket-Protocol"] == "graphql-ws, header-abc")
      #expect(seen["x-api-key"] == "da2")
    }
  }

  @Test("A message in fragments with a ping in between is one message, and the ping is answered")
  func fragments() throws {
    let pong = Promise<[UInt8]>()
    try withServer { request, connection in
      connection.upgrade(request)
      for frame in [
        Frame.text("{\"a\":", isFinal: false), Frame(opcode: 9, payload: [7]),
        .more("", isFinal: false), .more("1}"),
      ] {
        // Byte by byte, as a network may bring them.
        for byte in frame.bytes { connection.send([byte]) }
      }
      var reader = FrameReader(connection)
      if let frame = reader.next(), frame.opcode == 10 { pong.keep(frame.payload) }
    } run: { transport, server in
      let socket = try transport.open(server.url)
      #expect(try socket.text() == "{\"a\":1}")
      #expect(pong.wait() == [7])
    }
  }

  struct Bad: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var frames: [[UInt8]]
    var kind: TransportError.Kind
    /// The close code that the server is told.
    var code: UInt16

    init(
      _ name: String, _ frames: [Frame], is kind: TransportError.Kind, code: UInt16
    ) {
      testDescription = name
      self.frames = frames.map(\.bytes)
      self.kind = kind
      self.code = code
    }

    static let all = [
      Bad("masked", [Frame(opcode: 1, payload: [65], isMasked: true)], is: .malformed, code: 1002),
      Bad(
        "reserved bits", [Frame(opcode: 1, payload: [65], reserved: 4)], is: .malformed, code: 1002),
      Bad("unknown opcode", [Frame(opcode: 3, payload: [])], is: .malformed, code: 1002),
      Bad("nothing to go on with", [.more("x")], is: .malformed, code: 1002),
      Bad("two beginnings", [.text("a", isFinal: false), .text("b")], is: .malformed, code: 1002),
      Bad(
        "a ping in parts", [Frame(opcode: 9, payload: [], isFinal: false)], is: .malformed, code: 0),
      Bad(
        "a long ping", [Frame(opcode: 9, payload: [UInt8](repeating: 0, count: 126))],
        is: .malformed, code: 0),
      Bad("no UTF-8", [Frame(opcode: 1, payload: [0xC3, 0x28])], is: .malformed, code: 1007),
      Bad("half a character", [Frame(opcode: 1, payload: [0xC3])], is: .malformed, code: 1007),
      Bad("binary", [Frame(opcode: 2, payload: [1])], is: .malformed, code: 1003),
      Bad("too long", [.text(String(repeating: "x", count: 2000))], is: .tooLarge, code: 1009),
      Bad(
        "too long in parts",
        [.text(String(repeating: "x", count: 900), isFinal: false)]
          + [Frame](repeating: .more(String(repeating: "x", count: 90), isFinal: false), count: 3),
        is: .tooLarge, code: 1009),
      Bad(
        "more than there is memory for", [Frame(opcode: 1, payload: [65], announced: 1 << 62)],
        is: .tooLarge, code: 1009),
    ]
  }

  @Test("What no server may send ends the socket, and it is told why", arguments: Bad.all)
  func bad(bad: Bad) throws {
    let told = Promise<UInt16>()
    try withServer { request, connection in
      connection.upgrade(request)
      for frame in bad.frames { connection.send(frame) }
      var reader = FrameReader(connection)
      guard let frame = reader.next(), frame.payload.count >= 2 else { return told.keep(0) }
      told.keep(UInt16(frame.payload[0]) << 8 | UInt16(frame.payload[1]))
    } run: { transport, server in
      let socket = try transport.open(server.url, maxBytes: 1000)
      #expect(socket.failure()?.kind == bad.kind)
      #expect(told.wait() == bad.code)
    }
  }

  @Test("What came before the server closed it is delivered; then its code is told")
  func closed() throws {
    try withServer { request, connection in
      connection.upgrade(request)
      connection.send(Frame.text("last").bytes + Frame.close(4001).bytes)
      connection.waitForEnd()
    } run: { transport, server in
      let socket = try transport.open(server.url)
      #expect(try socket.text() == "last")
      let failure = socket.failure()
      #expect(failure?.kind == .reset)
      #expect(failure?.message.contains("4001") == true)
      #expect(throws: TransportError.self) { try socket.send([65]) }
    }
  }

  @Test(
    "A server that wants no WebSocket",
    arguments: [
      ("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", TransportError.Kind.notUpgraded, 403),
      ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", .notUpgraded, 200),
      ("HTTP/1.1 101 Switching Protocols\r\n\r\n", .malformed, 0),
      ("SSH-2.0-OpenSSH_9.2\r\n\r\n", .malformed, 0), ("", .reset, 0),
    ])
  func refused(answer: String, kind: TransportError.Kind, status: Int) throws {
    try withServer { _, connection in
      connection.send(answer)
      connection.close()
    } run: { transport, server in
      let failure = #expect(throws: TransportError.self) { try transport.open(server.url) }
      #expect(failure?.kind == kind)
      if kind == .notUpgraded { #expect(failure?.code == status) }
    }
  }

  @Test(
    "An answer to another handshake",
    arguments: [
      ("", "AAAA"), ("Sec-WebSocket-Protocol: other\r\n", nil),
      ("Sec-WebSocket-Extensions: permessage-deflate\r\n", nil),
    ])
  func unfit(headers: String, accept: String?) throws {
    try withServer { request, connection in
      connection.upgrade(request, headers: headers, accept: accept)
      connection.waitForEnd()
    } run: { transport, server in
      let failure = #expect(throws: TransportError.self) {
        try transport.open(server.url, protocols: ["graphql-ws"])
      }
      #expect(failure?.kind == .malformed)
    }
  }

  @Test("Nobody listens")
  func unreachable() throws {
    let server = try ScriptedServer { _, _ in }
    let url = server.url
    server.stop()
    let transport = try makeTransport()
    defer { transport.close() }
    let failure = #expect(throws: TransportError.self) { try transport.open(url) }
    #expect(failure?.kind == .connect)
  }

  @Test("A deadline and a cancellation end the wait and not the socket")
  func interrupted() throws {
    let mayGoOn = Gate()
    try withServer { request, connection in
      connection.upgrade(request)
      mayGoOn.wait()
      connection.send(Frame.text("at last").bytes)
      connection.waitForEnd()
    } run: { transport, server in
      let socket = try transport.open(server.url)
      let late = #expect(throws: TransportError.self) {
        try socket.receive(until: .after(seconds: 0.01), cancellation: Cancellation())
      }
      #expect(late?.kind == .timeout)
      let cancellation = Cancellation()
      let worker = Worker("test-cancel") { cancellation.cancel() }
      let cancelled = #expect(throws: TransportError.self) {
        try socket.receive(until: .after(seconds: 120), cancellation: cancellation)
      }
      worker?.join()
      #expect(cancelled?.kind == .cancelled)
      mayGoOn.open()
      #expect(try socket.text() == "at last")
    }
  }

  @Test("Nobody waits for a handshake that does not come")
  func silent() throws {
    try withServer { _, connection in
      connection.waitForEnd()
    } run: { transport, server in
      let failure = #expect(throws: TransportError.self) {
        try transport.open(
          WebSocketRequest(server.url), until: .after(seconds: 0.05), cancellation: Cancellation())
      }
      #expect(failure?.kind == .timeout)
    }
  }

  @Test("Requests go on beside a socket, and leave it its connection")
  func beside() throws {
    try withServer(connections: 1) { request, connection in
      guard request.target == "/socket" else {
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        return connection.close()
      }
      connection.upgrade(request)
      var reader = FrameReader(connection)
      while let frame = reader.next(), frame.opcode == 1 {
        connection.send(Frame(opcode: 1, payload: frame.payload).bytes)
      }
    } run: { transport, server in
      let socket = try transport.open(server.url + "/socket")
      for _ in 0..<10 { #expect(try transport.get(server.url + "/").head.status == 200) }
      try socket.send(Array("still here".utf8))
      #expect(try socket.text() == "still here")
    }
  }

  @Test("A server that sends faster than anybody reads has to wait, and nothing is lost")
  func slowReader() throws {
    let (count, length) = (300, 20_000)
    try withServer { request, connection in
      connection.upgrade(request)
      for number in 0..<count {
        connection.send(Frame.text("\(number) " + String(repeating: "x", count: length)).bytes)
      }
      connection.waitForEnd()
    } run: { transport, server in
      let socket = try transport.open(server.url)
      for number in 0..<count { #expect(try socket.text().hasPrefix("\(number) ")) }
    }
  }

  @Test("Who drops a socket tells the server so; who closes the transport ends them all")
  func ends() throws {
    let code = Promise<[UInt8]>()
    try withServer { request, connection in
      connection.upgrade(request)
      connection.send(Frame.text("hello").bytes)
      var reader = FrameReader(connection)
      let last = reader.next()
      if request.target == "/dropped" { code.keep(last?.payload ?? []) }
    } run: { transport, server in
      var dropped: WebSocket? = try transport.open(server.url + "/dropped")
      #expect(try dropped?.text() == "hello")
      dropped = nil
      #expect(code.wait() == [0x03, 0xE8])
      let other = try transport.open(server.url + "/other")
      #expect(try other.text() == "hello")
      transport.close()
      #expect(other.failure()?.kind == .cancelled)
    }
  }
}
