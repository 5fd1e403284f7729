import KVBase
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import KVTransport
import Testing

@testable import KVClient

@Suite("A backend that went back to an older copy of its data") struct BackendResetTests {
  let world: World
  let path = "/appdata/kid_test/notes"

  init() throws { world = try World(historyDays: 5) }

  /// A device whose user has put entities on the server, all of which it has.
  private func device(
    _ name: String, _ options: JSONObject = [:], of username: String = "ana"
  ) throws -> (Client, DataStore) {
    var all: JSONObject = ["deltaSet": true]
    for member in options.members { all[member.name] = member.value }
    let client = try world.client(name, all)
    let user: JSONObject = ["username": .string(username), "password": "pw"]
    do throws(StoreError) {
      _ = try client.signup(user, options: Options(), cancellation: Cancellation())
    } catch {
      _ = try client.login(user, options: Options(), cancellation: Cancellation())
    }
    return (client, try client.store("notes", type: "sync", nil))
  }

  private func put(_ id: String, _ n: Int, in store: DataStore) throws {
    _ = try store.save(["_id": .string(id), "n": .int(Int64(n))])
  }

  /// Saves three entities, copies the server's data, changes one, adds one, deletes one, and puts the copy back.
  private func loseChanges(_ store: DataStore) throws {
    for id in ["changed", "deleted", "same"] { try put(id, 1, in: store) }
    _ = try store.push(DataStore.Run())
    try world.copy()
    try put("changed", 2, in: store)
    try put("new", 2, in: store)
    _ = try store.remove(id: "deleted", DataStore.Run())
    let pushed = try store.push(DataStore.Run())
    #expect(pushed.pushed == 3)
    _ = try store.pull(Query(), DataStore.Run())
    try world.putBack()
  }

  /// Pushes entities, copies the server's data, pushes them changed, and puts the copy back.
  private func loseVersions(of ids: [String], _ store: DataStore) throws {
    for id in ids { try put(id, 1, in: store) }
    _ = try store.push(DataStore.Run())
    try world.copy()
    for id in ids { try put(id, 2, in: store) }
    _ = try store.push(DataStore.Run())
    try world.putBack()
  }

  private func here(_ store: DataStore) throws -> [String: Int64] {
    var found: [String: Int64] = [:]
    for entity in try store.all() {
      found[entity["_id"]?.stringValue ?? ""] = entity["n"]?.intValue
    }
    return found
  }

  private func states(_ store: DataStore) throws -> [String: String] {
    var found: [String: String] = [:]
    let text = try store.pending(after: nil, limit: 0)
    for write in try JSONValue(parsing: text).arrayValue ?? [] {
      found[write["id"]?.stringValue ?? ""] =
        "\(write["operation"]?.stringValue ?? "") \(write["state"]?.stringValue ?? "")"
    }
    return found
  }

  /// What the server has.
  private func there() throws -> [String: Int64] {
    var found: [String: Int64] = [:]
    for entity in try world.administer("GET", path).arrayValue ?? [] {
      found[entity["_id"]?.stringValue ?? ""] = entity["n"]?.intValue
    }
    return found
  }

  @Test("leaves what it had confirmed here, and it is listed") func keeps() throws {
    let (client, store) = try device("a")
    defer { client.close() }
    let heard = Monitor<[JSONObject]>([])
    let listener = client.events.listen { event in
      guard case .backendWentBack = event else { return }
      heard.withLock { $0.append(event.json) }
    }
    defer { listener.end() }
    try loseChanges(store)
    let pulled = try store.pull(Query(), DataStore.Run())
    #expect(pulled.removed == 0)
    #expect(try here(store) == ["changed": 2, "new": 2, "same": 1])
    let kept = [
      "changed": "update backendWentBack", "new": "create backendWentBack",
      "deleted": "delete backendWentBack",
    ]
    #expect(try states(store) == kept)
    let events = heard.withLock { $0 }
    let entities = events.flatMap { $0["entities"]?.arrayValue ?? [] }
    #expect(Set(entities.compactMap { $0["id"]?.stringValue }) == Set(kept.keys))
    #expect(entities.allSatisfy { $0["version"]?.stringValue != nil })
    // Neither a push nor another read changes that.
    #expect(try store.push(DataStore.Run()).pushed == 0)
    _ = try store.pull(Query(), DataStore.Run())
    #expect(try states(store) == kept)
    #expect(try client.status().quarantined == 3)
    #expect(try there() == ["changed": 1, "deleted": 1, "same": 1])
  }

