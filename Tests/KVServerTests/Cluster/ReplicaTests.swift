internal import KVBase
internal import KVJSON
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerPostgres

@Suite("Servers that share a PostgreSQL database") struct ReplicaTests {
  private let a: TestServer
  private let b: TestServer
  private let ana: TestServer.Who
  private let path = "/appdata/kid/notes"

  init() throws {
    let storage = try TestStorage.schema(for: Identifier.object())
    a = try TestServer {
      $0.storage = storage
      $0.historyDays = 5
    }
    b = try TestServer {
      $0.storage = storage
      $0.historyDays = 5
    }
    ana = try a.user("ana")
  }

  @Test("have the same entities, byte for byte")
  func entities() throws {
    let body = #"{"_id":"a","n":1e5,"z":-0.0,"t":"\u0000 é","b":1,"a":2}"#
    let written = try a.send(as: ana, "PUT", path + "/a", body: body).expect(201)
    let read = try b.send(as: ana, "GET", path + "/a").expect(200)
    #expect(read.body == written.body)
    #expect(read.text.contains(#""n":1e5,"z":-0.0"#))
    #expect(
      read.headers["x-kvstored-data-epoch"]
        == (try a.send(as: ana, "GET", path + "/a")).headers["x-kvstored-data-epoch"])
  }

  @Test("know of a session that has ended on another for the next request")
  func sessions() throws {
    try b.send(as: ana, "GET", "/user/kid/_me").expect(200)
    try a.send(as: ana, "POST", "/user/kid/_logout").expect(204)
    try b.send(as: ana, "GET", "/user/kid/_me").expect(401)
  }

  @Test("know of permissions that were set on another for the next request")
  func permissions() throws {
    try a.send(as: ana, "PUT", path + "/a", body: "{}").expect(201)
    try b.send(as: .master, "PUT", path + "/_permissions", body: #"{"read":"never"}"#).expect(200)
    try a.send(as: ana, "GET", path + "/a").expect(401)
  }

  @Test("tell each other of commits")
  func notifications() throws {
    let storage = try TestStorage.schema(for: Identifier.object())
    let database = PostgresDatabase(storage, connections: 4, isDurable: true)
    let (listener, other) = (CommitListener(database), CommitListener(database))
    let heard = Monitor(0)
    listener.start { heard.withLockNotifyingAll { $0 += 1 } }
    defer { listener.close() }
    // It may not listen yet.
    while heard.wait(until: .after(seconds: 0.05), for: { $0 > 0 ? true : nil }) == nil {
      _ = try database.read(other.notification)
    }
    let before = heard.withLock { $0 }
    _ = try database.read(other.notification)
    #expect(heard.wait(until: .after(seconds: 20), for: { $0 > before ? true : nil }) == true)
  }

  @Test("deliver a write on one to a poll that waits on another, from a position of the first")
  func live() throws {
    let device = try LiveDevice(a, ana)
    _ = try device.subscribe().expect(200)
    let position = try device.poll(nil).json["t"]
    var other = device
    other.server = b
    let waiting = try other.start(position)
    try a.send(as: ana, "PUT", path + "/one", body: #"{"n":1}"#).expect(201)
    let answer = try #require(HTTPClient.receive(waiting))
    #expect(answer.json["m"]?.arrayValue?.first?["d"]?["_id"]?.stringValue == "one")
    try b.send(as: ana, "PUT", path + "/two", body: #"{"n":1}"#).expect(201)
    let both = try device.poll(position, count: 2)
    let ids = both.json["m"]?.arrayValue?.map { $0["d"]?["_id"]?.stringValue }
    #expect(ids == ["one", "two"])
    // Nothing comes again.
    try a.send(as: ana, "PUT", path + "/three", body: #"{"n":1}"#).expect(201)
    let rest = try other.poll(both.json["t"], count: 1)
    #expect(rest.json["m"]?.arrayValue?.map { $0["d"]?["_id"]?.stringValue } == ["three"])
  }

  @Test("end a poll that waits on one when its session ends on another")
  func endedPoll() throws {
    let device = try LiveDevice(a, ana)
    _ = try device.subscribe().expect(200)
    var other = device
    other.server = b
    let waiting = try other.start(try other.poll(nil).json["t"])
    try a.send(as: ana, "POST", "/user/kid/_logout").expect(204)
    #expect(HTTPClient.receive(waiting)?.status == 403)
  }

  @Test("tell by a chain of deltas of everything that was written on any of them meanwhile")
  func deltas() throws {
    let (a, b, ana, path) = (a, b, ana, path)
    let writers = 4
    let each = 25
    var since = try b.send(as: ana, "GET", path).headers["x-kinvey-request-start"]
    let isDone = Monitor(false)
    let reader = Worker("reader") {
      _ = concurrently(writers) { writer in
        for number in 0..<each {
          let server = (writer + number) % 2 == 0 ? a : b
          _ = try? server.send(as: ana, "PUT", "\(path)/w\(writer)-\(number)", body: "{}")
        }
        return nil as Int?
      }
      isDone.withLock { $0 = true }
    }
    var seen: Set<String> = []
    var isLast = false
    while !isLast {
      isLast = isDone.withLock { $0 }
      let server = seen.count % 2 == 0 ? a : b
      let answer = try server.send(
        as: ana, "GET", target(path + "/_deltaset", [("since", try #require(since))])
      ).expect(200)
      since = answer.headers["x-kinvey-request-start"]
      seen.formUnion(
        answer.json["changed"]?.arrayValue?.compactMap { $0["_id"]?.stringValue } ?? [])
    }
    reader?.join()
    #expect(seen.count == writers * each)
  }
}
