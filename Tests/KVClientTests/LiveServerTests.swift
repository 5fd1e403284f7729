import KVBase
import KVClient
import KVJSON
import KVSync
import KVTestSupport
import KVTransport
import Testing

@Suite("Live data from a real kvstored") struct LiveServerTests {
  private let received = Monitor<[String]>([])

  private func listen(_ client: Client) throws {
    try client.registerLive(options: Options(), cancellation: Cancellation())
    let store = try client.store("notes", type: "network", nil)
    _ = try store.listen(DataStore.Listening([:]), note)
    #expect(wait(for: 2) == ["connected", "ready"])
  }

  private var note: @Sendable (LiveEvent) -> Void {
    let received = received
    return { event in
      let text =
        switch event {
        case .ready: "ready"
        case .missed: "missed"
        case .status(let status): status.rawValue
        case .failure(let error): "failure \(error.kind)"
        case .changed(.saved(_, let id, let cause)): "\(cause) \(id)"
        case .changed(.deleted(let id, _)): "delete \(id)"
        case .changed(.tooLarge(let id, _)): "large \(id)"
        case .changed(.said(let message)): String(decoding: message, as: UTF8.self)
        }
      received.withLockNotifyingAll { $0.append(text) }
    }
  }

  private func wait(for count: Int) -> [String] {
    received.wait(until: .after(seconds: 60)) { $0.count >= count ? $0 : nil }
      ?? received.withLock { $0 }
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

  @Test("A user says something to another one, as far as that one allows it")
  func streams() throws {
    let world = try World()
    let (ana, ben) = (try world.member("ana"), try world.member("ben"))
    defer { [ana, ben].forEach { $0.close() } }
    let (options, cancellation) = (Options(), Cancellation())
    let owner = try #require(JSONValue(parsing: ana.activeUser())["_id"]?.stringValue)
    let friend = try #require(JSONValue(parsing: ben.activeUser())["_id"]?.stringValue)
    func send(_ text: String, from client: Client) throws {
      try client.send(
        Array(text.utf8), to: "chat", owner: owner, options: options, cancellation: cancellation)
    }
    #expect(throws: StoreError.self) { try send("0", from: ben) }
    for client in [ana, ben] {
      try client.registerLive(options: options, cancellation: cancellation)
    }
    #expect(throws: StoreError.self) { try send("1", from: ben) }
    _ = try ana.listen(to: "chat", nil, note)
    #expect(wait(for: 2) == ["connected", "ready"])
    try ana.setStreamACL(
      "chat", owner: nil, acl: ["publish": .array([.string(friend)])], options: options,
      cancellation: cancellation)
    try send(#"{"text":"hello"}"#, from: ben)
    try send("[1.50]", from: ben)
    #expect(wait(for: 4) == ["connected", "ready", #"{"text":"hello"}"#, "[1.50]"])
    let rights = try ana.streamACL("chat", owner: nil, options: options, cancellation: cancellation)
    #expect(rights["publish"]?.arrayValue == [.string(friend)])
    #expect(
      try ben.streamOwners("chat", options: options, cancellation: cancellation).arrayValue == [
        .string(owner)
      ])
    // The channel is known, and refused now; asked for anew it is refused as well.
    try ana.setStreamACL("chat", owner: nil, acl: [:], options: options, cancellation: cancellation)
    #expect(throws: StoreError.self) { try send("2", from: ben) }
    try ana.send(
      Array("3".utf8), to: "chat", owner: nil, options: options, cancellation: cancellation)
    #expect(wait(for: 5).last == "3")
    // Who may not listen is told so, and nothing else.
    let refused = Monitor<[LiveEvent]>([])
    _ = try ben.listen(to: "chat", owner) { event in
      refused.withLockNotifyingAll { $0.append(event) }
    }
    let first = refused.wait(until: .after(seconds: 60)) { $0.first }
    guard case .failure(let error)? = first else {
      return #expect(Bool(false), "\(String(describing: first))")
    }
    #expect(error.kind == .forbidden)
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
    let events = received.wait(until: .after(seconds: 60)) {
      $0.contains { $0.hasSuffix(" b") } ? $0 : nil
    }
    #expect(events != nil, "\(received.withLock { $0 })")
    _ = try store.save(["_id": "c", "n": 1])
    #expect(
      received.wait(until: .after(seconds: 60)) { $0.contains("create c") ? true : nil } == true)
  }

