import KVJSON
import KVQuery
import KVSync
import Testing

/// A change is given up here, and the next read has to bring what the backend has.
@Suite("What was given up is no version of the backend's") struct GivenUpTests {
  /// How a change is given up.
  enum Way: CaseIterable {
    case drop, purge, purgeMatching, revert

    func giveUp(_ id: String, of bench: TestEngine) throws {
      switch self {
      case .drop: try bench.engine.dropPending(id)
      case .purge: #expect(try bench.engine.purge(nil) == 1)
      case .purgeMatching: #expect(try bench.engine.purge(Query(filter: #"{"n":7}"#)) == 1)
      case .revert: try bench.engine.revertPending(id)
      }
    }
  }

  /// How the next read is done.
  enum Read: CaseIterable {
    case changes, comparing, comparingInPages

    var how: CollectionEngine.Refreshing {
      switch self {
      case .changes: .init(usesChanges: true)
      case .comparing: .init(comparesVersions: true)
      case .comparingInPages: .init(paging: .pages(of: 2, ranges: 1), comparesVersions: true)
      }
    }
  }

  /// Three entities that were read.
  private func scene() throws -> TestEngine {
    let bench = try TestEngine()
    try bench.publish(["_id": "a", "n": 1], ["_id": "b", "n": 2], ["_id": "c", "n": 3])
    bench.remote.changes = { _, _ in #"{"changed":[],"deleted":[]}"# }
    _ = try bench.engine.pull(Query(), Call())
    return bench
  }

  @Test(
    "an update: the next read brings the backend's content back", arguments: Way.allCases,
    Read.allCases)
  func update(_ way: Way, _ read: Read) throws {
    let bench = try scene()
    try bench.save(["_id": "b", "n": 7])
    try way.giveUp("b", of: bench)
    _ = try bench.engine.pull(Query(), Call(), read.how)
    #expect(try bench.local("n") == ["1", "2", "3"])
  }

  @Test(
    "an update that kept the backend's members: the same", arguments: Way.allCases, Read.allCases)
  func updateWithVersion(_ way: Way, _ read: Read) throws {
    let bench = try scene()
    let kmd = try #require(bench.backendValue("b", "_kmd"))
    try bench.save(["_id": "b", "n": 7, "_kmd": kmd])
    try way.giveUp("b", of: bench)
    _ = try bench.engine.pull(Query(), Call(), read.how)
    #expect(try bench.local("n") == ["1", "2", "3"])
    // Then it is known again, and nothing is fetched twice.
    if read != .changes { #expect(try bench.engine.pull(Query(), Call(), read.how).pulled == 0) }
  }

  @Test("a deletion: the entity comes back", arguments: [Way.drop, .purge, .revert], Read.allCases)
  func deletion(_ way: Way, _ read: Read) throws {
    let bench = try scene()
    _ = try bench.engine.remove(id: "b", bench.options())
    try way.giveUp("b", of: bench)
    _ = try bench.engine.pull(Query(), Call(), read.how)
    #expect(try bench.local("n") == ["1", "2", "3"])
  }

  @Test(
    "what the backend has deleted meanwhile goes here too", arguments: Way.allCases, Read.allCases)
  func gone(_ way: Way, _ read: Read) throws {
    let bench = try scene()
    let kmd = try #require(bench.backendValue("b", "_kmd"))
    try bench.save(["_id": "b", "n": 7, "_kmd": kmd])
    _ = bench.remote.backend.delete("b")
    try way.giveUp("b", of: bench)
    _ = try bench.engine.pull(Query(), Call(), read.how)
    #expect(try bench.local("n") == ["1", "3"])
  }

  @Test("reverted to what was given up before: the backend's content", arguments: Read.allCases)
  func twice(_ read: Read) throws {
    let bench = try scene()
    let kmd = try #require(bench.backendValue("b", "_kmd"))
    for n in [JSONValue.int(7), .int(8)] {
      try bench.save(["_id": "b", "n": n, "_kmd": kmd])
      if n == 7 { try bench.engine.dropPending("b") }
    }
    try bench.engine.revertPending("b")
    _ = try bench.engine.pull(Query(), Call(), read.how)
    #expect(try bench.local("n") == ["1", "2", "3"])
  }

  /// A find on the network while `b` is changed here and the change is given up, once `isTime` says so.
  private func find(
    _ bench: TestEngine, _ how: CollectionEngine.Refreshing, givingUp way: Way,
    when isTime: @escaping () -> Bool
  ) throws {
    let kmd = try #require(bench.backendValue("b", "_kmd"))
    try bench.save(["_id": "b", "n": 7, "_kmd": kmd])
    var outcome: Result<Void, any Error>?
    bench.remote.meanwhile = { [unowned bench] in
      guard outcome == nil, isTime() else { return }
      outcome = Result { try way.giveUp("b", of: bench) }
    }
    var options = bench.options(read: .forceNetwork)
    options.refreshing = how
    _ = try TestEngine.all(try bench.engine.find(Query(), options).value)
    try #require(outcome).get()
  }

  @Test(
    "given up while changes are read: the next read is no read of changes", arguments: Way.allCases)
  func whileChangesAreRead(_ way: Way) throws {
    let bench = try scene()
    try find(bench, Read.changes.how, givingUp: way) { true }
    _ = try bench.engine.pull(Query(), Call(), Read.changes.how)
    #expect(try bench.local("n") == ["1", "2", "3"])
  }

  @Test("given up when a read has passed it by: it stays", arguments: Way.allCases)
  func whileAllIsRead(_ way: Way) throws {
    let bench = try scene()
    let pages = CollectionEngine.Refreshing(paging: .pages(of: 1, ranges: 1))
    try find(bench, pages, givingUp: way) { [unowned remote = bench.remote] in
      remote.queries.last?.filterText.contains(#""b""#) == true
    }
    #expect(try bench.local("_id").count == 3)
    _ = try bench.engine.pull(Query(), Call(), Read.comparing.how)
    #expect(try bench.local("n") == ["1", "2", "3"])
  }
}
