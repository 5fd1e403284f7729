import KVServer
import Testing

@testable import KVServerHTTP

@Suite("Web pages of other origins") struct CrossOriginTests {
  private static let question = [
    ("Origin", "https://app.example"), ("Access-Control-Request-Method", "PUT"),
    ("Access-Control-Request-Headers", "authorization,x-kinvey-api-version"),
  ]

  @Test("are told nothing by a server without the option")
  func off() throws {
    let server = try TestServer()
    let answer = try server.send(
      as: .nobody, "OPTIONS", "/appdata/kid/notes", headers: Self.question)
    #expect(answer.status == 405)
    #expect(!answer.headers.keys.contains { $0.hasPrefix("access-control") || $0 == "vary" })
  }

  @Test("are told what they may send, and may read the answers, errors included")
  func on() throws {
    let server = try TestServer {
      $0.crossOrigins = ["https://app.example", "http://localhost:3000"]
    }
    let may = try server.send(
      as: .nobody, "OPTIONS", "/appdata/kid/notes/1",
      headers: Self.question + [("X-Kinvey-Request-Id", "id-of-the-client")]
    ).expect(204)
    #expect(may.headers["access-control-allow-origin"] == "https://app.example")
    #expect(may.headers["x-kinvey-request-id"] == "id-of-the-client")
    #expect(may.headers["access-control-allow-methods"]?.contains("PUT") == true)
    #expect(may.headers["access-control-allow-headers"] == "authorization,x-kinvey-api-version")
    for (path, status) in [
      ("/appdata/kid/notes", 200), ("/appdata/kid/notes/x", 404), ("/no", 404),
    ] {
      let answer = try server.send(
        as: .master, "GET", path, headers: [("Origin", "http://localhost:3000")]
      ).expect(status)
      #expect(answer.headers["access-control-allow-origin"] == "http://localhost:3000")
      #expect(answer.headers["access-control-expose-headers"] == "*")
      #expect(answer.headers["vary"] == "Origin")
    }
  }

  @Test("that are not named may not read answers, which say that they depend on the origin")
  func others() throws {
    let server = try TestServer { $0.crossOrigins = ["https://app.example"] }
    for origin in ["https://evil.example", "https://app.example.evil", "null"] {
      let answer = try server.send(
        as: .master, "GET", "/appdata/kid/notes", headers: [("Origin", origin)]
      ).expect(200)
      #expect(answer.headers["access-control-allow-origin"] == nil)
      #expect(answer.headers["vary"] == "Origin")
    }
  }

  @Test("may be all")
  func any() throws {
    let server = try TestServer { $0.crossOrigins = ["*"] }
    let answer = try server.send(
      as: .master, "GET", "/appdata/kid/notes", headers: [("Origin", "null")]
    ).expect(200)
    #expect(answer.headers["access-control-allow-origin"] == "*")
  }

  @Test("have origins of a scheme and a host")
  func origins() {
    for text in ["*", "https://app.example", "http://localhost:3000"] {
      #expect(CrossOriginPolicy.isOrigin(text))
    }
    for text in ["", "app.example", "https://", "https://a/", "ftp://a", "https://*.example"] {
      #expect(!CrossOriginPolicy.isOrigin(text), "\(text)")
    }
  }
}

@Suite("Ids of requests") struct RequestIdTests {
  @Test("come back under the name under which they were sent, and are made where there is none")
  func names() throws {
    let server = try TestServer()
    let plain = try server.send(
      as: .master, "GET", "/appdata/kid/notes/x", headers: [("X-Request-Id", "abc-1")])
    #expect(plain.headers["x-request-id"] == "abc-1")
    #expect(plain.headers["x-kinvey-request-id"] == "abc-1")
    let none = try server.send(as: .master, "GET", "/nowhere")
    #expect(none.headers["x-kinvey-request-id"]?.isEmpty == false)
    #expect(none.headers["x-request-id"] == nil)
  }

  @Test("do not contain the white space around them", arguments: ["abc ", "abc\t", " \tabc \t "])
  func trimmed(id: String) throws {
    let server = try TestServer()
    let answer = try server.send(
      as: .master, "GET", "/appdata/kid/notes/x", headers: [("X-Request-Id", id)])
    #expect(answer.headers["x-request-id"] == "abc")
  }

  @Test(
    "that are long or cannot be printed are replaced",
    arguments: [String(repeating: "x", count: 129), "a b", "a\tb"])
  func bad(id: String) throws {
    let server = try TestServer()
    let answer = try server.send(
      as: .master, "GET", "/appdata/kid/notes/x", headers: [("X-Request-Id", id)])
    let made = try #require(answer.headers["x-request-id"])
    #expect(made != id && made == answer.headers["x-kinvey-request-id"])
  }
}
