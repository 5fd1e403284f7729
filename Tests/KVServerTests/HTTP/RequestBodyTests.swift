import Glibc
import KVBase
import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerHTTP

@Suite("Requests with a body") struct RequestBodyTests {
  /// What only the store can tell: where it is on another machine, the threads that read heads do not ask it.
  private static let ofSessions: [(String, String, String, Int, String?)] =
    TestStorage.isPostgres
    ? []
    : [
      ("POST", "/appdata/kid/notes", "Kinvey nobody", 401, "InvalidCredentials"),
      ("POST", "/publish/pub/sub/0/ch/0", "", 400, nil),
    ]

  @Test(
    "are refused by their head alone, and the connection is closed",
    arguments: [
      ("POST", "/appdata/kid/notes", "Basic eDp5", 401, "InvalidCredentials"),
      ("POST", "/appdata/other/notes", "Basic a2lkOm1hcw==", 404, "AppNotFound"),
      ("POST", "/nowhere", "Basic a2lkOm1hcw==", 404, "NotFound"),
      ("PUT", "/appdata/kid/notes", "Basic a2lkOm1hcw==", 405, "MethodNotAllowed"),
      ("POST", "/user/kid/login", "Basic eDp5", 401, "InvalidCredentials"),
      ("POST", "/appdata/kid/notes", "Basic a2lkOm1hcw==", 413, "RequestEntityTooLarge"),
    ] + ofSessions)
  func refused(
    method: String, path: String, authorization: String, status: Int, error: String?
  ) throws {
    let server = try TestServer()
    for expect in ["", "Expect: 100-continue\r\n"] {
      let connection = try #require(RawConnection(port: server.port))
      // Nothing of the body is sent.
      connection.send(
        "\(method) \(path) HTTP/1.1\r\nHost: x\r\nAuthorization: \(authorization)\r\n\(expect)"
          + "Content-Length: 20000000\r\n\r\n")
      let line = connection.line()
      #expect(line?.hasPrefix("HTTP/1.1 \(status)") == true, "\(line ?? "-")")
      let rest = String(decoding: connection.drain(), as: UTF8.self)
      #expect(rest.contains(error ?? "") && rest.contains("Connection: close"), "\(rest)")
      #expect(connection.isAtEnd)
    }
  }

