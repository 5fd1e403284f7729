internal import KVBase
internal import KVJSON
internal import KVQuery
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

  @Test("carry out a write once that arrives at both at the same time with one token")
  func tokens() throws {
    let base = try #require(
      a.send(as: ana, "PUT", path + "/a", body: #"{"n":0}"#).expect(201).headers["etag"])
    let headers = [
      ("Authorization", ana.authorization ?? ""), ("If-Match", base),
      ("X-Kvstored-Write-Token", "same"),
    ]
    let (ports, path) = ([a.port, b.port], path)
    let answers = concurrently(8) { number -> JSONValue? in
      HTTPClient(port: ports[number % 2])?.send(
        "PUT", path + "/a", headers: headers, body: Array(#"{"n":1}"#.utf8))?.json
    }
    #expect(answers.count == 8)
    #expect(answers.allSatisfy { $0 == answers[0] && $0["n"] == 1 })
  }

  @Test(
    "carry out operators of many clients, each once, that arrive at both, at the same time and repeated"
  )
  func operators() throws {
    try a.send(as: ana, "PUT", path + "/a", body: #"{"n":0}"#).expect(201)
    let (ports, path, who) = ([a.port, b.port], path, ana.authorization ?? "")
    let ends = concurrently(8) { number -> Int in
      let clients = ports.compactMap { HTTPClient(port: $0) }
      var done = 0
      for round in 0..<20 {
        let headers = [
          ("Authorization", who), ("X-Kvstored-Write-Token", "\(number / 2)-\(round)"),
        ]
        // Two clients send each.
        let answer = clients[(number + round) % 2].send(
          "PATCH", path + "/a", headers: headers, body: Array(#"{"$inc":{"n":1}}"#.utf8))
        if answer?.status == 200 { done += 1 }
      }
      return done
    }
    #expect(ends == Array(repeating: 20, count: 8))
    #expect(try b.send(as: ana, "GET", path + "/a").expect(200).json["n"] == 80)
  }

  @Test("know of a session that has ended on another for the next request")
  func sessions() throws {
    try b.send(as: ana, "GET", "/user/kid/_me").expect(200)
    try a.send(as: ana, "POST", "/user/kid/_logout").expect(204)
    try b.send(as: ana, "GET", "/user/kid/_me").expect(401)
  }

  @Test("each take master secrets from a reload of their own, and refuse a removed one only then")
  func masterSecrets() throws {
    func who(_ name: String) -> TestServer.Who { .header("Basic " + Base64.encode("kid:\(name)")) }
    func reload(_ server: TestServer, _ names: [String]) {
      server.server.reload {
        var configuration = Server.Configuration(data: server.directory.path + "/data")
        configuration.apps = [AppCredentials(key: "kid", secret: "sec", seal: "the same on both")]
        configuration.apps[0].masterSecrets = names.map {
          MasterSecret(name: $0, sha256: MasterSecret.hash($0), scopes: [.users])
        }
        configuration.allowsInsecureSecrets = true
        return configuration
      }
    }
    func statuses(_ name: String) throws -> [Int] {
      try [a, b].map { try $0.send(as: who(name), "GET", "/user/kid").status }
    }
    reload(a, ["old"])
    #expect(try statuses("old") == [200, 401])
    reload(b, ["old"])
    #expect(try statuses("old") == [200, 200])
    reload(a, ["old", "new"])
    #expect(try statuses("new") == [200, 401])
    reload(b, ["old", "new"])
    #expect(try statuses("new") == [200, 200])
    // An invitation of one replica is good on the other, by the seal that both have.
    let invitation = try a.send(
      as: who("old"), "POST", "/user/kid/_invitations", body: #"{"username":"bob"}"#
    ).expect(201).json["_invitation"]?.stringValue
    reload(a, ["new"])
    #expect(try statuses("old") == [401, 200])
    reload(b, ["new"])
    #expect(try statuses("old") == [401, 401])
    #expect(try statuses("new") == [200, 200])
    let server = try TestServer {
      $0.apps = [AppCredentials(key: "kid", secret: "sec", seal: "the same on both")]
      $0.signUp.usual = .invite
    }
    try server.send(
      as: .app, "POST", "/user/kid",
      body: #"{"username":"bob","password":"pass","_invitation":"\#(invitation ?? "")"}"#
    ).expect(201)
  }

  @Test("know of permissions that were set on another for the next request")
  func permissions() throws {
    try a.send(as: ana, "PUT", path + "/a", body: "{}").expect(201)
    try b.send(as: .master, "PUT", path + "/_permissions", body: #"{"read":"never"}"#).expect(200)
    try a.send(as: ana, "GET", path + "/a").expect(401)
  }

  @Test("have an index once that both find worth making, and none drops what the other uses")
  func automaticIndexes() throws {
    let storage = try TestStorage.schema(for: Identifier.object())
    let servers = try (0..<2).map { _ in
      try TestServer {
        $0.storage = storage
        $0.makesIndexes = true
      }
    }
    let bodies = (0..<1_000).map { "{\"n\":\($0)}" }
    for first in stride(from: 0, to: 1_000, by: 100) {
      let body = "[\(bodies[first..<first + 100].joined(separator: ","))]"
      try servers[0].send(as: .master, "POST", path, body: body).expect(207)
    }
    _ = concurrentMap(2, threads: 2) { number in
      for _ in 0..<17 {
        _ = try? servers[number].send(as: .master, "GET", query(path, #"{"n":7}"#))
      }
    }
    let limit = Deadline.after(seconds: 60)
    var list: [JSONValue] = []
    while !limit.hasPassed, list.count != 1 || list[0]["state"] != "ready" {
      list = try servers[1].send(as: .master, "GET", path + "/_indexes").json.arrayValue ?? []
    }
    let name = "automatic: n"
    #expect(list.count == 1 && list.first?["name"]?.stringValue == name)
    let store = try PostgresStore(storage, .init(), log: Log(.error))
    defer { store.close() }
    let key = CollectionKey(app: try store.app("kid"), name: "notes")
    try store.indexes.recordUse(of: name, in: key)
    #expect(try !store.indexes.removeAutomatic(name, from: key))
    #expect(try store.indexes.indexes(of: key).count == 1)
  }

  @Test("use an index that was made on another")
  func indexes() throws {
    let body = #"{"keys":{"n":1}}"#
    for number in 0..<20 {
      try a.send(as: ana, "PUT", "\(path)/\(number)", body: "{\"n\":\(number)}").expect(201)
    }
    let request = query(path, #"{"n":{"$gte":15}}"#)
    let explain = [("X-Kvstored-Explain", "true")]
    // It knows the collection as it was.
    _ = try b.send(as: ana, "GET", path).expect(200)
    try a.send(as: .master, "PUT", path + "/_indexes", body: body).expect(200)
    let found = try b.send(as: .master, "GET", request, headers: explain).expect(200)
    #expect(found.ids.count == 5)
    #expect(found.headers["x-kvstored-explain"]?.contains(#""indexes":["n_1"]"#) == true)
    // What was written on one is in the index on the other.
    try b.send(as: ana, "PUT", path + "/x", body: #"{"n":99}"#).expect(201)
    #expect(try a.send(as: ana, "GET", request).ids.count == 6)
    let name = target(path + "/_indexes", [("name", "n_1")])
    try b.send(as: .master, "DELETE", name).expect(200)
    #expect(try a.send(as: ana, "GET", request).ids.count == 6)
  }

  @Test("go on filling an index where another has stopped")
  func stoppedBuild() throws {
    let storage = try TestStorage.schema(for: Identifier.object())
    let key: CollectionKey
    let spec = try IndexSpec(parsing: #"{"keys":{"n":1}}"#)
    let master = Claim.principal(.master)
    do {
      let first = try PostgresStore(storage, .init(), log: Log(.error))
      defer { first.close() }
      key = CollectionKey(app: try first.app("kid"), name: "many")
      for start in stride(from: 0, to: 1200, by: 100) {
        let writes = try (start..<start + 100).map { number in
          EntityWrite.create(try Service.draft(Payload("{\"n\":\(number % 10)}")))
        }
        _ = try first.entities.perform(writes.map { .success($0) }, in: key, for: master)
      }
      try first.indexes.add(spec, to: key)
      let isLeft = try first.indexes.buildNext()
      let states = try first.indexes.indexes(of: key).map(\.state)
      #expect(isLeft && states == [.building])
    }
    let second = try PostgresStore(storage, .init(), log: Log(.error))
    defer { second.close() }
    while try second.indexes.buildNext() {}
    let states = try second.indexes.indexes(of: key).map(\.state)
    #expect(states == [.ready])
    let query = try Query(filter: #"{"n":7}"#)
    let use = try second.indexes.use(for: query, in: key)
    #expect(use != nil)
    let count = try second.entities.count(query, in: key, for: master, within: .unlimited).count
    #expect(count == 120)
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
    #expect(heard.wait(until: .after(seconds: 60), for: { $0 > before ? true : nil }) == true)
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
