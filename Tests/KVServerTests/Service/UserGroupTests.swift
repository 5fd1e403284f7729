import KVJSON
import KVSQLite
import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore
@testable import KVServerSQLite

@Suite("Groups of users") struct UserGroupTests {
  private let server: TestServer
  private let ana: TestServer.Who
  private let bob: TestServer.Who
  private let path = "/appdata/kid/notes"

  init() throws {
    server = try TestServer { $0.historyDays = 15 }
    ana = try server.user("ana")
    bob = try server.user("bob")
  }

  /// Makes a group of Ana's with these members, and gives its id.
  private func group(_ members: TestServer.Who...) throws -> String {
    let answer = try server.send(as: ana, "POST", "/group/kid", body: users(members))
    #expect(answer.status == 201)
    return try #require(answer.json["_id"]?.stringValue)
  }

  private func users(_ members: [TestServer.Who]) -> String {
    let list = members.map { JSONValue.string($0.id).text }.joined(separator: ",")
    return "{\"name\":\"team\",\"users\":{\"list\":[\(list)]}}"
  }

  private func create(_ id: String, groups: String) throws {
    let answer = try server.send(
      as: ana, "POST", path,
      body: "{\"_id\":\"\(id)\",\"n\":1,\"_acl\":{\"gr\":false,\"groups\":\(groups)}}")
    #expect(answer.status == 201)
  }

  private func ids(_ who: TestServer.Who, _ target: String) throws -> [String] {
    try server.send(as: who, "GET", target).json.arrayValue?.compactMap { $0["_id"]?.stringValue }
      ?? []
  }

  @Test("let their members read what an _acl opens to them, in every kind of read")
  func reading() throws {
    let group = try group(bob)
    let eve = try server.user("eve")
    try create("team", groups: "{\"r\":[\"\(group)\"]}")
    try create("own", groups: "{}")
    #expect(try server.send(as: bob, "GET", path + "/team").status == 200)
    #expect(try server.send(as: eve, "GET", path + "/team").status == 401)
    for (who, seen) in [(bob, ["team"]), (eve, [])] {
      #expect(try ids(who, path) == seen)
      #expect(try ids(who, query(path, #"{"n":1}"#)) == seen)
      let count = try server.send(as: who, "GET", path + "/_count").json["count"]
      #expect(count == .int(Int64(seen.count)))
    }
    #expect(try server.send(as: bob, "PUT", path + "/team", body: "{}").status == 401)
    #expect(try server.send(as: bob, "DELETE", query(path, "{}")).text == #"{"count":0}"#)
  }

  @Test("let their members write what an _acl opens to them for writing")
  func writing() throws {
    let group = try group(bob)
    try create("team", groups: "{\"w\":[\"\(group)\"]}")
    #expect(try ids(bob, path) == ["team"])
    let answer = try server.send(as: bob, "PUT", path + "/team", body: #"{"n":2}"#)
    #expect(answer.status == 200)
    // A write that says nothing of the access list keeps it, groups included.
    #expect(answer.json["_acl"]?["groups"]?["w"]?.arrayValue == [.string(group)])
    #expect(try server.send(as: bob, "DELETE", path + "/team").status == 200)
  }

  @Test(
    "who joins or leaves sees and loses entities with the next delta, which asks for everything")
  func joining() throws {
    let group = try group()
    try create("team", groups: "{\"r\":[\"\(group)\"]}")
    for (members, seen) in [([bob], ["team"]), ([], [])] {
      let before = try server.send(as: bob, "GET", path)
      let since = try #require(before.headers["x-kinvey-request-start"])
      let delta = target(path + "/_deltaset", [("since", since)])
      #expect(try server.send(as: bob, "GET", delta).status == 200)
      #expect(
        try server.send(as: ana, "PUT", "/group/kid/\(group)", body: users(members)).status == 200)
      let refused = try server.send(as: bob, "GET", delta)
      #expect(refused.status == 400 && refused.error == "ParameterValueOutOfRange")
      #expect(try ids(bob, path) == seen)
      // Ana's rights have not changed.
      #expect(try server.send(as: ana, "GET", delta).status == 200)
    }
  }

