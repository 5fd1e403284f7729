internal import KVBase
internal import KVJSON
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerHTTP

@Suite("Long answers") struct StreamingTests {
  /// So many entities of a kilobyte each: several pieces.
  private static func fill(_ server: TestServer, _ who: TestServer.Who, count: Int) throws {
    let filler = String(repeating: "x", count: 1000)
    let client = try server.client()
    let headers = [
      ("Authorization", who.authorization ?? ""), ("X-Kinvey-API-Version", "5"),
    ]
    for start in stride(from: 0, to: count, by: 100) {
      let entities = (start..<min(start + 100, count)).map { number in
        "{\"_id\":\"\(number + 100_000)\",\"n\":\(number),\"x\":\"\(filler)\"}"
      }
      let body = "[" + entities.joined(separator: ",") + "]"
      let answer = client.send(
        "POST", "/appdata/kid/long", headers: headers, body: Array(body.utf8))
      #expect(answer?.status == 207)
    }
  }

  @Test("come whole and in order, sorted or not")
  func whole() throws {
    let server = try TestServer()
    let ana = try server.user("ana")
    try Self.fill(server, ana, count: 3000)
    let all = try server.send(as: ana, "GET", "/appdata/kid/long")
    #expect(all.headers["transfer-encoding"] == "chunked")
    #expect(all.ids == (0..<3000).map { String($0 + 100_000) })
    let sorted = target("/appdata/kid/long", [("sort", #"{"n":-1}"#), ("skip", "10")])
    #expect(
      try server.send(as: ana, "GET", sorted).ids
        == (0..<2990).reversed().map { String($0 + 100_000) })
    let walk = target("/appdata/kid/long", [("sort", #"{"_id":1}"#), ("skip", "10")])
    #expect(try server.send(as: ana, "GET", walk).ids == (10..<3000).map { String($0 + 100_000) })
    let some = target("/appdata/kid/long", [("query", #"{"n":{"$gte":500}}"#), ("limit", "2000")])
    #expect(try server.send(as: ana, "GET", some).ids == (500..<2500).map { String($0 + 100_000) })
  }

  @Test("end at ten thousand entities, silently")
  func maxEntities() throws {
    let server = try TestServer()
    let master = TestServer.Who.master
    let client = try server.client()
    let headers = [("Authorization", master.authorization ?? ""), ("X-Kinvey-API-Version", "5")]
    let body = Array(("[" + repeatElement("{}", count: 100).joined(separator: ",") + "]").utf8)
    for _ in 0..<101 { _ = client.send("POST", "/appdata/kid/many", headers: headers, body: body) }
    #expect(
      try server.send(as: master, "GET", "/appdata/kid/many/_count").text == #"{"count":10100}"#)
    #expect(try server.send(as: master, "GET", "/appdata/kid/many").ids.count == 10_000)
    #expect(try server.send(as: master, "GET", "/appdata/kid/many?limit=20000").ids.count == 10_000)
    #expect(try server.send(as: master, "GET", "/appdata/kid/many?skip=10000").ids.count == 100)
  }

  @Test("keep nobody waiting while a client does not take them")
  func slowReader() throws {
    let server = try TestServer {
      $0.workers = 2
      $0.limits.requestSeconds = 600
    }
    let ana = try server.user("ana")
    try Self.fill(server, ana, count: 9000)
    let lazy = try (0..<20).map { _ in
      let connection = try #require(RawConnection(port: server.port))
      connection.send(
        """
        GET /appdata/kid/long HTTP/1.1\r\nHost: x\r\nAuthorization: \(ana.authorization ?? "")\r\n\r\n
        """)
      return connection
    }
    #expect(
      try server.send(as: ana, "PUT", "/appdata/kid/long/100000", body: #"{"n":0}"#).status == 200)
    #expect(try server.send(as: ana, "GET", "/appdata/kid/long/_count").text == #"{"count":9000}"#)
    // What was changed meanwhile comes as it is then; nothing comes twice or not at all.
    for connection in lazy.prefix(3) {
      #expect(HTTPClient.receive(connection)?.ids == (0..<9000).map { String($0 + 100_000) })
    }
  }

  @Test("survive clients that leave in the middle")
  func leaving() throws {
    let server = try TestServer()
    let ana = try server.user("ana")
    try Self.fill(server, ana, count: 3000)
    for _ in 0..<30 {
      let connection = try #require(RawConnection(port: server.port))
      connection.send(
        """
        GET /appdata/kid/long HTTP/1.1\r\nHost: x\r\nAuthorization: \(ana.authorization ?? "")\r\n\r\n
        """)
      _ = connection.read(1000)
    }
    #expect(try server.send(as: ana, "GET", "/appdata/kid/long").ids.count == 3000)
  }

  @Test("are cut off when the server ends, not taken for whole")
  func stopping() throws {
    let server = try TestServer()
    let ana = try server.user("ana")
    try Self.fill(server, ana, count: 9000)
    let connection = try #require(RawConnection(port: server.port))
    connection.send(
      """
      GET /appdata/kid/long HTTP/1.1\r\nHost: x\r\nAuthorization: \(ana.authorization ?? "")\r\n\r\n
      """)
    _ = connection.line()
    server.stop(graceSeconds: 0)
    let rest = String(decoding: connection.drain(), as: UTF8.self)
    #expect(!rest.hasSuffix("0\r\n\r\n"))
  }
}
