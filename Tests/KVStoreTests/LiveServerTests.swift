import KVBase
import KVJSON
import KVStore
import KVSync
import KVTestSupport
import Testing

@Suite("Live data from a real kvstored") struct LiveServerTests {
  private let told = Monitor<[String]>([])

  private func listen(_ client: Client) throws {
    try client.registerLive(Options(), Cancellation())
    let store = try client.store("notes", type: "network", nil)
    let told = told
    _ = try store.listen(DataStore.Listening([:])) { event in
      let text =
        switch event {
        case .ready: "ready"
        case .missed: "missed"
        case .status(let status): status.rawValue
        case .failure(let error): "failure \(error.kind)"
        case .changed(.saved(_, let id, let cause)): "\(cause) \(id)"
        case .changed(.deleted(let id, _)): "delete \(id)"
        case .changed(.tooLarge(let id, _)): "large \(id)"
        }
      told.withLock { $0.append(text) }
    }
    #expect(wait(for: 2) == ["connected", "ready"])
  }

  private func wait(for count: Int) -> [String] {
    told.wait(until: .after(seconds: 20)) { $0.count >= count ? $0 : nil } ?? told.peek { $0 }
  }

  @Test(
    "Creations, updates, deletions and large entities of another client are told, in their order")
  func everything() throws {
    let world = try World()
    let (reader, writer) = (try world.member("reader"), try world.member("writer"))
    defer { [reader, writer].forEach { $0.close() } }
    try listen(reader)
    let store = try writer.store("notes", type: "network", nil)
    _ = try store.save(["_id": "a", "n": 1])
    _ = try store.save(["_id": "a", "n": 2])
    _ = try store.save(["_id": "big", "text": .string(String(repeating: "x", count: 40 << 10))])
    _ = try store.remove(id: "a", DataStore.Run())
    let events = wait(for: 6)
    #expect(Array(events.dropFirst(2).prefix(2)) == ["create a", "update a"])
    #expect(events.count == 6 && events.last == "delete a")
    #expect(events.contains { $0.hasSuffix(" big") })
  }

  @Test("What happened while the server was restarted is told after the reconnection")
  func restart() throws {
    let world = try World(historyDays: 5)
    let (reader, writer) = (try world.member("reader"), try world.member("writer"))
    defer { [reader, writer].forEach { $0.close() } }
    let store = try writer.store("notes", type: "network", nil)
    _ = try store.save(["_id": "a", "n": 1])
    try listen(reader)
    world.stop()
    try world.start()
    _ = try store.save(["_id": "b", "n": 1])
    let events = told.wait(until: .after(seconds: 30)) {
      $0.contains { $0.hasSuffix(" b") } ? $0 : nil
    }
    #expect(events != nil, "\(told.peek { $0 })")
    _ = try store.save(["_id": "c", "n": 1])
    #expect(told.wait(until: .after(seconds: 20)) { $0.contains("create c") ? true : nil } == true)
  }
}