  @Test("gets it again if the program retries, and it is gone if the program reverts")
  func decided()
    throws
  {
    let (client, store) = try device("a")
    defer { client.close() }
    try loseChanges(store)
    _ = try store.pull(Query(), DataStore.Run())
    try store.retryPending("changed", DataStore.Run())
    try store.retryPending("deleted", DataStore.Run())
    try store.revertPending("new")
    #expect(try states(store) == [:])
    #expect(try there() == ["changed": 2, "same": 1])
    _ = try store.pull(Query(), DataStore.Run())
    #expect(try here(store) == ["changed": 2, "same": 1])
  }

  @Test("gets all of it again with resend") func resends() throws {
    let (client, store) = try device("a", ["onBackendReset": "resend"])
    defer { client.close() }
    try loseChanges(store)
    _ = try store.pull(Query(), DataStore.Run())
    let pushed = try store.push(DataStore.Run())
    #expect(pushed.pushed == 3 && pushed.errors.isEmpty)
    #expect(try states(store) == [:])
    #expect(try there() == ["changed": 2, "new": 2, "same": 1])
    _ = try store.pull(Query(), DataStore.Run())
    #expect(try here(store) == ["changed": 2, "new": 2, "same": 1])
  }

  @Test("takes everything back with accept") func accepts() throws {
    let (client, store) = try device("a", ["onBackendReset": "accept"])
    defer { client.close() }
    try loseChanges(store)
    #expect(try store.pull(Query(), DataStore.Run()).removed == 1)
    #expect(try states(store) == [:])
    #expect(try here(store) == ["changed": 1, "deleted": 1, "same": 1])
  }

