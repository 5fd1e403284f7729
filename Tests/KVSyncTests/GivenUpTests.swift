import KVJSON
import KVQuery
import KVSync
import KVWorlds
import Testing

/// A change is given up here, and the next read has to bring what the backend has.
@Suite("What was given up is no version of the backend's") struct GivenUpTests {
  /// The ways in which a change can be given up.
  enum Way: CaseIterable {
    case drop, purge, purgeMatching, revert

    func giveUp(_ id: String, of fixture: TestEngine) throws {
      switch self {
      case .drop: try fixture.engine.dropPending(id)
      case .purge: #expect(try fixture.engine.purge(nil) == 1)
      case .purgeMatching: #expect(try fixture.engine.purge(Query(filter: #"{"n":7}"#)) == 1)
      case .revert: try fixture.engine.revertPending(id)
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
    let fixture = try TestEngine()
    try fixture.publish(["_id": "a", "n": 1], ["_id": "b", "n": 2], ["_id": "c", "n": 3])
    fixture.remote.changes = { _, _ in #"{"changed":[],"deleted":[]}"# }
    _ = try fixture.engine.pull(Query(), Call())
    return fixture
  }

  @Test(
    "an update: the next read brings the backend's content back", arguments: Way.allCases,
    Read.allCases)
  func update(_ way: Way, _ read: Read) throws {
    let fixture = try scene()
    try fixture.save(["_id": "b", "n": 7])
    try way.giveUp("b", of: fixture)
    _ = try fixture.engine.pull(Query(), Call(), how: read.how)
    #expect(try fixture.local("n") == ["1", "2", "3"])
  }

  @Test(
    "an update that kept the backend's members: the same", arguments: Way.allCases, Read.allCases)
  func updateWithVersion(_ way: Way, _ read: Read) throws {
    let fixture = try scene()
    let kmd = try #require(fixture.backendValue("b", "_kmd"))
    try fixture.save(["_id": "b", "n": 7, "_kmd": kmd])
    try way.giveUp("b", of: fixture)
    _ = try fixture.engine.pull(Query(), Call(), how: read.how)
    #expect(try fixture.local("n") == ["1", "2", "3"])
    // Then it is known again, and nothing is fetched twice.
    if read != .changes {
      #expect(try fixture.engine.pull(Query(), Call(), how: read.how).pulled == 0)
    }
  }

  @Test("a deletion: the entity comes back", arguments: [Way.drop, .purge, .revert], Read.allCases)
  func deletion(_ way: Way, _ read: Read) throws {
    let fixture = try scene()
    _ = try fixture.engine.remove(id: "b", options: fixture.options())
    try way.giveUp("b", of: fixture)
    _ = try fixture.engine.pull(Query(), Call(), how: read.how)
    #expect(try fixture.local("n") == ["1", "2", "3"])
  }

  @Test(
    "what the backend has deleted meanwhile goes here too", arguments: Way.allCases, Read.allCases)
  func gone(_ way: Way, _ read: Read) throws {
    let fixture = try scene()
    let kmd = try #require(fixture.backendValue("b", "_kmd"))
    try fixture.save(["_id": "b", "n": 7, "_kmd": kmd])
    _ = fixture.remote.backend.delete("b")
    try way.giveUp("b", of: fixture)
    _ = try fixture.engine.pull(Query(), Call(), how: read.how)
    #expect(try fixture.local("n") == ["1", "3"])
  }

  @Test("reverted to what was given up before: the backend's content", arguments: Read.allCases)
  func twice(_ read: Read) throws {
    let fixture = try scene()
    let kmd = try #require(fixture.backendValue("b", "_kmd"))
    for n in [JSONValue.int(7), .int(8)] {
      try fixture.save(["_id": "b", "n": n, "_kmd": kmd])
      if n == 7 { try fixture.engine.dropPending("b") }
    }
    try fixture.engine.revertPending("b")
    _ = try fixture.engine.pull(Query(), Call(), how: read.how)
    #expect(try fixture.local("n") == ["1", "2", "3"])
  }

  /// A find on the network while `b` is changed here and the change is given up, once `isTime` says so.
  private func find(
    _ fixture: TestEngine, _ how: CollectionEngine.Refreshing, givingUp way: Way,
    when isTime: @escaping () -> Bool
  ) throws {
    let kmd = try #require(fixture.backendValue("b", "_kmd"))
    try fixture.save(["_id": "b", "n": 7, "_kmd": kmd])
    var outcome: Result<Void, any Error>?
    fixture.remote.meanwhile = { [unowned fixture] in
      guard outcome == nil, isTime() else { return }
      outcome = Result { try way.giveUp("b", of: fixture) }
    }
    var options = fixture.options(read: .forceNetwork)
    options.refreshing = how
    _ = try TestEngine.all(try fixture.engine.find(Query(), options).value)
    try #require(outcome).get()
  }

  @Test(
    "given up while changes are read: the next read is no read of changes", arguments: Way.allCases)
  func whileChangesAreRead(_ way: Way) throws {
    let fixture = try scene()
    try find(fixture, Read.changes.how, givingUp: way) { true }
    _ = try fixture.engine.pull(Query(), Call(), how: Read.changes.how)
    #expect(try fixture.local("n") == ["1", "2", "3"])
  }

  @Test("given up when a read has passed it by: it stays", arguments: Way.allCases)
  func whileAllIsRead(_ way: Way) throws {
    let fixture = try scene()
    let pages = CollectionEngine.Refreshing(paging: .pages(of: 1, ranges: 1))
    try find(fixture, pages, givingUp: way) { [unowned remote = fixture.remote] in
      remote.queries.last?.filterText.contains(#""b""#) == true
    }
    #expect(try fixture.local("_id").count == 3)
    _ = try fixture.engine.pull(Query(), Call(), how: Read.comparing.how)
    #expect(try fixture.local("n") == ["1", "2", "3"])
  }
}