  @Test("are refused when they announce no length, too")
  func chunked() throws {
    let server = try TestServer()
    let connection = try #require(RawConnection(port: server.port))
    connection.send(
      "POST /appdata/kid/notes HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    #expect(HTTPClient.receive(connection)?.status == 401)
  }

  @Test("are told to go on only once their head was accepted")
  func expectation() throws {
    let server = try TestServer()
    let connection = try #require(RawConnection(port: server.port))
    connection.send(
      "POST /appdata/kid/notes HTTP/1.1\r\nHost: x\r\nAuthorization: Basic a2lkOm1hcw==\r\n"
        + "Expect: 100-continue\r\nContent-Length: 7\r\n\r\n")
    #expect(connection.line() == "HTTP/1.1 100 Continue")
    connection.send("{\"a\":1}")
    #expect(connection.line() == "")
    #expect(HTTPClient.receive(connection)?.status == 201)
  }

  @Test("let a client that sends first and reads later have its answer")
  func stubborn() throws {
    let server = try TestServer()
    for length in [1 << 20, 10 << 20] {
      let head = "POST /appdata/kid/notes HTTP/1.1\r\nHost: x\r\nContent-Length: \(length)\r\n\r\n"
      let request = Array(head.utf8) + [UInt8](repeating: 0x20, count: length)
      let connection = try #require(RawConnection(port: server.port))
      #expect(connection.send(request))
      #expect(HTTPClient.receive(connection)?.status == 401)
    }
  }

  @Test("share one memory, beyond which they are refused for a while")
  func sharedMemory() throws {
    let server = try TestServer { $0.limits.bodyMemory = 1 << 20 }
    let head =
      "POST /appdata/kid/notes HTTP/1.1\r\nHost: x\r\nAuthorization: Basic a2lkOm1hcw==\r\n"
    let length = 400 << 10
    let first = try #require(RawConnection(port: server.port))
    let second = try #require(RawConnection(port: server.port))
    for connection in [first, second] {
      connection.send(head + "Content-Length: \(length)\r\n\r\n{\"a\":\"")
      connection.send(String(repeating: "x", count: length - 8))
    }
    // Until both have arrived as far as they were sent, others still fit.
    let refused = try wait {
      let third = try #require(RawConnection(port: server.port))
      third.send(head + "Expect: 100-continue\r\nContent-Length: \(length)\r\n\r\n")
      return third.line()?.hasPrefix("HTTP/1.1 503") == true ? third : nil
    }
    #expect(String(decoding: refused.drain(), as: UTF8.self).contains("Retry-After: 1"))
    for connection in [first, second] {
      connection.send("\"}")
      #expect(HTTPClient.receive(connection)?.status == 201)
    }
    let body = "{\"a\":\"\(String(repeating: "x", count: length - 8))\"}"
    for _ in 0..<10 {
      // A request has its memory until its worker is done with it, after the answer.
      let free = "\nkvstored_body_memory_bytes 0\n"
      #expect(try server.metrics { $0.contains(free) }.contains(free))
      #expect(try server.send(as: .master, "POST", "/appdata/kid/notes", body: body).status == 201)
    }
  }

  @Test("do not fill the memory of others by announcing what they do not send")
  func announced() throws {
    let server = try TestServer { $0.limits.bodyMemory = 8 << 20 }
    let silent = try (0..<20).map { _ in try #require(RawConnection(port: server.port)) }
    for connection in silent {
      connection.send(
        "POST /appdata/kid/notes HTTP/1.1\r\nHost: x\r\nAuthorization: Basic a2lkOm1hcw==\r\n"
          + "Expect: 100-continue\r\nContent-Length: 1000000\r\n\r\n")
      #expect(connection.line() == "HTTP/1.1 100 Continue")
    }
    #expect(
      try server.send(as: .master, "POST", "/appdata/kid/notes", body: "{\"a\":1}").status == 201)
  }

  @Test("that are read as documents have at most a mebibyte")
  func documents() throws {
    let server = try TestServer()
    let body = "{\"a\":\"\(String(repeating: "x", count: 1 << 20))\"}"
    for path in ["/user/kid", "/user/kid/login", "/user/kid/_lookup", "/appdata/kid/n/_group"] {
      #expect(try server.send(as: .master, "POST", path, body: body).status == 413, "\(path)")
    }
    #expect(try server.send(as: .master, "POST", "/appdata/kid/notes", body: body).status == 201)
  }

  @Test("without credentials take no memory, however many and large they are")
  func flatMemory() throws {
    let directory = TemporaryDirectory()
    let program = try #require(
      Program([
        "--data", directory.path + "/data", "--listen", "127.0.0.1:0", "--access-log", "off",
      ]))
    let port = try #require(program.port())
    let before = try #require(program.residentKiB)
    let piece = [UInt8](repeating: 0x20, count: 1 << 20)
    let connections = try (0..<60).map { _ in try #require(RawConnection(port: port)) }
    for connection in connections {
      connection.send(
        "POST /appdata/x/notes HTTP/1.1\r\nHost: x\r\nContent-Length: 14680064\r\n\r\n")
    }
    for _ in 0..<14 { for connection in connections { connection.send(piece) } }
    for connection in connections {
      #expect(connection.line()?.hasPrefix("HTTP/1.1 40") == true)
    }
    let peak = try #require(program.peakKiB)
    // Of 840 MiB that were announced. A sanitizer keeps some of what was freed.
    #expect(peak - before < 64_000, "\(before) KiB before, \(peak) KiB at the most")
  }

  private func wait<R>(for body: () throws -> R?) throws -> R {
    let end = Deadline.after(seconds: 60)
    while !end.hasPassed { if let result = try body() { return result } }
    throw TestServer.Missing(what: "what was waited for")
  }
}
