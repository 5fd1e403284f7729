internal import KVBase
internal import KVJSON
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerPostgres

@Suite("What each get asks") struct GetStatementTests {
  @Test(
    "is made once, and is what its parts make, whoever asks",
    arguments: [
      .session(token: "t"), .principal(.user(id: "ana")), .principal(.app), .principal(.master),
    ] as [Claim])
  func form(claim: Claim) {
    for id in ["ana", "entity", "who", "", "a\u{0}b"] {
      let key = CollectionKey(app: 7, name: "ana")
      let sql = CollectionState.select(key, for: claim, with: id)
      let composed = CollectionState.compose(key, for: claim, with: id)
      #expect(sql.text == composed.text)
      #expect(sql.values == composed.values)
    }
  }
}

/// Statements are counted by PostgreSQL (pg_stat_statements, for a user of the test's own), round trips by the connections.
@Suite("A request to a replica") struct StatementCountTests {
  private static let repetitions = 20
  private static let attempts = 10

  private let administrator: PostgresConnection
  private let role: String
  private let storage: String
  private let server: TestServer
  private let ana: TestServer.Who
  private let path = "/appdata/kid/notes"

  init() throws {
    let name = Identifier.object()
    role = "role_\(name)"
    let shared = try TestStorage.schema(for: name)
    administrator = try PostgresConnection(to: shared, setup: "SELECT pg_advisory_lock(17)")
    try administrator.run("CREATE EXTENSION IF NOT EXISTS pg_stat_statements SCHEMA public")
    try administrator.run("SELECT pg_advisory_unlock(17)")
    try administrator.run("CREATE ROLE \(sql: role) SUPERUSER LOGIN")
    let storage = shared + "&user=\(role)"
    self.storage = storage
    server = try TestServer {
      $0.storage = storage
      $0.historyDays = 5
    }
    ana = try server.user("ana")
    for number in 0..<100 {
      try server.send(as: ana, "PUT", "\(path)/e\(number)", body: #"{"n":1}"#).expect(201)
    }
    // What a replica does once in a while only.
    try server.send(as: ana, "GET", path).expect(200)
    _ = try server.metrics { $0.contains("\nkvstored_storage_bytes{part=\"database\"}") }
    try waitForFeed()
  }

  /// Waits until the feed has read what was written.
  private func waitForFeed() throws {
    _ = try server.metrics { $0.contains("\nkvstored_feed_waiting 0\n") }
  }

  /// How many statements and round trips a request takes, on the average of some. What a server does twice a minute
  /// (it looks for indexes that another one has left unfinished) may fall into it: then it is measured again.
  private func cost(_ request: (Int) throws -> Void) throws -> (statements: Double, trips: Double) {
    var cost = (statements: Double.infinity, trips: Double.infinity)
    for attempt in 0..<Self.attempts where cost.trips.rounded() != cost.trips || attempt == 0 {
      let before = (try statements(), try roundTrips())
      for number in 0..<Self.repetitions { try request(attempt * Self.repetitions + number) }
      let count = Double(Self.repetitions)
      cost = (
        Double(try statements() - before.0) / count, Double(try roundTrips() - before.1) / count
      )
    }
    return cost
  }

  /// The statements so far, without those of the feed, which asks many times a second whoever does what.
  private func statements() throws -> Int64 {
    try administrator.run(
      """
      SELECT coalesce(sum(calls), 0)::int8 FROM public.pg_stat_statements AS s
      JOIN pg_roles AS r ON r.oid = s.userid
      WHERE r.rolname = \(sql: "'\(role)'") AND query !~ 'epoch FROM kvstored|pg_notify'
      """
    ).int64(0, 0)
  }

  private func roundTrips() throws -> Int {
    let page = try server.send(as: .master, "GET", "/metrics").expect(200).text
    let line = page.split(separator: "\n").first {
      $0.hasPrefix("kvstored_pool_round_trips_total ")
    }
    return try #require(line?.split(separator: " ").last.flatMap { Int($0) })
  }

  @Test("for an entity takes one statement in one round trip")
  func get() throws {
    let cost = try cost { try server.send(as: ana, "GET", "\(path)/e\($0)").expect(200) }
    #expect(cost == (1, 1))
  }

  @Test("to write takes two round trips")
  func writes() throws {
    let put = try cost { try server.send(as: ana, "PUT", "\(path)/e\($0)", body: "{}").expect(200) }
    #expect(put.trips == 2)
    let create = try cost { _ in try server.send(as: ana, "POST", path, body: "{}").expect(201) }
    #expect(create.trips == 2)
    let delete = try cost { try server.send(as: ana, "DELETE", "\(path)/e\($0)").expect(200) }
    #expect(delete.trips == 2)
    let batch = #"[{"method":"POST","entity":{"n":1}},{"method":"POST","entity":{"n":2}}]"#
    let several = try cost { _ in
      try server.send(as: ana, "POST", path + "/_batch", body: batch).expect(200)
    }
    #expect(several.trips == 2)
  }

  @Test("of somebody without a session writes nothing, and is refused before its mistakes are told")
  func noSession() throws {
    let nobody = TestServer.Who.header("Kinvey none")
    let clock = "SELECT clock FROM app" as SQL
    let before = try administrator.run(clock).int64(0, 0)
    try server.send(as: nobody, "PUT", path + "/e1", body: "{}").expect(401)
    try server.send(as: nobody, "PUT", path + "/e1", body: "{").expect(401)
    try server.send(as: nobody, "GET", path + "/e1").expect(401)
    try server.send(as: nobody, "GET", path + "?query=1").expect(401)
    try server.send(as: nobody, "GET", path + "/_deltaset?since=x").expect(401)
    #expect(try administrator.run(clock).int64(0, 0) == before)
  }

  @Test("for a page, a count or a delta takes one statement in one round trip")
  func pages() throws {
    let start = try server.send(as: ana, "GET", path).expect(200).headers["x-kinvey-request-start"]
    let delta = target(path + "/_deltaset", [("since", try #require(start))])
    try server.send(as: ana, "PUT", path + "/e1", body: #"{"n":2}"#).expect(200)
    try server.send(as: ana, "DELETE", path + "/e2").expect(200)
    try waitForFeed()
    let byId = target(path, [("sort", #"{"_id":1}"#), ("limit", "10")])
    for (request, count) in [(path, 99), (path + "?limit=20&skip=5", 20), (byId, 10)] {
      let cost = try cost { _ in
        let ids = try server.send(as: ana, "GET", request).expect(200).ids
        #expect(ids.count == count)
      }
      #expect(cost == (1, 1), "\(request)")
    }
    let counted = try cost { _ in
      let answer = try server.send(as: ana, "GET", path + "/_count").expect(200)
      #expect(answer.json["count"] == 99)
    }
    #expect(counted == (1, 1))
    let changed = try cost { _ in
      let answer = try server.send(as: ana, "GET", delta).expect(200).json
      #expect(answer["changed"]?.arrayValue?.count == 1)
      #expect(answer["deleted"]?.arrayValue?.count == 1)
    }
    #expect(changed == (1, 1))
  }

  @Test("goes by what another replica has just made of the collection")
  func others() throws {
    let other = try TestServer {
      $0.storage = storage
      $0.historyDays = 5
    }
    let ben = try server.user("ben")
    let since = try server.send(as: ben, "GET", path).expect(200).headers["x-kinvey-request-start"]
    let delta = target(path + "/_deltaset", [("since", try #require(since))])
    try server.send(as: ben, "GET", delta).expect(200)
    for (rule, count) in [("creator", 0), ("always", 100), ("acl", 0), ("shared", 100)] {
      let body = "{\"read\":\"\(rule)\"}"
      try other.send(as: .master, "PUT", path + "/_permissions", body: body).expect(200)
      #expect(try server.send(as: ben, "GET", path).expect(200).ids.count == count, "\(rule)")
      let counted = try server.send(as: ben, "GET", path + "/_count").expect(200).json["count"]
      #expect(counted == .int(Int64(count)), "\(rule)")
      // What was read by another rule says nothing of what can be read now.
      try server.send(as: ben, "GET", delta).expect(400)
    }
    try other.send(as: .master, "PUT", path + "/_permissions", body: #"{"read":"never"}"#)
      .expect(200)
    for request in [path, path + "/_count", delta] {
      try server.send(as: ben, "GET", request).expect(401)
    }
    try other.send(as: ben, "POST", "/user/kid/_logout").expect(204)
    #expect(
      try server.send(as: ben, "GET", path).expect(401).error == "InvalidCredentials")
  }

  @Test("with a filter that no index answers is sent only what may match")
  func superset() throws {
    // Three spellings of one text; the second matches by the filter and not by its bytes.
    for (id, text) in [("plain", "falcon"), ("escaped", #"f\u0061lcon"#), ("longer", "falcons")] {
      let body = "{\"name\":\"\(text)\"}"
      try server.send(as: ana, "PUT", "\(path)/\(id)", body: body).expect(201)
    }
    let query = target(path, [("query", #"{"name":"falcon"}"#)])
    let before = try rowsOfCursors()
    let found = try server.send(as: ana, "GET", query).expect(200)
    #expect(Set(found.ids) == ["plain", "escaped"])
    #expect(try rowsOfCursors() - before == 3)
  }

  /// The rows that were read a few at a time, to be matched.
  private func rowsOfCursors() throws -> Int64 {
    try administrator.run(
      """
      SELECT coalesce(sum(rows), 0)::int8 FROM public.pg_stat_statements AS s
      JOIN pg_roles AS r ON r.oid = s.userid
      WHERE r.rolname = \(sql: "'\(role)'") AND query LIKE 'FETCH %'
      """
    ).int64(0, 0)
  }

  @Test("that polls takes none while it waits")
  func poll() throws {
    let other = try TestServer {
      $0.storage = storage
      $0.historyDays = 5
    }
    let device = try LiveDevice(server, ana)
    _ = try device.subscribe().expect(200)
    var time = try device.poll(nil).json["t"]
    // As in `cost`, what the server does twice a minute may fall into one poll, but not into each.
    var trips: [Int] = []
    while trips.count < Self.attempts, trips.last != 0 {
      let waiting = try device.start(time)
      _ = try server.metrics { $0.contains("kvstored_polls_waiting 1") }
      let before = try roundTrips()
      try other.send(as: ana, "PUT", path + "/new", body: "{}").expect(trips.isEmpty ? 201 : 200)
      let answer = try #require(HTTPClient.receive(waiting))
      #expect(answer.status == 200)
      trips.append(try roundTrips() - before)
      time = answer.json["t"]
    }
    #expect(trips.last == 0, "\(trips)")
  }
}
