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
    _ method: String, _ header: String, _ value: String, _ body: String? = "{}"
  ) throws -> HTTPAnswer {
    try server.send(ana, method, path, method == "DELETE" ? nil : body, headers: [(header, value)])
  }

  @Test("happen only to the revision that they name")
  func revisions() throws {
    let first = try server.send(ana, "PUT", path, "{}")
    let tag = try #require(first.headers["etag"])
    #expect(tag == "\"\(first.json["_kmd"]?["lmt"]?.stringValue ?? "")\"")
    #expect(try server.send(ana, "GET", path).headers["etag"] == tag)
    let second = try send("PUT", "If-Match", tag)
    #expect(second.status == 200)
    let stale = try send("PUT", "If-Match", tag)
    #expect(stale.status == 409 && stale.error == "StaleRequest")
    #expect(try send("DELETE", "If-Match", tag).error == "StaleRequest")
    let bare = try #require(second.json["_kmd"]?["lmt"]?.stringValue)
    #expect(try send("DELETE", "If-Match", bare).status == 200)
    #expect(try send("PUT", "If-Match", bare).error == "EntityNotFound")
  }

  @Test("can ask that there is an entity, or none")
  func existence() throws {
    #expect(try send("PUT", "If-Match", "*").error == "EntityNotFound")
    #expect(try send("PUT", "If-None-Match", "*").status == 201)
    let again = try send("PUT", "If-None-Match", "*")
    #expect(again.status == 409 && again.error == "StaleRequest")
    #expect(try send("PUT", "If-Match", "*").status == 200)
  }

  @Test("are refused when they make no sense")
  func misuse() throws {
    #expect(try send("PUT", "If-Match", "\"abc\"").error == "ParameterValueOutOfRange")
    #expect(try send("PUT", "If-None-Match", "\"abc\"").error == "BadRequest")
  }

  @Test("lose no update, however many try at once")
  func counting() throws {
    _ = try server.send(ana, "PUT", path, #"{"n":0}"#)
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
    #expect(try server.send(ana, "GET", path).json["n"] == 120)
  }
}
