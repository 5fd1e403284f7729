import Glibc
import KVBase
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

@testable import KVClient

@Suite("A client") struct ClientTests {
  // MARK: Options

  @Test(
    "names the option that is wrong",
    arguments: [
      (#"{"appKey":7}"#, "appKey"), (#"{}"#, "appKey"), (#"{"appKey":"k"}"#, "host"),
      (#"{"appKey":"k","appSecret":"s"}"#, "host"),
      (#"{"appKey":"k","host":"http://h"}"#, "appSecret"),
      (#"{"appKey":"k","instanceId":"i"}"#, "appSecret"),
      (#"{"appKey":"k","host":"http://h","appSecret":"s","colour":1}"#, "colour"),
      (#"{"appKey":"k","host":"http://h","appSecret":"s","timeout":0}"#, "timeout"),
      (#"{"appKey":"k","host":"http://h","appSecret":"s","timeout":"1"}"#, "timeout"),
      (#"{"appKey":"k","host":"http://h","appSecret":"s","durability":"none"}"#, "durability"),
      (#"{"appKey":"k","host":"http://h","appSecret":"s","tag":"a/b"}"#, "tag"),
      (#"{"appKey":"k","host":"http://h","appSecret":"s","tag":""}"#, "tag"),
      (#"{"appKey":"k","host":"http://h","appSecret":"s","apiVersion":4}"#, "apiVersion"),
      (#"{"appKey":"k","host":"http://h","appSecret":"s","connections":0}"#, "connections"),
      (#"{"appKey":"k","store":"local","backend":"b"}"#, "store"),
      (#"{"appKey":"k","store":"local","host":"http://h"}"#, "host"),
      (#"{"appKey":"k","store":"no such store"}"#, "no such store"),
      (#"{"appKey":"k","store":"local","storeOptions":7}"#, "storeOptions"),
      (
        #"{"appKey":"k","host":"http://h","appSecret":"s","customRequestProperties":[]}"#,
        "customRequestProperties"
      ),
      (#"{"appKey":"k","host":"http://h","appSecret":"s","readPolicy":"local"}"#, "readPolicy"),
    ])
  func wrongOptions(_ text: String, _ name: String) throws {
    let directory = TemporaryDirectory()
    var options = try #require(try JSONValue(parsing: text).objectValue)
    options["dataDirectory"] = .string(directory.path)
    let error = failure { try Client(options).close() }
    #expect(error?.kind == .invalid)
    #expect(error?.message.contains(name) == true)
  }

  @Test(
    "accepts names of collections that can be part of an address only",
    arguments: ["", "_users", "a/b", ".", "..", "a\nb", "a\u{0}b"])
  func collectionNames(_ name: String) throws {
    let (client, directory) = try localClient()
    defer { client.close() }
    #expect(failure { _ = try client.store(name, type: "sync", nil) }?.kind == .invalid)
    withExtendedLifetime(directory) {}
  }

  @Test("gives network stores no tag, and stores of one tag the same data") func tags() throws {
    let (client, directory) = try localClient()
    defer { client.close() }
    #expect(failure { _ = try client.store("n", type: "network", ["tag": "t"]) }?.kind == .invalid)
    #expect(failure { _ = try client.store("n", type: "other", nil) }?.kind == .invalid)
    _ = try client.store("n", type: "sync", ["tag": "t"]).save(["n": 1])
    #expect(try client.store("n", type: "auto", ["tag": "t"]).all().count == 1)
    #expect(try client.store("n", type: "auto", nil).all().isEmpty)
    withExtendedLifetime(directory) {}
  }

  /// `é` as one character, and as `e` with a mark: equal to Swift's strings.
  @Test("keeps collections apart whose names only look the same") func lookalikes() throws {
    let (client, directory) = try localClient()
    let names = ["caf\u{E9}", "cafe\u{301}"]
    func ids(_ client: Client, _ name: String) throws -> [String?] {
      try client.store(name, type: "sync", nil).all().map { $0["_id"]?.stringValue }
    }
    for name in names {
      _ = try client.store(name, type: "sync", nil).save(["_id": .string("of \(name)")])
    }
    for name in names { #expect(try ids(client, name).count == 1) }
    client.close()
    let again = try Client([
      "appKey": "k", "host": .null, "dataDirectory": .string(directory.path),
    ])
    defer { again.close() }
    for name in names.reversed() {
      #expect(try ids(again, name).map { $0.map { Array($0.utf8) } } == [Array("of \(name)".utf8)])
    }
  }

  @Test("works without a backend, as a database") func localOnly() throws {
    let (client, directory) = try localClient()
    defer { client.close() }
    let store = try client.store("notes", type: "auto", nil)
    let saved = try store.save(["n": 1])
    #expect(try store.find(id: saved["_id"]?.stringValue ?? "", DataStore.Run()).isLocal)
    #expect(failure { _ = try store.push(DataStore.Run()) }?.kind == .unsupported)
    #expect(
      failure { _ = try client.ping(options: Options(), cancellation: Cancellation()) }?.kind
        == .unsupported)
    withExtendedLifetime(directory) {}
  }

  private func localClient() throws -> (Client, TemporaryDirectory) {
    let directory = TemporaryDirectory()
    let options: JSONObject = [
      "appKey": "k", "host": .null, "dataDirectory": .string(directory.path),
    ]
    return (try Client(options), directory)
  }

  // MARK: Users

  @Test("replaces members of a user and keeps those that others have set") func updateUser() throws
  {
    let world = try World()
    let here = try world.member("ana")
    let there = try world.client("there")
    defer {
      here.close()
      there.close()
    }
    let credentials: JSONObject = ["username": "ana", "password": "pw"]
    _ = try there.login(credentials, options: Options(), cancellation: Cancellation())
    _ = try there.updateUser(["colour": "blue"], options: Options(), cancellation: Cancellation())
    let user = try here.updateUser(
      ["city": "Porto"], options: Options(), cancellation: Cancellation())
    let members = try JSONValue(parsing: user)
    #expect(members["colour"] == "blue")
    #expect(members["city"] == "Porto")
    #expect(try here.activeUser() == user)
    // The session is still good for writing.
    _ = try here.store("notes", type: "network", nil).save(["n": 1])
  }

  @Test("an ended session is an error, and nothing that waits is lost") func endedSession() throws {
    let world = try World()
    let client = try world.member("ana")
    let other = try world.client("other")
    defer {
      client.close()
      other.close()
    }
    let store = try client.store("notes", type: "sync", nil)
    _ = try store.save(["n": 1])
    let credentials: JSONObject = ["username": "ana", "password": "pw"]
    _ = try other.login(credentials, options: Options(), cancellation: Cancellation())
    _ = try other.updateUser(["password": "new"], options: Options(), cancellation: Cancellation())
    #expect(failure { _ = try store.push(DataStore.Run()) }?.kind == .unauthorized)
    #expect(try store.pendingCount() == 1)
    _ = try client.login(
      ["username": "ana", "password": "new"], options: Options(), cancellation: Cancellation())
    #expect(try store.push(DataStore.Run()) == PushResult(pushed: 1))
  }

  @Test("ends its session also while the backend is away, and wipes every tag") func logoutOffline()
    throws
  {
    let world = try World()
    let client = try world.member("ana")
    defer { client.close() }
    for tag in ["one", "two"] {
      let store = try client.store("notes", type: "auto", ["tag": .string(tag)])
      _ = try store.save(["n": 1])
    }
    world.stop()
    try client.logout(Client.Leaving(), Cancellation())
    #expect(failure { _ = try client.activeUser() }?.kind == .noUser)
    for tag in ["one", "two"] {
      #expect(try client.store("notes", type: "sync", ["tag": .string(tag)]).all().isEmpty)
    }
  }

  @Test(
    "ends its session on the backend as soon as that answers again", arguments: [true, false])
  func logoutLater(isRestarted: Bool) throws {
    let world = try World()
    var client = try world.member("ana")
    defer { client.close() }
    func sessions() throws -> Int {
      try world.administer("GET", "/user/kid_test/_sessions").arrayValue?.count ?? -1
    }
    world.stop()
    try client.logout(Client.Leaving(), Cancellation())
    try world.start()
    #expect(try sessions() == 1)
    if isRestarted {
      client.close()
      client = try world.client("ana")
    }
    _ = try client.ping(options: Options(), cancellation: Cancellation())
    // A thread of the client's own tells the backend.
    let deadline = Deadline.after(seconds: 60)
    while try sessions() > 0, !deadline.hasPassed {}
    #expect(try sessions() == 0)
    while try client.session?.endings().isEmpty == false, !deadline.hasPassed {}
    #expect(try client.session?.endings().isEmpty == true)
  }

  @Test("ends open lists of results with the session", arguments: ["sync", "network"])
  func logoutEndsResults(type: String) throws {
    let world = try World()
    let client = try world.member("ana")
    defer { client.close() }
    let store = try client.store("notes", type: type, nil)
    for number in 0..<3 { _ = try store.save(["n": .int(Int64(number))]) }
    let results = try store.fetch(ResultsRequest(), Query(), run: .init()).value
    #expect(try results.batch(at: 1).state(at: 1) == .unchanged)
    var leaving = Client.Leaving()
    leaving.discardPending = true
    try client.logout(leaving, Cancellation())
    #expect(results.count == 3)
    #expect(results.statistics.cachedRecords == 0)
    #expect(failure { _ = try results.batch(at: 1) }?.kind == .noUser)
  }

  @Test("deletes its user, and keeps the data if told to") func deleteUser() throws {
    let world = try World()
    let client = try world.member("ana")
    defer { client.close() }
    let store = try client.store("notes", type: "sync", nil)
    _ = try store.save(["n": 1])
    #expect(failure { try client.deleteUser(Client.Leaving(), Cancellation()) }?.kind == .pending)
    _ = try client.me(options: Options(), cancellation: Cancellation())
    var leaving = Client.Leaving()
    leaving.keepData = true
    leaving.hard = true
    try client.deleteUser(leaving, Cancellation())
    #expect(try store.pendingCount() == 1)
    #expect(failure { _ = try client.activeUser() }?.kind == .noUser)
    #expect(try client.userExists("ana", options: Options(), cancellation: Cancellation()) == false)
  }

  @Test("without a user nothing is written to the backend, with the master secret it is")
  func noUser() throws {
    let world = try World()
    let nobody = try world.client("nobody")
    let master = try world.client("master", ["masterSecret": "master"])
    defer {
      nobody.close()
      master.close()
    }
    let store = try nobody.store("notes", type: "network", nil)
    #expect(failure { _ = try store.save(["n": 1]) }?.kind == .noUser)
    let auto = try nobody.store("notes", type: "auto", nil)
    #expect(failure { _ = try auto.save(["n": 1]) }?.kind == .noUser)
    #expect(try auto.pendingCount() == 0)
    _ = try master.store("notes", type: "network", nil).save(["n": 1])
  }

  @Test("writes neither tokens nor the words of the backend into its log") func log() throws {
    let world = try World()
    let client = try world.client("ana")
    defer { client.close() }
    let lines = Monitor<[String]>([])
    client.log.set(level: 4) { _, line in lines.withLock { $0.append(line) } }
    let user: JSONObject = ["username": "ana", "password": "pass-word"]
    _ = try client.signup(user, options: Options(), cancellation: Cancellation())
    let store = try client.store("places", type: "network", nil)
    _ = failure { _ = try store.save(["name": "secret-place", "_geoloc": [-300, -300]]) }
    _ = failure { _ = try client.signup(user, options: Options(), cancellation: Cancellation()) }
    let text = lines.withLock { $0.joined(separator: "\n") }
    #expect(text.contains("save places: KV_INVALID: status 400 ParameterValueOutOfRange"))
    // Each request has a line.
    #expect(text.contains("/places 400, "))
    #expect(text.contains(" ms, "))
    for secret in ["pass-word", "secret-place", "Kinvey ", "Basic "] {
      #expect(!text.contains(secret))
    }
  }

  @Test("does not open where its data directory cannot be used, with a backend or without")
  func unusableDirectory() throws {
    let directory = TemporaryDirectory()
    let file = directory.file("a-file")
    try #require(fopen(file, "w").map { fclose($0) } == 0)
    for options: JSONObject in [
      ["appKey": "k", "host": .null, "dataDirectory": .string("\(file)/data")],
      [
        "appKey": "k", "host": "http://127.0.0.1:1", "appSecret": "s",
        "dataDirectory": .string("\(file)/data"),
      ],
    ] {
      let error = failure { _ = try Client(options) }
      #expect(error?.kind == .storage)
    }
  }

  @Test("makes no session where nobody can log in, so that data on a read-only medium opens")
  func noSession() throws {
    let directory = TemporaryDirectory()
    let client = try Client([
      "appKey": "k", "host": .null, "dataDirectory": .string(directory.path),
    ])
    client.close()
    #expect(access(directory.file("k"), R_OK) == 0)
    #expect(access(directory.file("k/_session.kvs"), F_OK) != 0)
  }

  @Test("refuses an ACL of a stream with members that it does not have, or other than ids")
  func streamACL() throws {
    let directory = TemporaryDirectory()
    let client = try Client([
      "appKey": "k", "host": .null, "dataDirectory": .string(directory.path),
    ])
    defer { client.close() }
    func set(_ acl: JSONObject) -> StoreError? {
      failure {
        try client.setStreamACL(
          "chat", owner: nil, acl: acl, options: Options(), cancellation: Cancellation())
      }
    }
    for acl: JSONObject in [
      ["subscribers": []], ["subscribe": "ana"], ["publish": [1]], ["groups": []],
      ["groups": ["groups": [:]]],
    ] {
      #expect(set(acl)?.kind == .invalid)
    }
    // Without a backend there are no streams.
    #expect(set(["subscribe": ["a"], "groups": ["publish": []]])?.kind == .unsupported)
  }

  // MARK: The end

  @Test("closing ends what is under way, and waits for it") func closing() throws {
    let silent = try ScriptedServer { _, connection in connection.waitForEnd() }
    let directory = TemporaryDirectory()
    let client = try Client([
      "appKey": "k", "appSecret": "s", "host": .string("http://127.0.0.1:\(silent.port)"),
      "dataDirectory": .string(directory.path),
    ])
    let store = try client.store("notes", type: "auto", nil)
    let started = Gate()
    let ended = Gate()
    let error = Monitor<StoreError?>(nil)
    try client.runners.network.run {
      started.open()
      let failed = failure { _ = try store.pull(Query(), DataStore.Run()) }
      error.withLock { $0 = failed }
      ended.open()
    }
    started.wait()
    client.close()
    ended.wait()
    #expect([.cancelled, .misuse].contains(error.withLock { $0?.kind }))
    #expect(failure { _ = try store.pull(Query(), DataStore.Run()) }?.kind == .misuse)
    #expect(failure { _ = try store.pendingCount() }?.kind == .misuse)
    silent.stop()
  }

  @Test("a logout stops a pull, whose rest does not end up in what was wiped") func logoutStops()
    throws
  {
    // The answer of a find never ends; half a megabyte of it is there.
    let entity = #"{"_id":"%","text":"\#(String(repeating: "x", count: 10_000))"}"#
    let parts = (0..<60).map { number -> String in
      let halves = entity.split(separator: "%")
      return "\(halves[0])\(number)\(halves[1])"
    }
    let half = "[" + parts.joined(separator: ",")
    let server = try ScriptedServer { request, connection in
      if request.target.hasPrefix("/user") {
        let user = #"{"_id":"u1","username":"ana","_kmd":{"authtoken":"t"}}"#
        connection.send(ScriptedReply(201, user))
      } else {
        connection.send("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n" + half)
        connection.waitForEnd()
      }
    }
    defer { server.stop() }
    let directory = TemporaryDirectory()
    let client = try Client([
      "appKey": "k", "appSecret": "s", "host": .string("http://127.0.0.1:\(server.port)"),
      "dataDirectory": .string(directory.path),
    ])
    defer { client.close() }
    _ = try client.signup([:], options: Options(), cancellation: Cancellation())
    let store = try client.store("notes", type: "sync", nil)
    let ended = Gate()
    let error = Monitor<StoreError?>(nil)
    try client.runners.network.run {
      let failed = failure { _ = try store.pull(Query(), DataStore.Run()) }
      error.withLock { $0 = failed }
      ended.open()
    }
    #expect(server.waitForRequests(2))
    try client.logout(Client.Leaving(), Cancellation())
    #expect(try store.all().isEmpty)
    ended.wait()
    #expect(error.withLock { $0?.kind } == .cancelled)
    #expect(try store.all().isEmpty)
  }
}
