import KVBase
import KVClient
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

/// A backend with nothing but entities: it keeps what is written.
private final class Shelf: Remote {
  private let entities = Monitor<[RecordID: [UInt8]]>([:])

  func find(
    _ query: Query, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    let texts = entities.withLock { $0.values.map { String(decoding: $0, as: UTF8.self) } }
    try RecordBatch.lend(Array("[\(texts.joined(separator: ","))]".utf8), to: receive)
    return ReadAnswer()
  }

  func find(id: String, in collection: String, call: Call) throws(StoreError) -> [UInt8] {
    guard let entity = entities.withLock({ $0[RecordID(id)] }) else {
      throw StoreError(.notFound, "There is none.")
    }
    return entity
  }

  func count(_ query: Query, in collection: String, call: Call) throws(StoreError) -> CountAnswer {
    CountAnswer(count: entities.withLock { $0.count }, startedAt: nil)
  }

  func remove(_ query: Query, in collection: String, call: Call) throws(StoreError) -> Int { 0 }

  func send(
    _ writes: [RemoteWrite], in collection: String, call: Call,
    outcome: (Int, Result<RemoteOutcome, StoreError>) -> Void
  ) {
    for (index, write) in writes.enumerated() { outcome(index, .success(carryOut(write))) }
  }

  private func carryOut(_ write: RemoteWrite) -> RemoteOutcome {
    switch write {
    case .create(let body), .update(_, let body, _, _):
      let id = (try? EntityScanner.outline(of: body))?.id ?? ""
      entities.withLock { $0[RecordID(id)] = body }
      return .stored(body)
    case .createMany(let bodies):
      return .storedMany(
        bodies.map {
          _ = carryOut(.create($0)); return .success($0)
        })
    case .delete(let id, _):
      return .deleted(entities.withLock { $0.removeValue(forKey: RecordID(id)) } == nil ? 0 : 1)
    case .change: return .deleted(0)
    case .batch(let writes): return .batch(writes.map { .success(carryOut($0)) })
    }
  }
}

@Suite("A backend that is registered by name") struct RegisteredBackendTests {
  private let directory = TemporaryDirectory()
  /// Of this test alone: tests run side by side in one process.
  private let name = "shelf \(Identifier.request())"

  private func withClient(_ body: (Client) throws -> Void) throws {
    let shelf = Shelf()
    let closed = Monitor(0)
    try BackendRegistry.shared.register(name) { _ in
      Backend(name: "shelf", remote: shelf) { closed.withLockNotifyingAll { $0 += 1 } }
    }
    defer { BackendRegistry.shared.unregister(name) }
    let client = try open(name)
    try body(client)
    client.close()
    client.close()
    #expect(closed.withLock { $0 } == 1)
  }

  private func open(_ name: String, _ more: JSONObject = [:]) throws -> Client {
    var options: JSONObject = [
      "appKey": "app", "backend": .string(name), "dataDirectory": .string(directory.path),
    ]
    for member in more.members { options[member.name] = member.value }
    return try Client(options)
  }

  @Test("is pushed to, pulled from and closed with its client; nobody has to log in")
  func syncs() throws {
    try withClient { client in
      let store = try client.store("notes", type: "sync", nil)
      _ = try store.save(["_id": "n1", "text": "milk"])
      #expect(try store.push(DataStore.Run()) == PushResult(pushed: 1))
      let network = try client.store("notes", type: "network", nil)
      #expect(try network.all().compactMap { $0["_id"]?.stringValue } == ["n1"])
    }
  }

  @Test(
    "is read whole where it has no pages and no history",
    arguments: [[:], ["autoPagination": true], ["deltaSet": true], ["deltaSetCaching": true]]
      as [JSONObject])
  func pulls(_ options: JSONObject) throws {
    try withClient { client in
      let network = try client.store("notes", type: "network", nil)
      for n in 0..<3 { _ = try network.save(["_id": .string("n\(n)"), "n": .int(Int64(n))]) }
      let store = try client.store("notes", type: "sync", options)
      for _ in 0..<2 {
        #expect(try store.pull(Query(), DataStore.Run()) == PullResult(pulled: 3))
      }
      _ = try network.remove(id: "n1", DataStore.Run())
      #expect(try store.pull(Query(), DataStore.Run()) == PullResult(pulled: 2, removed: 1))
      #expect(try store.all().count == 2)
    }
  }

  @Test("says what it has not")
  func lacks() throws {
    try withClient { client in
      let no = Cancellation()
      let errors = [
        (
          "users",
          failure {
            _ = try client.login(
              ["username": "a", "password": "b"], options: Options(), cancellation: no)
          }
        ),
        ("users", failure { _ = try client.activeUser() }),
        ("login pages", failure { _ = try client.loginPage(redirectURI: "app://", [:]) }),
        ("live data", failure { try client.registerLive(options: Options(), cancellation: no) }),
        (
          "user-to-user streams",
          failure { _ = try client.streamOwners("s", options: Options(), cancellation: no) }
        ),
        ("pings", failure { _ = try client.ping(options: Options(), cancellation: no) }),
      ]
      for (what, error) in errors {
        #expect(error?.kind == .unsupported, "\(what)")
        #expect(error?.message == "The backend \"shelf\" does not support \(what).")
      }
    }
  }

  @Test("is needed to open a client with its name, and only one has it")
  func names() throws {
    #expect(failure { _ = try open("nobody's") }?.kind == .invalid)
    try withClient { _ in
      let second = failure {
        try BackendRegistry.shared.register(name) { _ in Backend(name: "shelf", remote: Shelf()) }
      }
      #expect(second?.kind == .conflict)
      #expect(failure { _ = try open(name, ["appSecret": "s"]) }?.kind == .invalid)
    }
  }
}