  @Test("are their creator's: others see and change them only if the group's own _acl says so")
  func owners() throws {
    let group = try group(bob)
    let target = "/group/kid/\(group)"
    #expect(try server.send(as: ana, "GET", target).json["name"] == "team")
    for (method, body) in [("GET", nil), ("PUT", users([bob])), ("DELETE", nil)] {
      #expect(try server.send(as: bob, method, target, body: body).status == 401, "\(method)")
    }
    #expect(try ids(ana, "/group/kid") == [group] && ids(bob, "/group/kid") == [])
    #expect(try server.send(as: ana, "DELETE", target).status == 204)
    #expect(try server.send(as: ana, "GET", target).status == 404)
    // A user cannot take an id that access lists may name, and makes no group by replacing one.
    #expect(try server.send(as: bob, "PUT", target, body: users([bob])).status == 404)
    #expect(
      try server.send(as: bob, "POST", "/group/kid", body: "{\"_id\":\"\(group)\"}").status == 401)
  }

  @Test(
    "have ids that only the administrator chooses, whatever condition a write has, and that are never given again"
  )
  func ids() throws {
    let group = try group(bob)
    let eve = try server.user("eve")
    try create("team", groups: "{\"r\":[\"\(group)\",\"planned\"]}")
    let target = "/group/kid/\(group)"
    try server.send(as: ana, "DELETE", target).expect(204)
    let isMissing = [("If-None-Match", "*")]
    let revision = [("If-Match", "\"2024-03-12T21:00:01.120Z\"")]
    for path in [target, "/group/kid/planned"] {
      for headers in [[], isMissing, [("If-Match", "*")], revision] {
        let answer = try server.send(
          as: eve, "PUT", path, body: users([eve]), headers: headers)
        #expect([401, 404].contains(answer.status), "\(path) \(headers): \(answer.text)")
      }
    }
    #expect(try ids(eve, self.path) == [])
    let planned = "/group/kid/planned"
    for headers in [[], isMissing] {
      let answer = try server.send(
        as: .master, "PUT", target, body: users([eve]), headers: headers)
      #expect(answer.status == 404 && answer.text.contains("deleted"), "\(answer.text)")
    }
    let named = "{\"_id\":\"\(group)\",\"users\":{\"list\":[\"\(eve.id)\"]}}"
    try server.send(as: .master, "POST", "/group/kid", body: named).expect(404)
    try server.send(as: .master, "PUT", planned, body: users([eve]), headers: isMissing).expect(201)
    #expect(try ids(eve, self.path) == ["team"])
  }

  @Test("that are deleted open nothing any more, and neither do those that a user was in")
  func deleting() throws {
    let group = try group(bob)
    try create("team", groups: "{\"r\":[\"\(group)\"]}")
    #expect(try server.send(as: ana, "DELETE", "/group/kid/\(group)").status == 204)
    #expect(try ids(bob, path) == [])
    let other = try self.group(bob)
    #expect(try server.send(as: bob, "DELETE", "/user/kid/\(bob.id)?hard=true").status == 204)
    #expect(try server.send(as: ana, "GET", "/group/kid/\(other)").status == 200)
  }

  @Test(
    "are refused if their members cannot be understood",
    arguments: [
      (#"{"users":{"list":"ana"}}"#, "InputValidationFailed"),
      (#"{"users":{"list":[1]}}"#, "InputValidationFailed"),
      (#"{"users":{"list":[""]}}"#, "InputValidationFailed"),
      (#"{"users":{"list":[["ana"]]}}"#, "InputValidationFailed"),
      (#"{"users":{"list":[{"_collection":"notes","_id":"ana"}]}}"#, "InputValidationFailed"),
      (#"{"users":{"list":[{"_type":"Entity","_id":"ana"}]}}"#, "InputValidationFailed"),
      (#"{"users":{"list":{"0":"ana"}}}"#, "InputValidationFailed"),
      (#"{"users":{"lists":["ana"]}}"#, "InputValidationFailed"),
      (#"{"users":{"all":1}}"#, "InputValidationFailed"),
      (#"{"users":["ana"]}"#, "InputValidationFailed"),
      (#"{"users":{"all":"true"}}"#, "FeatureUnavailable"),
      (#"{"groups":{"list":["g"]}}"#, "FeatureUnavailable"),
      (#"{"groups":[{"_id":"g"}]}"#, "FeatureUnavailable"),
    ])
  func misuse(body: String, error: String) throws {
    let answer = try server.send(as: ana, "POST", "/group/kid", body: body)
    #expect(answer.status == 400 && answer.error == error)
  }

  @Test("change only if they are still what was read, if the client asks so")
  func conditions() throws {
    let target = "/group/kid/\(try group(bob))"
    let revision = try #require(try server.send(as: ana, "GET", target).headers["etag"])
    let first = try server.send(
      as: ana, "PUT", target, body: users([]), headers: [("If-Match", revision)])
    #expect(first.status == 200 && first.headers["etag"] != revision)
    for (method, body) in [("PUT", users([bob])), ("DELETE", nil)] {
      let late = try server.send(
        as: ana, method, target, body: body, headers: [("If-Match", revision)])
      #expect(late.status == 409 && late.error == "StaleRequest", "\(method)")
    }
    #expect(try server.send(as: ana, "GET", target).json["users"]?["list"] == [])
  }

  @Test("take references to users as members")
  func references() throws {
    let answer = try server.send(
      as: ana, "POST", "/group/kid",
      body:
        "{\"users\":{\"all\":\"false\",\"list\":[{\"_type\":\"KinveyRef\",\"_collection\":\"user\",\"_id\":\"\(bob.id)\"}]}}"
    )
    let group = try #require(answer.json["_id"]?.stringValue)
    try create("team", groups: "{\"r\":[\"\(group)\"]}")
    #expect(try ids(bob, path) == ["team"])
  }

  @Test("that access lists named before the server knew groups count from its start on")
  func upgrade() throws {
    let directory = TemporaryDirectory()
    let database = try testDatabase(in: directory)
    let registry = try CollectionRegistry(database, defaults: Permissions())
    let notes = try registry.make(CollectionKey(app: 1, name: "notes"))
    let columns = try database.write {
      (connection: borrowing Connection) throws(SQLiteError) -> String? in
      // As an older version has written it.
      try connection.execute(
        """
        INSERT INTO \(notes.table) (id, creator, readers, ect, lmt, body) VALUES
          ('a', 'ana', '["bob"]', 0, 0, '{"_id":"a","_acl":{"r":["bob"],"groups":{"r":["g"]}}}'),
          ('b', 'ana', NULL, 0, 0, 'damaged');
        UPDATE collection SET groups_indexed = 0;
        """)
      return nil
    }
    #expect(columns == nil)
    _ = try CollectionRegistry(database, defaults: Permissions())
    let (readers, writers) = try database.read {
      (connection: borrowing Connection) throws(SQLiteError) -> (String?, String?) in
      let select = try connection.prepare("SELECT readers, writers FROM \(notes.table)")
      return try select.step() ? (select.text(0), select.text(1)) : (nil, nil)
    }
    #expect(readers == #"["bob","\u0001g"]"# && writers == nil)
  }
}

@Suite("Live data and groups of users") struct LiveGroupTests {
  @Test("members hear of what their groups may read")
  func audience() throws {
    let directory = TemporaryDirectory()
    let database = try testDatabase(in: directory)
    let registry = try CollectionRegistry(database, defaults: Permissions())
    let broker = LiveBroker(LiveWire(app: "kid", region: 7))
    let entities = Entities(
      database, clock: ServerClock(after: 0), outbox: testOutbox([1: broker]))
    let groups = UserGroups(entities, registry)
    let group = try draft("{}")
    _ = try groups.perform(.create(group), members: ["bob"], for: .user(id: "ana"), app: 1)
    var replies: [String: KeptReply] = [:]
    for user in ["bob", "eve"] {
      let channels = broker.wire.group(of: user)
      broker.members {
        $0.register(channels, device: "d")
        _ = $0.subscribe(channels, device: "d", collection: "notes")
      }
      let position = poll(broker, user, since: nil).position
      replies[user] = poll(broker, user, since: position)
    }
    let note = try draft("{\"_acl\":{\"gr\":false,\"groups\":{\"r\":[\"\(group.id)\"]}}}")
    let writer = Viewer(principal: .user(id: "ana"), permissions: Permissions())
    let notes = try registry.make(CollectionKey(app: 1, name: "notes"))
    _ = try entities.perform([.success(.create(note))], in: notes, for: writer)
    #expect(replies["bob"]?.ids == [note.id])
    #expect(replies["eve"]?.status == nil)
    _ = try entities.perform(
      [.success(.delete(id: note.id, if: .none))], in: notes, for: writer)
    #expect(poll(broker, "bob", since: replies["bob"]?.position).ids == [note.id])
  }

  private func draft(_ text: String) throws -> EntityDraft {
    try Service.draft(Payload(text))
  }

  private func poll(_ broker: LiveBroker, _ user: String, since: LivePosition?) -> KeptReply {
    let reply = KeptReply()
    broker.poll(
      .init(
        user: user, group: broker.wire.group(of: user), token: "t", expires: nil, since: since),
      reply: reply)
    return reply
  }
}
