import KVBase
import KVJSON
import KVQuery
import KVStorage
import KVSync
import KVTestSupport
import KVWorlds
import Testing

/// Reads of one collection at the same time, by answers of different age: at the end all of it is here that the backend
/// has, though no later read would ask for it again.
@Suite("Reads that overlap") struct OverlappingReadsTests {
  private static let low = #"{"n":{"$lt":5}}"#

  @Test("an entity that has left one query stays if a read under way has brought it for another")
  func leftWhileRead() throws {
    let scene = try OverlappingReads()
    scene.publish("a", 1)
    try scene.read(Self.low)
    scene.publish("a", 9)
    try scene.read("{}", pages: true, once: { scene.value("a") == 9 }) {
      try scene.read(Self.low, changes: true)
    }
    #expect(scene.value("a") == 9)
  }

  @Test(
    "an entity that was made anew stays, whatever an older answer says", arguments: [true, false],
    Readers.allCases)
  func madeAnew(isDeleted: Bool, readers: Readers) throws {
    let scene = try OverlappingReads(readers)
    scene.publish("a", 1)
    try scene.read(Self.low)
    if isDeleted { _ = scene.backend.delete("a") } else { scene.publish("a", 8) }
    try scene.read(Self.low, changes: true, once: { scene.hasEvaluated }) {
      scene.publish("a", 9)
      try scene.read("{}")
    }
    #expect(scene.value("a") == 9)
  }

  @Test(
    "what one read has deleted does not come back with the older answer of another",
    arguments: Readers.allCases)
  func deletedWhileRead(readers: Readers) throws {
    let scene = try OverlappingReads(readers)
    scene.publish("a", 1)
    try scene.read(Self.low)
    try scene.read("{}", once: { scene.hasEvaluated }) {
      _ = scene.backend.delete("a")
      try scene.read(Self.low, changes: true)
    }
    #expect(scene.value("a") == nil)
  }

  @Test(
    "an entity that was made while an older answer says that there is none stays",
    arguments: Readers.allCases)
  func madeWhileAsked(readers: Readers) throws {
    let scene = try OverlappingReads(readers)
    for wasHere in [false, true] {
      if wasHere {
        _ = scene.backend.delete("a")
      }
      try scene.find("a", once: { scene.hasEvaluated }) {
        scene.publish("a", 9)
        try scene.read("{}")
      }
      #expect(scene.value("a") == 9)
    }
  }

  @Test(
    "what a find has not found does not come back with the older answer of a read",
    arguments: Readers.allCases)
  func notFoundWhileRead(readers: Readers) throws {
    let scene = try OverlappingReads(readers)
    scene.publish("a", 1)
    try scene.read("{}", once: { scene.hasEvaluated }) {
      _ = scene.backend.delete("a")
      try scene.find("a")
    }
    #expect(scene.value("a") == nil)
  }

  @Test(
    "an older answer does not replace what a later one has brought", arguments: [false, true],
    Readers.allCases)
  func olderAnswer(pages: Bool, readers: Readers) throws {
    let scene = try OverlappingReads(readers)
    for number in 0..<30 { scene.publish("a\(number)", 1) }
    try scene.read("{}", pages: pages, once: { scene.hasEvaluated }) {
      scene.publish("a1", 2)
      scene.publish("a7", 9)
      try scene.read(Self.low)
      try scene.read("{}")
    }
    #expect(scene.value("a1") == 2)
    #expect(scene.value("a7") == 9)
    #expect(scene.value("a8") == 1)
  }

  @Test("an entity that goes while it is asked about once more is asked about again")
  func goneWhileRechecked() throws {
    let scene = try OverlappingReads()
    scene.publish("a", 1)
    try scene.read("{}")
    var messages = 0
    scene.network.pause = { [unowned scene] in
      // During the read, and while its end asks about what the first message has settled.
      guard messages < 4 else { return }
      messages += 1
      try? scene.engine.apply(.deleted(id: "a", at: nil))
    }
    try scene.read("{}")
    #expect(messages == 4)
    #expect(scene.value("a") == 1)
  }

  @Test("what was settled during a read is asked for once more, also if the read was not complete")
  func settledDuringIncomplete() throws {
    let fixture = try TestEngine()
    try fixture.publish(["_id": "a"])
    _ = try fixture.engine.pull(Query(), Call())
    // More are counted than come.
    fixture.remote.counts = [3, 3]
    var isTold = false
    fixture.remote.meanwhile = { [unowned fixture] in
      defer { isTold = true }
      if !isTold { try? fixture.engine.apply(.deleted(id: "a", at: nil)) }
    }
    _ = try fixture.engine.pull(Query(), Call(), how: .init(paging: .pages(of: 2)))
    #expect(try fixture.found().map(\.id) == ["a"])
  }

