import Glibc
import KVBase
import KVJSON
import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerHTTP

@Suite("Work on requests", .serialized) struct WorkTests {
  private static let terms = (0..<8000).map { "{\"a.b\($0)\":\($0)}" }.joined(separator: ",")
  /// True of everything, and slow to find out.
  private static let slowFilter = "{\"$nor\":[\(terms)]}"
  fileprivate static let slowGroup =
    "{\"key\":{},\"initial\":{\"n\":0},\"reduce\":\"function(d,o){o.n++}\",\"condition\":\(slowFilter)}"

  /// A server with entities that take the slow filter minutes.
  private func server(_ configure: (inout Server.Configuration) -> Void) throws -> (
    TestServer, TestServer.Who
  ) {
    let server = try TestServer {
      $0.limits.workSeconds = 100
      configure(&$0)
    }
    let ana = try server.user("ana")
    try Self.fill { try server.send(as: ana, "POST", "/appdata/kid/notes", body: $0).status }
    return (server, ana)
  }

  fileprivate static func fill(_ send: (String) throws -> Int) throws {
    let entity = "{\"a\":[\((0..<50).map { "{\"b\":\($0)}" }.joined(separator: ","))]}"
    let hundred = "[\(Array(repeating: entity, count: 100).joined(separator: ","))]"
    for _ in 0..<5 {
      let status = try send(hundred)
      #expect(status == 207)
    }
  }

  private func seconds(_ body: () throws -> Void) rethrows -> Double {
    let start = monotonicNanoseconds()
    try body()
    return Double(monotonicNanoseconds() - start) / 1e9
  }

  @Test("ends when it takes too long, with an error that says so")
  func timeIsOver() throws {
    let (server, ana) = try server { $0.limits.workSeconds = 1 }
    let time = try seconds { () throws in
      let answer = try server.send(
        as: ana, "POST", "/appdata/kid/notes/_group", body: Self.slowGroup)
      #expect(answer.status == 500 && answer.error == "KinveyInternalErrorStop")
      #expect(answer.text.contains("1 s"))
    }
    #expect(time < 60)
    #expect(
      try server.send(as: ana, "GET", "/appdata/kid/notes/_count").json["count"]?.intValue == 500)
  }

  @Test("of one user leaves threads to the others")
  func fairness() throws {
    let busy = try Busy(workers: 4)
    let ben = try busy.signUp("ben")
    let connections = try busy.begin(16)
    for _ in 0..<3 {
      let time = try seconds { () throws in
        let answer = try busy.send(as: ben, "GET", "/appdata/kid/notes?query={}&limit=1")
        #expect(answer.status == 200)
      }
      #expect(time < 60)
    }
    withExtendedLifetime(connections) {}
  }

  @Test("ends when nobody waits for the answer any more")
  func abandoned() throws {
    let busy = try Busy(workers: 2)
    withExtendedLifetime(try busy.begin(8)) {}
    let time = try seconds { () throws in
      let answer = try busy.send(as: .master, "GET", "/appdata/kid/notes?query={}&limit=1")
      #expect(answer.status == 200)
    }
    #expect(time < 60)
  }

  @Test(
    "goes on for a client that has closed its half of the connection", arguments: ["1.1", "1.0"])
  func halfClosed(version: String) throws {
    let (server, ana) = try server { _ in }
    let terms = (0..<30).map { "{\"a.b\($0)\":\($0)}" }.joined(separator: ",")
    let group =
      "{\"key\":{},\"initial\":{\"n\":0},\"reduce\":\"function(d,o){o.n++}\",\"condition\":{\"$nor\":[\(terms)]}}"
    let connections = try (0..<4).map { _ in
      let connection = try start(
        server.port, as: ana, method: "POST", "/appdata/kid/notes/_group", body: group,
        version: version)
      connection.endOutput()
      return connection
    }
    for connection in connections {
      let text = String(decoding: connection.drain(), as: UTF8.self)
      #expect(text.contains("HTTP/\(version) 200 OK\r\n") || text.contains("HTTP/1.1 200 OK\r\n"))
      #expect(text.hasSuffix("}]"))
      #expect(version == "1.1" || !text.contains("100 Continue"))
    }
  }

  @Test("of a delete that takes long keeps no writer waiting")
  func slowDelete() throws {
    let (server, ana) = try server { _ in }
    let ben = try server.user("ben")
    let terms = (0..<1200).map { "{\"a.b\($0)\":1}" }.joined(separator: ",")
    let path = "/appdata/kid/notes?query={\"$nor\":[\(terms)]}"
    let running = try start(server.port, as: ana, method: "DELETE", path)
    let time = try seconds { () throws in
      for _ in 0..<20 {
        #expect(try server.send(as: ben, "POST", "/appdata/kid/x", body: "{}").status == 201)
      }
    }
    #expect(time < 60)
    withExtendedLifetime(running) {}
  }

  @Test(
    "deletes what matched when the delete began, and what has been changed only if it still does")
  func deletes() throws {
    let (server, ana) = try server { _ in }
    let kept = try server.send(as: ana, "POST", "/appdata/kid/notes", body: "{\"keep\":true}")
    #expect(kept.status == 201)
    let answer = try server.send(
      as: ana, "DELETE", query("/appdata/kid/notes", "{\"keep\":{\"$ne\":true}}"))
    #expect(answer.json["count"]?.intValue == 500)
    #expect(try server.send(as: ana, "GET", "/appdata/kid/notes").ids.count == 1)
  }

  @Test("does not keep the server from ending in time")
  func stopping() throws {
    let busy = try Busy(workers: 4)
    let connections = try busy.begin(12)
    var status: Int32 = -1
    let time = seconds {
      busy.program.send(signal: SIGTERM)
      status = busy.program.waitForEnd()
    }
    #expect(status == 0)
    #expect(time < 60)
    for connection in connections {
      #expect(connection.line().map { $0 == "HTTP/1.1 503 Service Unavailable" } != false)
    }
  }

  /// A server in a process of its own, with requests that keep it busy for minutes.
  private struct Busy {
    let directory = TemporaryDirectory()
    let program: Program
    let port: UInt16

    init(workers: Int) throws {
      program = try #require(
        Program([
          "--data", directory.path + "/data", "--listen", "127.0.0.1:0", "--access-log", "off",
          "--app", "kid:sec:mas", "--workers", String(workers), "--work-seconds", "600",
        ]))
      port = try #require(program.port())
      try WorkTests.fill { try send(as: .master, "POST", "/appdata/kid/notes", body: $0).status }
    }

    func send(
      as who: TestServer.Who, _ method: String, _ path: String, body: String = ""
    ) throws -> HTTPAnswer {
      try #require(HTTPClient.receive(try start(port, as: who, method: method, path, body: body)))
    }

    func signUp(_ name: String) throws -> TestServer.Who {
      let body = "{\"username\":\"\(name)\",\"password\":\"password\"}"
      let answer = try send(as: .app, "POST", "/user/kid", body: body).json
      let token = try #require(answer["_kmd"]?["authtoken"]?.stringValue)
      return .user(id: "", token: token)
    }

    /// Sends slow requests of one asker, and waits until the server works on them.
    func begin(_ count: Int) throws -> [RawConnection] {
      let before = try #require(program.cpuSeconds)
      let connections = try (0..<count).map { _ in
        try start(
          port, as: .master, method: "POST", "/appdata/kid/notes/_group", body: WorkTests.slowGroup)
      }
      let end = Deadline.after(seconds: 60)
      while !end.hasPassed, try #require(program.cpuSeconds) < before + 1 { usleep(10_000) }
      return connections
    }
  }
}

/// Starts a request whose answer nobody waits for yet.
private func start(
  _ port: UInt16, as who: TestServer.Who, method: String, _ path: String, body: String = "",
  version: String = "1.1"
) throws -> RawConnection {
  let connection = try #require(RawConnection(port: port))
  connection.send(
    "\(method) \(path) HTTP/\(version)\r\nHost: x\r\nAuthorization: \(who.authorization ?? "")\r\n"
      + "X-Kinvey-API-Version: 5\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
  return connection
}
