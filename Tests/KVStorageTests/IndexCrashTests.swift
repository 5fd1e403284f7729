import Glibc
import KVQuery
import KVStorage
import KVSync
import KVTestSupport
import Testing

/// Kills processes that fill an index while others write, and looks whether the index answers as a scan does.
@Suite("Index crash") struct IndexCrashTests {
  /// What is indexed, what is asked for then, and how the index is called.
  struct Kind: Sendable {
    let name: String
    let spec: String
    let filter: String
  }

  private static let kinds = [
    Kind(name: "n_1", spec: #"{"keys":{"n":1}}"#, filter: #"{"n":{"$gte":2,"$lt":4}}"#),
    Kind(
      name: "g_1_n_1", spec: #"{"keys":{"g":1,"n":1},"totals":true}"#,
      filter: #"{"g":"g1","n":{"$gt":2}}"#),
    Kind(
      name: "$**_text", spec: #"{"keys":{"$**":"text"}}"#,
      filter: #"{"$text":{"$search":"word3"}}"#),
    Kind(
      name: "_geoloc_2dsphere", spec: #"{"keys":{"_geoloc":"2dsphere"}}"#,
      filter: #"{"_geoloc":{"$geoWithin":{"$box":[[2,2],[4,4]]}}}"#),
  ]

  /// So many that filling an index takes many transactions.
  private static let entities = 12_000

  let directory = TemporaryDirectory()
  var path: String { directory.file("data.kvs") }

  private func filled() throws -> Storage {
    let storage = try Storage(path: path, durability: .normal)
    try storage.store((0..<Self.entities).map { Self.entity($0, $0 % 7) })
    return storage
  }

  private static func entity(_ id: Int, _ n: Int) -> String {
    #"{"_id":"\#(id)","n":\#(n),"g":"g\#(id % 3)","text":"word\#(n)","_geoloc":[\#(n),\#(n)]}"#
  }

  private func indexer(_ kind: Kind) throws -> ChildProcess {
    try ChildProcess([ChildProcess.built("storage-saver"), path, "index", kind.spec])
  }

  private func isReady(_ kind: Kind, in storage: Storage) throws -> Bool? {
    try storage.indexes(in: "c").first { $0.spec.name == kind.name }?.isReady
  }

  /// Some random change, before and after what has been filled.
  private func change(_ storage: Storage, _ random: inout Seed) throws {
    let id = random.below(Self.entities + 500)
    if random.below(4) == 0 {
      _ = try storage.remove("\(id)", in: "c")
    } else {
      try storage.save(Self.entity(id, random.below(7)))
    }
  }

  /// What a query and a group give.
  private func answers(_ kind: Kind, _ storage: Storage) throws -> [String] {
    let grouping = try Grouping(
      parsing: #"{"keys":["g"],"aggregates":{"a":"count","b":{"sum":"n"}}}"#)
    let groups = try storage.group(grouping, of: Query(), in: "c", writtenSince: nil)
    return try storage.find(kind.filter) + groups.map { "\($0)" }.sorted()
  }

  /// Whether the index answers as no index does; it is dropped.
  private func isRight(_ kind: Kind, _ storage: Storage) throws -> Bool {
    #expect(try storage.explained(kind.filter).indexes == [kind.name])
    let indexed = try answers(kind, storage)
    #expect(try storage.dropIndex(kind.name, in: "c"))
    #expect(try storage.explained(kind.filter).access == .scan)
    return try indexed == answers(kind, storage) && indexed.count > 3
  }

  @Test("killed while it fills an index and others write", arguments: kinds)
  func kills(kind: Kind) throws {
    var random = Seed()
    let seed = "\(random)"
    let storage = try filled()
    defer { storage.close() }
    var isCaught = false
    // One that was too quick is dropped and made again.
    for round in 0..<20 where !isCaught {
      let saver = try ChildProcess([ChildProcess.built("storage-saver"), path, "\(round)", "1"])
      let indexer = try indexer(kind)
      while try isReady(kind, in: storage) == nil { sched_yield() }
      for _ in 0..<random.below(2) { try change(storage, &random) }
      for child in [indexer, saver] { child.end() }
      isCaught = try isReady(kind, in: storage) == false
      if !isCaught { #expect(try isRight(kind, storage), "\(seed), round \(round)") }
    }
    #expect(isCaught)
    // What is half full is not asked.
    #expect(try storage.explained(kind.filter).access == .scan)
    for _ in 0..<20 { try change(storage, &random) }
    let again = try Storage(path: path, durability: .normal)
    defer { again.close() }
    try again.createIndex(IndexSpec(parsing: kind.spec), in: "c")
    #expect(try isReady(kind, in: storage) == true)
    #expect(try isRight(kind, again), "\(seed)")
  }

  @Test("filled by two processes at once, of which one is killed", arguments: kinds)
  func concurrentMap(kind: Kind) throws {
    var random = Seed()
    let seed = "\(random)"
    let storage = try filled()
    defer { storage.close() }
    let indexers = try [indexer(kind), indexer(kind)]
    while try isReady(kind, in: storage) == nil { try change(storage, &random) }
    indexers[0].end()
    while try isReady(kind, in: storage) == false { try change(storage, &random) }
    #expect(indexers[1].wait() == 0)
    #expect(try isRight(kind, storage), "\(seed)")
  }

  @Test("dropped while another process fills it, which ends without an error", arguments: kinds)
  func dropped(kind: Kind) throws {
    var random = Seed()
    let storage = try filled()
    defer { storage.close() }
    let indexer = try indexer(kind)
    while try isReady(kind, in: storage) == nil { try change(storage, &random) }
    #expect(try storage.dropIndex(kind.name, in: "c"))
    #expect(indexer.wait() == 0)
    #expect(try storage.indexes(in: "c").isEmpty)
    try change(storage, &random)
    #expect(try storage.explained(kind.filter).access == .scan)
  }
}