  @Test(
    "Who listened before the collection was made misses nothing over a restart of the server",
    arguments: [true, false], [true, false])
  func noCollection(writesBefore: Bool, writesMeanwhile: Bool) throws {
    let world = try World(historyDays: 5)
    let (reader, writer) = (try world.member("reader"), try world.member("writer"))
    defer { [reader, writer].forEach { $0.close() } }
    let store = try writer.store("notes", type: "network", nil)
    try listen(reader)
    var ids: [String] = []
    func write(_ id: String) throws {
      ids.append(id)
      _ = try store.save(["_id": .string(id)])
      let isReceived = received.wait(until: .after(seconds: 60)) {
        $0.last?.hasSuffix(" \(id)") == true ? true : nil
      }
      #expect(isReceived == true, "\(received.withLock { $0 })")
    }
    if writesBefore { try write("before") }
    world.stop()
    try world.start()
    if writesMeanwhile { try write("meanwhile") }
    world.stop()
    try world.start()
    try write("after")
    let events = received.withLock { $0 }
    #expect(!events.contains("missed"), "\(events)")
    let changes = events.filter { event in ids.contains { event.hasSuffix(" \($0)") } }
    #expect(changes.map { $0.split(separator: " ").last.map(String.init) } == ids, "\(events)")
  }

  @Test(
    "Of two clients of one data directory, the one that closes leaves the other what it listens to")
  func twoClients() throws {
    let world = try World()
    let (reader, writer) = (try world.member("reader"), try world.member("writer"))
    defer { [reader, writer].forEach { $0.close() } }
    let other = try world.client("reader")
    try listen(reader)
    try other.registerLive(options: Options(), cancellation: Cancellation())
    let isReady = Monitor(false)
    _ = try other.store("notes", type: "network", nil).listen(DataStore.Listening([:])) { event in
      if case .ready = event { isReady.withLockNotifyingAll { $0 = true } }
    }
    #expect(isReady.wait(until: .after(seconds: 60)) { $0 ? true : nil } == true)
    other.close()
    _ = try writer.store("notes", type: "network", nil).save(["_id": "a"])
    #expect(wait(for: 3) == ["connected", "ready", "create a"])
  }

  private func devices(_ portal: Portal, _ operation: String) -> [String] {
    portal.requests.filter { $0.target.hasSuffix("/\(operation)") }.compactMap {
      (try? JSONValue(parsing: $0.body))?["deviceId"]?.stringValue
    }
  }

  @Test("Each registration has a device of its own, which ends with its client")
  func farewell() throws {
    let world = try World()
    let portal = try Portal(to: world.url)
    defer { portal.stop() }
    for _ in 0..<2 {
      let reader = try world.member("reader", ["host": .string(portal.url)])
      for _ in 0..<2 { try reader.registerLive(options: Options(), cancellation: Cancellation()) }
      reader.close()
    }
    let registered = devices(portal, "register-realtime")
    #expect(registered.count == 2 && registered[0] != registered[1])
    #expect(devices(portal, "unregister-realtime") == registered)
  }

  @Test("A device that the server has forgotten registers again, and is told what it missed")
  func forgotten() throws {
    let world = try World(historyDays: 5)
    let portal = try Portal(to: world.url)
    defer { portal.stop() }
    let reader = try world.member("reader", ["host": .string(portal.url)])
    let writer = try world.member("writer")
    defer { [reader, writer].forEach { $0.close() } }
    let store = try writer.store("notes", type: "network", nil)
    _ = try store.save(["_id": "first"])
    try listen(reader)
    let registration = try #require(
      portal.requests.last { $0.target.hasSuffix("/register-realtime") })
    let transport = try Transport(TransportOptions(proxy: ""))
    defer { transport.close() }
    let path = registration.target.split(separator: "/").dropLast().joined(separator: "/")
    let answer = try transport.exchange(
      HTTPRequest(
        "POST", "\(world.url)/\(path)/unregister-realtime",
        headers: [
          HTTPHeader("Authorization", try #require(registration["Authorization"])),
          HTTPHeader("X-Kinvey-API-Version", "5"),
        ], body: .bytes(registration.body)),
      until: .after(seconds: 60), cancellation: Cancellation())
    #expect(answer.head.status == 204)
    for id in ["a", "b"] {
      _ = try store.save(["_id": .string(id)])
      let isReceived = received.wait(until: .after(seconds: 60)) {
        $0.last?.hasSuffix(" \(id)") == true ? true : nil
      }
      #expect(isReceived == true, "\(received.withLock { $0 })")
    }
    #expect(received.withLock { $0.filter { !$0.contains(" ") } } == ["connected", "ready"])
  }
}