  @Test("a follow is told when a read may not have brought everything") func incomplete() throws {
    let fixture = try TestEngine()
    try fixture.publish(["_id": "a"])
    // More are counted than come.
    fixture.remote.counts = [3, 3]
    let error = #expect(throws: StoreError.self) {
      try fixture.engine.catchUp(Query(), Call(), how: .init(paging: .pages(of: 2)))
    }
    #expect(error?.kind == .proto)
    fixture.remote.counts = []
    #expect(
      try fixture.engine.catchUp(Query(), Call(), how: .init(paging: .pages(of: 2))).pulled == 1)
  }

  @Test("a write that was given up is replaced by what a live message says")
  func givenUp() throws {
    let scene = try OverlappingReads()
    try scene.save("a", 1)
    _ = try scene.engine.purge(nil)
    scene.publish("a", 2)
    for change in scene.backend.published { try scene.engine.apply(change) }
    #expect(scene.value("a") == 2)
  }

  @Test("a late live message is put right by the next read of changes, should the others be missed")
  func lateMessage() throws {
    let scene = try OverlappingReads()
    try scene.read(Self.low)
    for (id, n) in [("a", 1), ("a", 9), ("b", 9)] as [(String, Int64)] { scene.publish(id, n) }
    try scene.read(Self.low, changes: true)
    try scene.engine.apply(scene.backend.published[0])
    #expect(scene.value("a") == 1)
    try scene.read(Self.low, changes: true)
    #expect(scene.value("a") == nil)
  }
}

/// Who reads while a read is under way.
enum Readers: CaseIterable {
  case sameProcess
  /// Its engine shares nothing but the file.
  case otherProcess
}

/// An engine on a backend whose requests can be held, and another one for what is read meanwhile.
///
/// `@unchecked Sendable`: a test runs on one thread.
private final class OverlappingReads: @unchecked Sendable {
  let directory = TemporaryDirectory(inMemory: true)
  let backend = FakeBackend()
  let network: FakeNetwork
  /// The outer one, and that of the reads in between.
  private let engines: [CollectionEngine]
  /// How many reads are under way.
  private var depth = 0
  private var pauses = 0

  init(_ readers: Readers = .sameProcess) throws {
    let network = FakeNetwork(backend, user: "ana", seed: 1)
    let path = directory.file("data.kvs")
    func engine() throws -> CollectionEngine {
      CollectionEngine(
        collection: "notes", type: .sync, local: try Storage(path: path, durability: .normal),
        remote: layers(around: network), sendGate: SendGate(), writer: { "ana" })
    }
    self.network = network
    engines = try readers == .sameProcess ? [engine()] : [engine(), engine()]
  }

  /// That of the process that reads now.
  var engine: CollectionEngine { engines[min(max(depth, 1), engines.count) - 1] }

  /// Somebody else saves.
  func publish(_ id: String, _ n: Int64) {
    let body = JSONValue.object(["_id": .string(id), "n": .int(n)]).bytes
    do { _ = try backend.replace(body, id, by: "bob") } catch { Issue.record(error) }
  }

  func save(_ id: String, _ n: Int64) throws {
    let bytes = JSONValue.object(["_id": .string(id), "n": .int(n)]).bytes
    let outline = try EntityScanner.outline(of: bytes)
    let options = CallOptions(readPolicy: .forceLocal, writePolicy: .forceLocal, call: Call())
    _ = try bytes.withUnsafeBytes { try engine.save($0, outline, options: options) }
  }

  /// Whether the request that is held was carried out, and its answer is on its way.
  var hasEvaluated: Bool { pauses > 1 }

  /// Reads; `meanwhile` runs once, at the first request that is held when `condition` is so.
  func read(
    _ filter: String, pages: Bool = false, changes: Bool = false,
    once condition: @escaping () -> Bool = { false }, _ meanwhile: @escaping () throws -> Void = {}
  ) throws {
    try holding(once: condition, meanwhile) {
      _ = try engine.catchUp(
        Query(filter: filter), Call(),
        how: .init(paging: pages ? .pages(of: 10) : .off, usesChanges: changes))
    }
  }

  /// Asks the backend for an entity; `meanwhile` as above.
  func find(
    _ id: String, once condition: @escaping () -> Bool = { false },
    _ meanwhile: @escaping () throws -> Void = {}
  ) throws {
    try holding(once: condition, meanwhile) {
      let options = CallOptions(readPolicy: .forceNetwork, writePolicy: .forceLocal, call: Call())
      _ = try? engine.find(id: id, options)
    }
  }

  private func holding(
    once condition: @escaping () -> Bool, _ meanwhile: @escaping () throws -> Void,
    _ body: () throws -> Void
  ) throws {
    pauses = 0
    var isDone = false
    let before = network.pause
    network.pause = { [unowned self] in
      pauses += 1
      before()
      guard !isDone, condition() else { return }
      isDone = true
      do { try meanwhile() } catch { Issue.record(error) }
    }
    depth += 1
    defer {
      depth -= 1
      network.pause = before
    }
    try body()
  }

  /// The member of an entity that is here.
  func value(_ id: String) -> Int64? {
    let options = CallOptions(readPolicy: .forceLocal, writePolicy: .forceLocal, call: Call())
    let entity = try? engine.find(id: id, options).value
    return entity.flatMap { try? JSONValue(parsing: $0) }?["n"]?.intValue
  }
}
