import KVBase
import KVClient
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

/// Several users of one device: whose data, queue and session is what.
@Suite("Users of one device") struct IdentityTests {
  let world: World

  init() throws { world = try World() }

  // MARK: One after the other

  @Test("nobody signs up over another user's unsent work, which goes out in its own name later")
  func signUpOverPending() throws {
    let client = try world.client()
    defer { client.close() }
    let ana = try client.signUp("ana")
    let notes = try client.store("notes", type: "sync", nil)
    _ = try notes.save(["_id": "1", "_acl": ["gr": false]])

    let refused = failure { _ = try client.signUp("bob") }
    #expect(refused?.kind == .pending)
    #expect(refused?.message.contains("push") == true)
    #expect(
      try !client.userExists("bob", options: Options(), cancellation: Cancellation()),
      "nobody was made")
    #expect(try client.activeId() == ana)

    #expect(try notes.push(DataStore.Run()).pushed == 1)
    _ = try client.signUp("bob")
    #expect(try notes.all().isEmpty)
    _ = try notes.pull(Query(), DataStore.Run())
    #expect(try notes.all().isEmpty, "it is ana's alone")
    #expect(try world.creator(of: "1") == ana)
  }

  @Test("nobody logs in over another user's unsent work, unless it is given up")
  func logInOverPending()
    throws
  {
    let client = try world.client()
    defer { client.close() }
    try client.makeUsers("ana", "bob")
    let ana = try client.logIn("ana")
    let notes = try client.store("notes", type: "sync", nil)
    _ = try notes.save(["_id": "1"])
    _ = try notes.push(DataStore.Run())
    _ = try notes.save(["_id": "2"])
    #expect(failure { _ = try client.logIn("bob") }?.kind == .pending)
    #expect(try client.activeId() == ana)
    #expect(try notes.all().count == 2)
    _ = try notes.purge(nil)
    let bob = try client.logIn("bob")
    #expect(try client.activeId() == bob)
    #expect(try notes.all().isEmpty)
  }

  @Test("the same user finds everything again") func sameUser() throws {
    let client = try world.client()
    defer { client.close() }
    let ana = try client.signUp("ana")
    let notes = try client.store("notes", type: "sync", nil)
    _ = try notes.save(["_id": "1"])
    #expect(try client.logIn("ana") == ana)
    #expect(try notes.all().count == 1)
    var leaving = Client.Leaving()
    leaving.keepData = true
    try client.logout(leaving, Cancellation())
    #expect(try notes.all().count == 1)
    #expect(failure { _ = try client.signUp("bob") }?.kind == .pending)
    #expect(try client.logIn("ana") == ana)
    #expect(try notes.push(DataStore.Run()).pushed == 1)
    #expect(try world.creator(of: "1") == ana)
  }

  @Test("what is saved before anybody logs in is the first user's") func beforeAnybody() throws {
    let client = try world.client()
    defer { client.close() }
    let notes = try client.store("notes", type: "sync", nil)
    _ = try notes.save(["_id": "1"])
    let ana = try client.signUp("ana")
    #expect(try notes.all().count == 1)
    #expect(failure { _ = try client.signUp("bob") }?.kind == .pending)
    #expect(try notes.push(DataStore.Run()).pushed == 1)
    #expect(try world.creator(of: "1") == ana)
  }

  @Test("unsent work is looked for in stores that nobody has opened since") func afterRestart()
    throws
  {
    for tag in [nil, "other"] as [String?] {
      let name = "client \(tag ?? "")"
      let first = try world.client(name)
      _ = try first.signUp("ana \(tag ?? "")")
      let options: JSONObject = tag.map { ["tag": .string($0)] } ?? [:]
      _ = try first.store("notes", type: "sync", options).save(["n": 1])
      first.close()
      let again = try world.client(name)
      defer { again.close() }
      #expect(failure { _ = try again.signUp("bob \(tag ?? "")") }?.kind == .pending)
    }
  }

  @Test("a session that ended without a logout leaves nothing to the next user") func sessionLost()
    throws
  {
    let client = try world.client()
    defer { client.close() }
    _ = try client.signUp("ana")
    let notes = try client.store("notes", type: "sync", nil)
    _ = try notes.save(["_id": "1", "_acl": ["gr": false]])
    _ = try notes.push(DataStore.Run())
    var leaving = Client.Leaving()
    leaving.keepData = true
    try client.logout(leaving, Cancellation())
    #expect(try notes.all().count == 1, "nobody else is logged in")
    _ = try client.signUp("bob")
    #expect(try notes.all().isEmpty)
  }

  @Test("a master's client does not send a user's writes") func master() throws {
    let client = try world.client()
    _ = try client.signUp("ana")
    _ = try client.store("notes", type: "sync", nil).save(["_id": "1"])
    var leaving = Client.Leaving()
    leaving.keepData = true
    try client.logout(leaving, Cancellation())
    client.close()
    let master = try world.client("client", ["masterSecret": "master"])
    defer { master.close() }
    let notes = try master.store("notes", type: "sync", nil)
    #expect(failure { _ = try notes.push(DataStore.Run()) }?.kind == .noUser)
    #expect(try notes.engine.pendingCount() == 1)
  }

  @Test("a device that is shared keeps one set of data, and still sends nothing in another's name")
  func sharedDevice() throws {
    let client = try world.client("client", ["sharedDevice": true])
    defer { client.close() }
    try client.makeUsers("ana", "bob")
    _ = try client.logIn("ana")
    let notes = try client.store("notes", type: "sync", nil)
    _ = try notes.save(["_id": "1"])
    #expect(failure { _ = try client.logIn("bob") }?.kind == .pending)
    _ = try notes.push(DataStore.Run())
    _ = try client.logIn("bob")
    #expect(try notes.all().count == 1)
    try client.logout(Client.Leaving([:], isDeletion: false), Cancellation())
    _ = try client.logIn("ana")
    #expect(try notes.all().count == 1)
    try client.logout(Client.Leaving(["keepData": false], isDeletion: false), Cancellation())
    #expect(try notes.all().isEmpty)
  }

  // MARK: Side by side

  @Test("clients of two tags have sessions of their own") func tags() throws {
    let (a, b) = (try world.client("app", ["tag": "a"]), try world.client("app", ["tag": "b"]))
    defer { b.close() }
    let ana = try a.signUp("ana")
    #expect(failure { _ = try b.activeUser() }?.kind == .noUser)
    let bob = try b.signUp("bob")
    #expect(try a.activeId() == ana)
    #expect(try b.activeId() == bob)
    let (notesA, notesB) = try (
      a.store("notes", type: "sync", nil), b.store("notes", type: "sync", nil)
    )
    for notes in [notesA, notesB] { _ = try notes.save(["n": 1]) }
    #expect(try notesB.push(DataStore.Run()).pushed == 1)
    try b.logout(Client.Leaving(), Cancellation())
    #expect(try notesB.all().isEmpty)
    a.close()

    let again = try world.client("app", ["tag": "a"])
    defer { again.close() }
    #expect(try again.activeId() == ana)
    #expect(try again.store("notes", type: "sync", nil).push(DataStore.Run()).pushed == 1)
  }

  @Test("a store of another client's tag is that client's user's") func foreignTag() throws {
    let (a, b) = (try world.client("app", ["tag": "a"]), try world.client("app", ["tag": "b"]))
    defer {
      a.close()
      b.close()
    }
    _ = try a.signUp("ana")
    _ = try b.signUp("bob")
    #expect(failure { _ = try a.store("notes", type: "sync", ["tag": "b"]) }?.kind == .conflict)
    let notes = try b.store("notes", type: "sync", nil)
    _ = try notes.save(["_id": "1"])
    _ = try notes.push(DataStore.Run())
    let refused = failure { _ = try a.store("notes", type: "sync", ["tag": "b"]) }
    #expect(refused?.kind == .conflict)
    #expect(try notes.all().count == 1)
  }

  @Test("a client notices that another one has become somebody else") func otherUser() throws {
    let (first, second) = (try world.client("app"), try world.client("app"))
    defer {
      first.close()
      second.close()
    }
    let ana = try first.signUp("ana")
    #expect(try second.activeId() == ana)
    let notes = try first.store("notes", type: "sync", nil)
    _ = try notes.save(["_id": "1"])
    _ = try notes.push(DataStore.Run())
    let cursor = try notes.find(Query(), DataStore.Run()).value
    defer { cursor.close() }

    let bob = try second.signUp("bob")
    _ = try second.store("notes", type: "sync", nil).save(["_id": "2"])
    let network = try? first.store("notes", type: "network", nil)
    for attempt in [
      { _ = try first.activeUser() },
      { _ = try first.me(options: Options(), cancellation: Cancellation()) },
      { _ = try notes.all() }, { _ = try notes.find(id: "2", DataStore.Run()) },
      { _ = try notes.save(["_id": "3"]) }, { _ = try notes.push(DataStore.Run()) },
      { _ = try network?.save(["_id": "4"]) },
      { _ = try first.store("others", type: "sync", nil).all() },
      { _ = try notes.pull(Query(), DataStore.Run()) },
    ] as [() throws -> Void] {
      let refused = failure(attempt)
      #expect(refused?.kind == .noUser)
      #expect(refused?.message.contains("another user") == true)
    }
    #expect(try second.store("notes", type: "sync", nil).all().count == 1)
    #expect(try second.activeId() == bob)

    #expect(failure { _ = try first.logIn("ana") }?.kind == .pending)
    #expect(try second.store("notes", type: "sync", nil).push(DataStore.Run()).pushed == 1)
    #expect(try first.logIn("ana") == ana)
    #expect(try notes.all().isEmpty)
    #expect(failure { _ = try second.activeUser() }?.kind == .noUser)
  }

  @Test("a client that nobody has used becomes the user's of another one") func joined() throws {
    let (first, second) = (try world.client("app"), try world.client("app"))
    defer {
      first.close()
      second.close()
    }
    let notes = try first.store("notes", type: "sync", nil)
    _ = try notes.save(["_id": "1"])
    let ana = try second.signUp("ana")
    #expect(try first.activeId() == ana)
    #expect(try notes.push(DataStore.Run()).pushed == 1)
    try second.logout(Client.Leaving(), Cancellation())
    #expect(failure { _ = try first.activeUser() }?.kind == .noUser)
    #expect(failure { _ = try notes.all() }?.kind == .noUser)
    #expect(failure { _ = try notes.save(["_id": "2"]) }?.kind == .noUser)
    #expect(try second.store("notes", type: "sync", nil).all().isEmpty)
  }
}

extension Client {
  @discardableResult
  fileprivate func signUp(_ name: String) throws -> String {
    try id(
      signup(
        ["username": .string(name), "password": "pw"], options: Options(),
        cancellation: Cancellation()))
  }

  @discardableResult
  fileprivate func logIn(_ name: String) throws -> String {
    try id(
      login(
        ["username": .string(name), "password": "pw"], options: Options(),
        cancellation: Cancellation()))
  }

  fileprivate func activeId() throws -> String { try id(activeUser()) }

  /// Creates users, none of whom has data on this device.
  fileprivate func makeUsers(_ names: String...) throws {
    for name in names {
      try signUp(name)
      try logout(Leaving(), Cancellation())
    }
  }

  private func id(_ user: [UInt8]) throws -> String {
    try JSONValue(parsing: user)["_id"]?.stringValue ?? ""
  }
}

extension World {
  /// Who made a note, as the backend has it.
  fileprivate func creator(of id: String) throws -> String? {
    let master = try client("master", ["masterSecret": "master"])
    defer { master.close() }
    let found = try master.store("notes", type: "network", nil).all()
    return found.first { $0["_id"]?.stringValue == id }?["_acl"]?["creator"]?.stringValue
  }
}
