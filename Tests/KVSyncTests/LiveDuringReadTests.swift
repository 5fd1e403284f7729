import KVBase
import KVJSON
import KVQuery
import KVSync
import KVWorlds
import Testing

/// "Subscribe, then pull": messages arrive while the answer of a read is on its way.
@Suite("Live data during a read") struct LiveDuringReadTests {
  enum Read: CaseIterable {
    case pull, pages, comparing, comparingPages, changes, find, findOne

    func run(_ fixture: TestEngine) throws {
      let options = fixture.options(read: .forceNetwork)
      switch self {
      case .pull: _ = try fixture.engine.pull(Query(), Call())
      case .pages: _ = try fixture.engine.pull(Query(), Call(), how: .init(paging: .pages(of: 2)))
      case .comparing:
        _ = try fixture.engine.pull(Query(), Call(), how: .init(comparesVersions: true))
      case .comparingPages:
        let how = CollectionEngine.Refreshing(paging: .pages(of: 2), comparesVersions: true)
        _ = try fixture.engine.pull(Query(), Call(), how: how)
      case .changes: _ = try fixture.engine.pull(Query(), Call(), how: .init(usesChanges: true))
      case .find: _ = try fixture.found(Query(), .forceNetwork)
      case .findOne: for id in ["x", "y", "z"] { _ = try? fixture.engine.find(id: id, options) }
      }
    }
  }

  /// `x`, `y` and `a` are here in their first version, and `x` was changed since by somebody else.
  private func scene() throws -> TestEngine {
    let fixture = try TestEngine()
    try fixture.publish(["_id": "x", "n": 1], ["_id": "y", "n": 1], ["_id": "a", "n": 1])
    _ = try fixture.engine.pull(Query(), Call())
    try fixture.publish(["_id": "x", "n": 2], ["_id": "z", "n": 1])
    fixture.remote.changes = { [unowned fixture] query, _ in
      fixture.remote.backend.changes(of: query, since: "")
    }
    return fixture
  }

  @Test("counts: what is newer stays, and what was deleted stays deleted", arguments: Read.allCases)
  func newer(_ read: Read) throws {
    let fixture = try scene()
    let backend = fixture.remote.backend
    fixture.remote.meanwhile = { [unowned fixture] in
      guard fixture.backendValue("x", "n") == 2 else { return }
      do {
        let x = try backend.replace(Array(#"{"_id":"x","n":3}"#.utf8), "x", by: "bob")
        try fixture.engine.apply(.saved(x, id: "x", .update))
        for id in ["y", "z"] {
          _ = backend.delete(id)
          try fixture.engine.apply(.deleted(id: id, at: backend.now))
        }
      } catch { Issue.record(error) }
    }
    try read.run(fixture)
    #expect(fixture.backendValue("x", "n") == 3)
    let found = try fixture.found()
    #expect(found.map(\.id).sorted() == ["a", "x"])
    #expect(found.first { $0.id == "x" }?["n"] == 3)
  }

  @Test("counts for nothing if it is old: the answer is stored", arguments: Read.allCases)
  func older(_ read: Read) throws {
    let fixture = try scene()
    let old = try #require(try fixture.found().first { $0.id == "x" }).bytes
    fixture.remote.meanwhile = { [unowned fixture] in
      do {
        try fixture.engine.apply(.saved(old, id: "x", .update))
        try fixture.engine.apply(.deleted(id: "x", at: "1970-01-01T00:00:00.000Z"))
      } catch { Issue.record(error) }
    }
    try read.run(fixture)
    #expect(try fixture.found().first { $0.id == "x" }?["n"] == 2)
  }

  @Test(
    "and is not taken for newer than an answer that came to be after it", arguments: [true, false])
  func goneSince(_ usesChanges: Bool) throws {
    let fixture = try scene()
    // The message arrives before the backend evaluates the read, and by then the entity is gone.
    let body = Array(#"{"_id":"x","n":3}"#.utf8)
    let backend = fixture.remote.backend
    let x = try backend.replace(body, "x", by: "bob")
    fixture.remote.meanwhile = { [unowned fixture] in
      fixture.remote.meanwhile = {}
      do { try fixture.engine.apply(.saved(x, id: "x", .update)) } catch { Issue.record(error) }
    }
    _ = backend.delete("x")
    _ = try fixture.engine.pull(Query(), Call(), how: .init(usesChanges: usesChanges))
    #expect(try fixture.found().map(\.id).sorted() == ["a", "y", "z"])
  }

  @Test(
    "counts as seen, when it arrives between the count and what was counted",
    arguments: [Read.pages, .comparingPages])
  func early(_ read: Read) throws {
    let fixture = try scene()
    let backend = fixture.remote.backend
    fixture.remote.duringCount = { [unowned fixture] in
      fixture.remote.duringCount = {}
      do {
        let w = try backend.replace(Array(#"{"_id":"w","n":1}"#.utf8), "w", by: "bob")
        try fixture.engine.apply(.saved(w, id: "w", .create))
      } catch { Issue.record(error) }
    }
    try read.run(fixture)
    #expect(try fixture.found().map(\.id).sorted() == ["a", "w", "x", "y", "z"])
  }

  @Test("never replaces what waits to be sent") func pending() throws {
    let fixture = try scene()
    try fixture.save(["_id": "x", "n": 7])
    let x = try fixture.remote.backend.replace(Array(#"{"_id":"x","n":3}"#.utf8), "x", by: "bob")
    try fixture.engine.apply(.saved(x, id: "x", .update))
    try fixture.engine.apply(.deleted(id: "x", at: fixture.remote.backend.now))
    #expect(try fixture.found().first { $0.id == "x" }?["n"] == 7)
  }
}
