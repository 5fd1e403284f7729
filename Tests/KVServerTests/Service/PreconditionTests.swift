internal import KVBase
internal import KVJSON
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("Writes with a condition") struct PreconditionTests {
  private let server: TestServer
  private let ana: TestServer.Who
  private let path = "/appdata/kid/notes/x"

  init() throws {
    server = try TestServer()
    ana = try server.user("ana")
  }

  private func send(
    _ method: String, header: String, is value: String, body: String? = "{}"
  ) throws -> HTTPAnswer {
    try server.send(
      as: ana, method, path, body: method == "DELETE" ? nil : body, headers: [(header, value)])
  }

  @Test("happen only to the revision that they name")
  func revisions() throws {
    let first = try server.send(as: ana, "PUT", path, body: "{}")
    let tag = try #require(first.headers["etag"])
    #expect(tag == "\"\(first.json["_kmd"]?["lmt"]?.stringValue ?? "")\"")
    #expect(try server.send(as: ana, "GET", path).headers["etag"] == tag)
    let second = try send("PUT", header: "If-Match", is: tag)
    #expect(second.status == 200)
    let stale = try send("PUT", header: "If-Match", is: tag)
    #expect(stale.status == 409 && stale.error == "StaleRequest")
    #expect(try send("DELETE", header: "If-Match", is: tag).error == "StaleRequest")
    let bare = try #require(second.json["_kmd"]?["lmt"]?.stringValue)
    #expect(try send("DELETE", header: "If-Match", is: bare).status == 200)
    #expect(try send("PUT", header: "If-Match", is: bare).error == "EntityNotFound")
  }

  @Test("can ask that there is an entity, or none")
  func existence() throws {
    #expect(try send("PUT", header: "If-Match", is: "*").error == "EntityNotFound")
    #expect(try send("PUT", header: "If-None-Match", is: "*").status == 201)
    let again = try send("PUT", header: "If-None-Match", is: "*")
    #expect(again.status == 409 && again.error == "StaleRequest")
    #expect(try send("PUT", header: "If-Match", is: "*").status == 200)
  }

  @Test("are refused when they make no sense")
  func misuse() throws {
    #expect(try send("PUT", header: "If-Match", is: "\"abc\"").error == "ParameterValueOutOfRange")
    #expect(try send("PUT", header: "If-None-Match", is: "\"abc\"").error == "BadRequest")
  }

  @Test("lose no update, however many try at once")
  func counting() throws {
    _ = try server.send(as: ana, "PUT", path, body: #"{"n":0}"#)
    let headers = [("Authorization", ana.authorization ?? "")]
    let (port, path) = (server.port, path)
    let done = concurrently(6) { _ -> Int? in
      guard let client = HTTPClient(port: port) else { return nil }
      var successes = 0
      while successes < 20 {
        guard let read = client.send("GET", path, headers: headers),
          let count = read.json["n"]?.intValue, let tag = read.headers["etag"]
        else { return nil }
        let answer = client.send(
          "PUT", path, headers: headers + [("If-Match", tag)],
          body: Array("{\"n\":\(count + 1)}".utf8))
        if answer?.status == 200 { successes += 1 }
      }
      return successes
    }
    #expect(done == Array(repeating: 20, count: 6))
    #expect(try server.send(as: ana, "GET", path).json["n"] == 120)
  }
}
