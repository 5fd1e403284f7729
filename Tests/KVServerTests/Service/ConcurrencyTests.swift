internal import KVBase
internal import KVJSON
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("Many clients at once") struct ConcurrencyTests {
  @Test("write and read, and each sees what was acknowledged")
  func readYourWrites() throws {
    let server = try TestServer()
    let ana = try server.user("ana")
    let headers = [("Authorization", ana.authorization ?? "")]
    let port = server.port
    let failures = concurrently(12) { thread -> String? in
      guard let client = HTTPClient(port: port) else { return "no connection" }
      for round in 0..<40 {
        let path = "/appdata/kid/c/t\(thread)-\(round % 5)"
        let body = Array("{\"v\":\(round)}".utf8)
        guard let put = client.send("PUT", path, headers: headers, body: body), put.status < 300
        else { return "put \(path)" }
        let get = client.send("GET", path, headers: headers)
        guard get?.json["v"]?.intValue == Int64(round) else { return "get \(path)" }
      }
      return nil
    }
    #expect(failures == [])
    #expect(try server.send(as: ana, "GET", "/appdata/kid/c/_count").text == #"{"count":60}"#)
  }

  @Test("create one entity under one id")
  func oneWinner() throws {
    let server = try TestServer()
    let ana = try server.user("ana")
    let headers = [("Authorization", ana.authorization ?? "")]
    let port = server.port
    let statuses = concurrently(16) { _ -> Int? in
      HTTPClient(port: port)?.send(
        "POST", "/appdata/kid/c", headers: headers, body: Array(#"{"_id":"one"}"#.utf8))?.status
    }
    #expect(statuses.filter { $0 == 201 }.count == 1)
    #expect(statuses.filter { $0 == 500 }.count == 15)
  }

  @Test("sign up one user under one name")
  func oneUser() throws {
    let server = try TestServer()
    let port = server.port
    let statuses = concurrently(8) { _ -> Int? in
      HTTPClient(port: port)?.send(
        "POST", "/user/kid", headers: [("Authorization", TestServer.Who.app.authorization ?? "")],
        body: Array(#"{"username":"ana","password":"p"}"#.utf8))?.status
    }
    #expect(statuses.filter { $0 == 201 }.count == 1)
    #expect(statuses.filter { $0 == 409 }.count == 7)
  }

  @Test("get times that a later reading of changes can rely on")
  func requestStart() throws {
    let server = try TestServer()
    let ana = try server.user("ana")
    let headers = [("Authorization", ana.authorization ?? "")]
    let port = server.port
    let done = Monitor(false)
    let writers = (0..<4).compactMap { thread in
      Worker("writer-\(thread)") {
        guard let client = HTTPClient(port: port) else { return }
        var number = 0
        while !done.withLock({ $0 }) {
          number += 1
          _ = client.send(
            "PUT", "/appdata/kid/c/\(thread)-\(number)", headers: headers, body: Array("{}".utf8))
        }
      }
    }
    // Whatever a read does not see must have a time that is not before the start of that read.
    var reads: [(start: String, ids: Set<String>)] = []
    for _ in 0..<20 {
      let answer = try server.send(as: ana, "GET", "/appdata/kid/c")
      reads.append((answer.headers["x-kinvey-request-start"] ?? "", Set(answer.ids)))
    }
    done.withLock { $0 = true }
    for writer in writers { writer.join() }
    let final = try server.send(as: ana, "GET", "/appdata/kid/c").json.arrayValue ?? []
    for (start, ids) in reads {
      for entity in final {
        let id = entity["_id"]?.stringValue ?? ""
        let modified = entity["_kmd"]?["lmt"]?.stringValue ?? ""
        #expect(ids.contains(id) || modified >= start, "\(id) of \(modified) unseen at \(start)")
      }
    }
  }
}