  @Test("is noticed by a push, too: what a device that has never read had pushed before is kept")
  func noticedByPush() throws {
    let (first, store) = try device("a")
    let (second, other) = try device("b")
    defer {
      first.close()
      second.close()
    }
    for id in ["changed", "same"] { try put(id, 1, in: store) }
    _ = try store.push(DataStore.Run())
    try world.copy()
    for id in ["changed", "new"] { try put(id, 2, in: store) }
    _ = try store.push(DataStore.Run())
    try world.putBack()
    for id in ["since", "gone"] { try put(id, 3, in: store) }
    #expect(try store.push(DataStore.Run()).errors.isEmpty)
    _ = try other.pull(Query(), DataStore.Run())
    // What was confirmed after the restore and deleted by another user has gone.
    _ = try other.remove(id: "gone", DataStore.Run())
    try put("changed", 5, in: other)
    _ = try other.push(DataStore.Run())
    _ = try store.pull(Query(), DataStore.Run())
    #expect(
      try states(store) == ["changed": "update backendWentBack", "new": "create backendWentBack"])
    #expect(try here(store) == ["changed": 2, "new": 2, "same": 1, "since": 3])
  }

  /// Which of two devices is the first to push: the one with the older version, or the one with the newer version; and whether
  /// the other device has pulled by then.
  enum Order: CaseIterable {
    case olderFirst, newerFirst, olderFirstUnread, newerFirstUnread
  }

  @Test(
    "gets nothing twice from several devices that resend, and of different versions the newest",
    arguments: Order.allCases)
  func severalDevices(order: Order) throws {
    let (older, store) = try device("a", ["onBackendReset": "resend"])
    let (newer, other) = try device("b", ["onBackendReset": "resend"])
    defer {
      older.close()
      newer.close()
    }
    for id in ["changed", "deleted", "same"] { try put(id, 1, in: store) }
    _ = try store.push(DataStore.Run())
    try world.copy()
    for id in ["changed", "deleted", "new"] { try put(id, 2, in: store) }
    _ = try store.push(DataStore.Run())
    _ = try store.pull(Query(), DataStore.Run())
    // The other device has a later version than the first one, and has deleted what the first one has.
    _ = try other.pull(Query(), DataStore.Run())
    try put("changed", 3, in: other)
    _ = try other.remove(id: "deleted", DataStore.Run())
    _ = try other.push(DataStore.Run())
    try world.putBack()
    let isOlderFirst = order == .olderFirst || order == .olderFirstUnread
    let (first, second) = isOlderFirst ? (store, other) : (other, store)
    _ = try first.pull(Query(), DataStore.Run())
    // A device that has read has pending writes: a pull would be refused.
    let hasRead = order == .olderFirst || order == .newerFirst
    if hasRead { _ = try second.pull(Query(), DataStore.Run()) }
    _ = try first.push(DataStore.Run())
    if !hasRead { _ = try second.pull(Query(), DataStore.Run()) }
    _ = try second.push(DataStore.Run())
    var expected: [String: Int64] = ["changed": 3, "new": 2, "same": 1]
    if order == .newerFirst {
      // Gone on purpose, or since: that is not known. It is listed.
      #expect(try states(second) == ["deleted": "update conflict"])
    } else if order == .newerFirstUnread {
      // The server has none, and had none that it says was sent again.
      #expect(try states(second) == [:])
      expected["deleted"] = 2
    } else {
      #expect(try states(second) == [:])
    }
    #expect(try there() == expected)
    _ = try first.pull(Query(), DataStore.Run())
    if order == .newerFirstUnread {
      // Its deletion is the newest, and is sent once more.
      expected["deleted"] = nil
      #expect(try states(first) == ["deleted": "delete waiting"])
      _ = try first.push(DataStore.Run())
      _ = try second.pull(Query(), DataStore.Run())
      #expect(try states(second) == [:])
      #expect(try here(second) == expected)
      #expect(try there() == expected)
    }
    #expect(try states(first) == [:])
    #expect(try here(first) == expected)
  }

  @Test("has a later change of another user: it is not replaced, even with resend")
  func laterChangeStays() throws {
    let (first, store) = try device("a", ["onBackendReset": "resend"])
    let (second, other) = try device("b")
    defer {
      first.close()
      second.close()
    }
    try loseVersions(of: ["changed"], store)
    _ = try other.pull(Query(), DataStore.Run())
    try put("changed", 5, in: other)
    _ = try other.push(DataStore.Run())
    _ = try store.pull(Query(), DataStore.Run())
    _ = try store.push(DataStore.Run())
    #expect(try states(store) == ["changed": "update backendWentBack"])
    #expect(try there() == ["changed": 5])
    #expect(try here(store) == ["changed": 2])
  }

  @Test(
    "does not give up a change of what it has lost, whatever the strategy",
    arguments: ["serverWins", "merge", "automerge", "optimistic"], ["keep", "resend"])
  func keepsChanges(strategy: String, policy: String) throws {
    let (client, store) = try device(
      "a", ["onBackendReset": .string(policy), "conflicts": .string(strategy)])
    defer { client.close() }
    try put("changed", 1, in: store)
    _ = try store.push(DataStore.Run())
    try world.copy()
    for id in ["changed", "new", "removed"] { try put(id, 2, in: store) }
    _ = try store.push(DataStore.Run())
    // One is changed before the device knows that the server went back, one afterwards.
    try put("changed", 3, in: store)
    try world.putBack()
    try put("other", 1, in: store)
    let run = DataStore.Run()
    _ = try store.push(run)
    try put("new", 3, in: store)
    _ = try store.remove(id: "removed", run)
    let pushed = try store.push(run)
    #expect(pushed.discarded == 0)
    _ = try? store.pull(Query(), run)
    #expect(try here(store)["changed"] == 3)
    #expect(try here(store)["new"] == 3)
    if policy == "resend" {
      #expect(try states(store) == [:])
      #expect(try there() == ["changed": 3, "new": 3, "other": 1])
    } else {
      #expect(try states(store) == ["changed": "update conflict", "new": "update conflict"])
      #expect(try there() == ["changed": 1, "other": 1])
    }
  }

  @Test(
    "does not give up a change of what it has lost when the refusal of this change is the first to tell",
    arguments: ["serverWins", "merge", "automerge", "optimistic"], ["keep", "resend"])
  func keepsChangesAtFirst(strategy: String, policy: String) throws {
    let (client, store) = try device(
      "a", ["onBackendReset": .string(policy), "conflicts": .string(strategy)])
    defer { client.close() }
    try put("changed", 1, in: store)
    _ = try store.push(DataStore.Run())
    try world.copy()
    for id in ["changed", "new"] { try put(id, 2, in: store) }
    _ = try store.push(DataStore.Run())
    for id in ["changed", "new"] { try put(id, 3, in: store) }
    try world.putBack()
    #expect(try store.push(DataStore.Run()).discarded == 0)
    #expect(try here(store) == ["changed": 3, "new": 3])
    if policy == "resend" {
      #expect(try states(store) == [:])
      #expect(try there() == ["changed": 3, "new": 3])
    } else {
      #expect(try states(store) == ["changed": "update conflict", "new": "update conflict"])
      #expect(try there() == ["changed": 1])
    }
  }

  @Test(
    "gets a change whose version another device has sent again meanwhile, whatever the server made of it",
    arguments: ["serverWins", "merge", "automerge", "optimistic"], ["keep", "resend"])
  func changeOfResent(strategy: String, policy: String) throws {
    let (client, store) = try device(
      "a", ["onBackendReset": .string(policy), "conflicts": .string(strategy)])
    defer { client.close() }
    try put("changed", 1, in: store)
    _ = try store.push(DataStore.Run())
    try world.copy()
    try put("changed", 2, in: store)
    _ = try store.push(DataStore.Run())
    let version = try #require(store.all().first?["_kmd"]?["lmt"])
    try put("changed", 3, in: store)
    try world.putBack()
    let again: JSONObject = [
      "_id": "changed", "n": 2, "stamped": true, "_kmd": ["lmt": version, "resend": version],
    ]
    _ = try world.administer("PUT", path + "/changed", body: .object(again))
    let pushed = try store.push(DataStore.Run())
    #expect(pushed.discarded == 0)
    #expect(pushed.errors.isEmpty)
    #expect(try states(store) == [:])
    #expect(try there() == ["changed": 3])
  }

  @Test("gets what a user made from this user's devices, and the others list it until then")
  func othersEntities() throws {
    let (first, store) = try device("a", ["onBackendReset": "resend"])
    let (second, other) = try device("b", ["onBackendReset": "resend"], of: "bob")
    defer {
      first.close()
      second.close()
    }
    try put("changed", 1, in: store)
    _ = try store.push(DataStore.Run())
    try world.copy()
    for id in ["changed", "new"] { try put(id, 2, in: store) }
    _ = try store.push(DataStore.Run())
    _ = try other.pull(Query(), DataStore.Run())
    try world.putBack()
    _ = try other.pull(Query(), DataStore.Run())
    #expect(
      try states(other) == ["changed": "update waiting", "new": "create backendWentBack"])
    // Another user may not change it.
    #expect(try other.push(DataStore.Run()).errors.count == 1)
    let kept = ["changed": "update backendWentBack", "new": "create backendWentBack"]
    #expect(try states(other) == kept)
    #expect(try there() == ["changed": 1])
    _ = try other.pull(Query(), DataStore.Run())
    #expect(try states(other) == kept)
    _ = try store.pull(Query(), DataStore.Run())
    #expect(try store.push(DataStore.Run()).errors.isEmpty)
    _ = try other.pull(Query(), DataStore.Run())
    #expect(try states(other) == [:])
    #expect(try here(other) == ["changed": 2, "new": 2])
    #expect(try there() == ["changed": 2, "new": 2])
  }

  @Test("does not bring back by a live message what it had confirmed as deleted")
  func deletedIsNotBroughtBack() throws {
    let (first, store) = try device("a", ["onBackendReset": "resend"])
    let (second, other) = try device("b", ["onBackendReset": "resend"])
    defer {
      first.close()
      second.close()
    }
    try put("deleted", 1, in: store)
    _ = try store.push(DataStore.Run())
    try world.copy()
    try put("deleted", 2, in: store)
    _ = try store.push(DataStore.Run())
    _ = try other.pull(Query(), DataStore.Run())
    _ = try store.remove(id: "deleted", DataStore.Run())
    _ = try store.push(DataStore.Run())
    try world.putBack()
    // A device that has not heard of the deletion sends the entity again.
    _ = try other.pull(Query(), DataStore.Run())
    _ = try other.push(DataStore.Run())
    #expect(try there() == ["deleted": 2])
    // The write of another entity tells that the server went back.
    try put("other", 1, in: store)
    _ = try store.push(DataStore.Run())
    let stored = try world.administer("GET", path + "/deleted")
    let change = LiveChange.saved(stored.bytes, id: "deleted", .save)
    try store.engine.apply(change)
    #expect(try states(store) == ["deleted": "delete waiting"])
    _ = try store.push(DataStore.Run())
    #expect(try there() == ["other": 1])
  }

  @Test("is noticed by a find by id") func byID() throws {
    let (client, store) = try device("a")
    defer { client.close() }
    try loseChanges(store)
    var options = Options()
    options.readPolicy = .forceNetwork
    let run = DataStore.Run(options)
    #expect(try JSONValue(parsing: store.find(id: "changed", run).value)["n"] == 2)
    #expect(try JSONValue(parsing: store.find(id: "new", run).value)["n"] == 2)
    #expect(
      try states(store) == ["changed": "update backendWentBack", "new": "create backendWentBack"])
  }

  /// Lets a device push two entities twice, puts back the server with the first versions, and lets another device change one of them
  /// and delete the other one, before the first device reads.
  private func changeLost(_ store: DataStore, _ other: DataStore) throws {
    try loseVersions(of: ["changed", "gone"], store)
    _ = try other.pull(Query(), DataStore.Run())
  }

  @Test("is noticed by a find by id that shows a version made since") func byIDSince() throws {
    let (first, store) = try device("a")
    let (second, other) = try device("b")
    defer {
      first.close()
      second.close()
    }
    try changeLost(store, other)
    try put("changed", 5, in: other)
    _ = try other.remove(id: "gone", DataStore.Run())
    _ = try other.push(DataStore.Run())
    var options = Options()
    options.readPolicy = .forceNetwork
    _ = try store.find(id: "changed", DataStore.Run(options))
    _ = failure { _ = try store.find(id: "gone", DataStore.Run(options)) }
    #expect(
      try states(store) == ["changed": "update backendWentBack", "gone": "create backendWentBack"])
    #expect(try here(store) == ["changed": 2, "gone": 2])
  }

  @Test("is noticed by live messages that come before anything is read") func byMessages() throws {
    let (first, store) = try device("a")
    let (second, other) = try device("b")
    defer {
      first.close()
      second.close()
    }
    try changeLost(store, other)
    let heard = Monitor<[LiveEvent]>([])
    func wait(for count: Int) {
      let arrived: Bool? = heard.wait(until: .after(seconds: 60)) { $0.count >= count ? true : nil }
      #expect(arrived == true)
    }
    try first.registerLive(options: Options(), cancellation: Cancellation())
    let subscription = try store.listen(DataStore.Listening(["liveToLocal": true])) { event in
      heard.withLockNotifyingAll { $0.append(event) }
    }
    defer { subscription.end() }
    wait(for: 2)
    try put("changed", 5, in: other)
    _ = try other.remove(id: "gone", DataStore.Run())
    _ = try other.push(DataStore.Run())
    wait(for: 4)
    #expect(
      try states(store) == ["changed": "update backendWentBack", "gone": "create backendWentBack"])
    #expect(try here(store) == ["changed": 2, "gone": 2])
  }

  @Test("keeps deletions of others that this device knew of", arguments: [false, true])
  func deletionsOfOthers(isDelta: Bool) throws {
    let (first, store) = try device("a")
    let (second, other) = try device("b", ["onBackendReset": "resend"])
    defer {
      first.close()
      second.close()
    }
    for id in ["deleted", "made again", "same"] { try put(id, 1, in: store) }
    _ = try store.push(DataStore.Run())
    _ = try other.pull(Query(), DataStore.Run())
    try world.copy()
    for id in ["deleted", "made again"] { _ = try store.remove(id: id, DataStore.Run()) }
    _ = try store.push(DataStore.Run())
    if isDelta {
      #expect(try other.pull(Query(), DataStore.Run()).removed == 2)
    } else {
      for id in ["deleted", "made again"] {
        let moment = Timestamp.now().description
        try other.engine.apply(.deleted(id: id, at: moment))
      }
    }
    try world.putBack()
    try world.administer("PUT", path + "/made%20again", body: ["n": 5])
    _ = try other.pull(Query(), DataStore.Run())
    #expect(try states(other) == ["deleted": "delete waiting"])
    #expect(try other.push(DataStore.Run()).errors.isEmpty)
    #expect(try there() == ["made again": 5, "same": 1])
    _ = try other.pull(Query(), DataStore.Run())
    #expect(try here(other) == ["made again": 5, "same": 1])
  }

  @Test("keeps deletions that were made past the queue") func directDeletions() throws {
    let (client, store) = try device("a")
    defer { client.close() }
    for id in ["by id", "by query", "same"] { try put(id, 1, in: store) }
    _ = try store.push(DataStore.Run())
    try world.copy()
    var options = Options()
    options.writePolicy = .forceNetwork
    _ = try store.remove(id: "by id", DataStore.Run(options))
    _ = try store.remove(Query(filter: #"{"_id":"by query"}"#), DataStore.Run(options))
    try world.putBack()
    _ = try store.pull(Query(), DataStore.Run())
    #expect(
      try states(store) == [
        "by id": "delete backendWentBack", "by query": "delete backendWentBack",
      ])
    #expect(try here(store) == ["same": 1])
  }

  @Test(
    "loses nothing that is written past the queue, when messages are faster than its answer: what it lost is then done with",
    arguments: ["keep", "resend"], [false, true])
  func overtakenDirectWrite(policy: String, isRemoved: Bool) throws {
    let portal = try Portal(to: world.url)
    defer { portal.stop() }
    let (client, store) = try device(
      "a", ["onBackendReset": .string(policy), "host": .string(portal.url)])
    defer { client.close() }
    try loseVersions(of: ["x"], store)
    portal.whileAnswering(isRemoved ? "DELETE" : "PUT", path + "/x") { answer in
      if let epoch = answer.head["X-Kvstored-Data-Epoch"] {
        let restored = answer.head["X-Kvstored-Data-Restored"]
        store.engine.note(BackendData(epoch: epoch, restored: restored))
      }
      let change: LiveChange =
        isRemoved
        ? .deleted(id: "x", at: Timestamp.now().description)
        : .saved(answer.body, id: "x", .save)
      try? store.engine.apply(change)
    }
    var options = Options()
    options.writePolicy = .forceNetwork
    if isRemoved {
      _ = try store.remove(id: "x", DataStore.Run(options))
    } else {
      _ = try store.save(["_id": "x", "n": 3], DataStore.Run(options))
    }
    #expect(try states(store) == [:])
    #expect(try store.push(DataStore.Run()).errors.isEmpty)
    _ = try store.pull(Query(), DataStore.Run())
    let expected: [String: Int64] = isRemoved ? [:] : ["x": 3]
    #expect(try there() == expected)
    #expect(try here(store) == expected)
  }

  @Test(
    "loses an entity between the read and the write of an update past the queue: it is not changed")
  func goneDuringUpdate() throws {
    let portal = try Portal(to: world.url)
    defer { portal.stop() }
    let (client, store) = try device("a", ["host": .string(portal.url)])
    defer { client.close() }
    for id in ["gone", "other"] { try put(id, 1, in: store) }
    _ = try store.push(DataStore.Run())
    portal.whileAnswering("GET", path) { [world, path] _ in
      _ = try? world.administer("DELETE", path + "/gone")
    }
    var options = Options()
    options.writePolicy = .forceNetwork
    let update = try EntityUpdate(#"{"$inc":{"n":1}}"#)
    let result = try store.update(Query(), update, run: DataStore.Run(options)).value
    #expect(result.modified == ["other"])
    #expect(try there() == ["other": 2])
  }

  @Test("is not done with because others' versions are changed past the queue") func directUpdate()
    throws
  {
    let (client, store) = try device("a")
    defer { client.close() }
    try loseChanges(store)
    _ = try store.pull(Query(), DataStore.Run())
    var options = Options()
    options.writePolicy = .forceNetwork
    let update = try EntityUpdate(#"{"$set":{"m":7}}"#)
    _ = try store.update(
      Query(filter: #"{"_id":"changed"}"#), update, run: DataStore.Run(options))
    #expect(try states(store)["changed"] == "update backendWentBack")
    #expect(try here(store)["changed"] == 2)
    #expect(try there()["changed"] == 1)
  }

  @Test("is still known after a restart, and what is saved meanwhile is sent over it")
  func restart()
    throws
  {
    var (client, store) = try device("a")
    try loseChanges(store)
    _ = try store.pull(Query(), DataStore.Run())
    client.close()
    (client, store) = try device("a")
    defer { client.close() }
    #expect(try client.status().quarantined == 3)
    #expect(try here(store) == ["changed": 2, "new": 2, "same": 1])
    try put("changed", 3, in: store)
    #expect(try states(store)["changed"] == "update waiting")
    #expect(try store.push(DataStore.Run()).errors.isEmpty)
    #expect(try there() == ["changed": 3, "deleted": 1, "same": 1])
  }

  @Test("is noticed by a read of a filter, and what only left the filter is not kept") func filter()
    throws
  {
    let (client, store) = try device("a")
    defer { client.close() }
    try put("older", 1, in: store)
    _ = try store.push(DataStore.Run())
    try world.copy()
    try put("older", 2, in: store)
    try put("new", 2, in: store)
    _ = try store.push(DataStore.Run())
    let two = try Query(filter: #"{"n":2}"#)
    _ = try store.pull(two, DataStore.Run())
    try world.putBack()
    _ = try store.pull(two, DataStore.Run())
    #expect(
      try states(store) == ["older": "update backendWentBack", "new": "create backendWentBack"])
    #expect(try here(store) == ["older": 2, "new": 2])
  }

  @Test("had deleted something before the copy was made: that is not kept") func deletedBefore()
    throws
  {
    let (first, store) = try device("a")
    let (second, other) = try device("b")
    defer {
      first.close()
      second.close()
    }
    try put("deleted", 1, in: store)
    _ = try store.push(DataStore.Run())
    _ = try other.pull(Query(), DataStore.Run())
    _ = try store.remove(id: "deleted", DataStore.Run())
    _ = try store.push(DataStore.Run())
    try world.copy()
    try put("new", 2, in: store)
    _ = try store.push(DataStore.Run())
    try world.putBack()
    #expect(try other.pull(Query(), DataStore.Run()).removed == 1)
    #expect(try states(other) == [:])
    #expect(try here(other) == [:])
  }

  @Test(
    "has the content again of a later version, sent as an earlier one: who may not send it lists it once"
  )
  func refusedSameContent() throws {
    let (first, store) = try device("a", ["onBackendReset": "resend"])
    let (second, earlier) = try device("b", ["onBackendReset": "resend"])
    let (third, other) = try device(
      "c", ["onBackendReset": "resend", "deltaSet": false], of: "bob")
    defer { for client in [first, second, third] { client.close() } }
    try put("x", 1, in: store)
    _ = try store.push(DataStore.Run())
    try world.copy()
    try put("x", 2, in: store)
    _ = try store.push(DataStore.Run())
    _ = try earlier.pull(Query(), DataStore.Run())
    for n in [3, 2] {
      try put("x", n, in: store)
      _ = try store.push(DataStore.Run())
    }
    _ = try other.pull(Query(), DataStore.Run())
    try world.putBack()
    for _ in 0..<2 { _ = try earlier.sync(Query(), DataStore.Run()) }
    #expect(try there() == ["x": 2])
    _ = try other.sync(Query(), DataStore.Run())
    #expect(try other.sync(Query(), DataStore.Run()).push.errors.count == 1)
    #expect(try states(other) == ["x": "update backendWentBack"])
    #expect(try other.sync(Query(), DataStore.Run()).push.errors.isEmpty)
    // Whose it is sends the later version.
    for _ in 0..<2 { _ = try store.sync(Query(), DataStore.Run()) }
    _ = try other.sync(Query(), DataStore.Run())
    #expect(try states(other) == [:])
    #expect(try here(other) == ["x": 2])
  }

  /// What a device does between two restores: nothing, a write, which tells it of the first one, or a read.
  enum Between: CaseIterable {
    case nothing, write, read
  }

  @Test(
    "goes back once more, to a copy that was made in between: what it lost the first time is kept",
    arguments: Between.allCases)
  func twice(between: Between) throws {
    let (first, store) = try device("a")
    let (second, other) = try device("b")
    defer {
      first.close()
      second.close()
    }
    for id in ["changed", "deleted", "same"] { try put(id, 1, in: store) }
    _ = try store.push(DataStore.Run())
    try world.copy()
    for id in ["changed", "new"] { try put(id, 2, in: store) }
    _ = try store.remove(id: "deleted", DataStore.Run())
    _ = try store.push(DataStore.Run())
    try world.putBack()
    _ = try other.pull(Query(), DataStore.Run())
    for id in ["of the other", "lost by the other"] { try put(id, 3, in: other) }
    _ = try other.remove(id: "same", DataStore.Run())
    _ = try other.push(DataStore.Run())
    switch between {
    case .nothing: break
    case .write:
      try put("since", 3, in: store)
      _ = try store.push(DataStore.Run())
    case .read: _ = try store.pull(Query(), DataStore.Run())
    }
    try world.copy()
    try put("lost by the other", 4, in: other)
    _ = try other.push(DataStore.Run())
    try world.putBack()
    for one in [store, other] { _ = try one.pull(Query(), DataStore.Run()) }
    #expect(
      try states(store) == [
        "changed": "update backendWentBack", "new": "create backendWentBack",
        "deleted": "delete backendWentBack",
      ])
    #expect(try states(other) == ["lost by the other": "update backendWentBack"])
    var expected: [String: Int64] = [
      "changed": 2, "new": 2, "of the other": 3, "lost by the other": 3,
    ]
    if between == .write { expected["since"] = 3 }
    #expect(try here(store) == expected)
  }

  @Test(
    "goes back twice, and another device sends an older version again each time: the later one that was lost first, or waits, replaces it",
    arguments: [false, true])
  func olderIsSentAgainTwice(isPending: Bool) throws {
    let resend: JSONObject = ["onBackendReset": "resend", "conflicts": "serverWins"]
    let (first, store) = try device("a", resend)
    let (second, other) = try device("b", resend)
    defer {
      first.close()
      second.close()
    }
    try world.copy()
    try put("one", 1, in: store)
    _ = try store.push(DataStore.Run())
    _ = try other.pull(Query(), DataStore.Run())
    try put("one", 2, in: store)
    if !isPending { _ = try store.push(DataStore.Run()) }
    for _ in 0..<2 {
      try world.putBack()
      _ = try other.pull(Query(), DataStore.Run())
      _ = try other.push(DataStore.Run())
      #expect(try there() == ["one": 1])
    }
    if !isPending { _ = try store.pull(Query(), DataStore.Run()) }
    #expect(try states(store) == ["one": "update waiting"])
    _ = try store.push(DataStore.Run())
    #expect(try there() == ["one": 2])
    _ = try other.pull(Query(), DataStore.Run())
    #expect(try here(other) == ["one": 2])
  }

  @Test(
    "goes back twice, and another device sends a version again in between: what this device deleted stays deleted"
  )
  func deletedAfterBeingSentAgain() throws {
    let resend: JSONObject = ["onBackendReset": "resend"]
    let (first, store) = try device("a", resend)
    let (second, other) = try device("b", resend)
    defer {
      first.close()
      second.close()
    }
    try world.copy()
    try put("one", 1, in: store)
    _ = try store.push(DataStore.Run())
    _ = try other.pull(Query(), DataStore.Run())
    try world.putBack()
    _ = try other.pull(Query(), DataStore.Run())
    _ = try other.push(DataStore.Run())
    _ = try store.pull(Query(), DataStore.Run())
    _ = try store.remove(id: "one", DataStore.Run())
    _ = try store.push(DataStore.Run())
    try world.putBack()
    _ = try other.pull(Query(), DataStore.Run())
    _ = try other.push(DataStore.Run())
    _ = try store.pull(Query(), DataStore.Run())
    #expect(try here(store) == [:])
    _ = try store.push(DataStore.Run())
    #expect(try there() == [:])
    _ = try other.pull(Query(), DataStore.Run())
    #expect(try here(other) == [:])
  }

  @Test("has a newer version by now, which was made of the older one: what was lost is kept")
  func changedSince() throws {
    let (first, store) = try device("a")
    let (second, other) = try device("b")
    defer {
      first.close()
      second.close()
    }
    for id in ["changed", "same", "equal"] { try put(id, 1, in: store) }
    _ = try store.push(DataStore.Run())
    try world.copy()
    try put("changed", 2, in: store)
    try put("equal", 2, in: store)
    _ = try store.push(DataStore.Run())
    try world.putBack()
    for (id, n) in [("changed", 5), ("same", 5), ("equal", 2)] { try put(id, Int(n), in: other) }
    _ = try other.push(DataStore.Run())
    _ = try store.pull(Query(), DataStore.Run())
    #expect(try states(store) == ["changed": "update backendWentBack"])
    #expect(try here(store) == ["changed": 2, "same": 5, "equal": 2])
    let detail = try JSONValue(parsing: store.pending("changed"))
    #expect(detail["remote"]?["n"] == 5)
  }

  @Test(
    "and has no accounts any more gets all of it from another account that adopts it",
    arguments: [false, true])
  func adopted(isNew: Bool) throws {
    if !isNew {
      try world.administer(
        "POST", "/user/kid_test", body: ["username": "bob", "password": "pw"])
    }
    try world.copy()
    let (client, store) = try device("a")
    defer { client.close() }
    let user: JSONObject = ["username": "bob", "password": "pw"]
    let bob = { (isAdopting: Bool) throws(StoreError) in
      _ =
        isNew
        ? try client.signup(
          user, adopting: isAdopting, options: Options(), cancellation: Cancellation())
        : try client.login(
          user, adopting: isAdopting, options: Options(), cancellation: Cancellation())
    }
    for id in ["x", "y"] { try put(id, 1, in: store) }
    _ = try store.push(DataStore.Run())
    try put("z", 1, in: store)
    try world.putBack()
    let refused = failure { () throws(StoreError) in try bob(false) }
    #expect(refused?.kind == .pending && refused?.message.contains("adopt") == true)
    try bob(true)
    #expect(try here(store) == ["x": 1, "y": 1, "z": 1])
    #expect(try store.push(DataStore.Run()).errors.isEmpty)
    _ = try store.pull(Query(), DataStore.Run())
    #expect(try states(store) == ["x": "create backendWentBack", "y": "create backendWentBack"])
    for id in ["x", "y"] { try store.retryPending(id, DataStore.Run()) }
    #expect(try there() == ["x": 1, "y": 1, "z": 1])
    _ = try store.pull(Query(), DataStore.Run())
    #expect(try here(store) == ["x": 1, "y": 1, "z": 1])
    let id = try JSONValue(parsing: client.activeUser())["_id"]
    for entity in try world.administer("GET", path).arrayValue ?? [] {
      #expect(entity["_acl"]?["creator"] == id)
    }
  }

  @Test("and has no accounts any more gets all of it from an account with the old id")
  func wiped() throws {
    try world.copy()
    let (client, store) = try device("a")
    defer { client.close() }
    for id in ["x", "y"] { try put(id, 1, in: store) }
    _ = try store.push(DataStore.Run())
    _ = try store.pull(Query(), DataStore.Run())
    let id = try #require(JSONValue(parsing: client.activeUser())["_id"]?.stringValue)
    try world.putBack()
    #expect(failure { _ = try store.pull(Query(), DataStore.Run()) } != nil)
    #expect(try here(store) == ["x": 1, "y": 1])
    try world.administer(
      "POST", "/user/kid_test",
      body: ["_id": .string(id), "username": "ana", "password": "pw"])
    _ = try client.login(
      ["username": "ana", "password": "pw"], options: Options(), cancellation: Cancellation())
    _ = try store.pull(Query(), DataStore.Run())
    #expect(try states(store) == ["x": "create backendWentBack", "y": "create backendWentBack"])
    for id in ["x", "y"] { try store.retryPending(id, DataStore.Run()) }
    #expect(try there() == ["x": 1, "y": 1])
  }
}
