import KVBase
import KVJSON
import KVQuery
import KVSync
import Testing

/// "Subscribe, then pull": messages arrive while the answer of a read is on its way.
@Suite("Live data during a read") struct LiveIntakeTests {
  enum Read: CaseIterable {
    case pull, pages, comparing, comparingPages, changes, find, findOne

    func run(_ bench: TestEngine) throws {
      let options = bench.options(read: .forceNetwork)
      switch self {
      case .pull: _ = try bench.engine.pull(Query(), Call())
      case .pages: _ = try bench.engine.pull(Query(), Call(), .init(paging: .pages(of: 2)))
      case .comparing: _ = try bench.engine.pull(Query(), Call(), .init(comparesVersions: true))
      case .comparingPages:
        let how = CollectionEngine.Refreshing(paging: .pages(of: 2), comparesVersions: true)
        _ = try bench.engine.pull(Query(), Call(), how)
      case .changes: _ = try bench.engine.pull(Query(), Call(), .init(usesChanges: true))
      case .find: _ = try bench.found(Query(), .forceNetwork)
      case .findOne: for id in ["x", "y", "z"] { _ = try? bench.engine.find(id: id, options) }
      }
    }
  }

  /// `x`, `y` and `a` are here in their first version, and `x` was changed since by somebody else.
  private func scene() throws -> TestEngine {
    let bench = try TestEngine()
    try bench.publish(["_id": "x", "n": 1], ["_id": "y", "n": 1], ["_id": "a", "n": 1])
    _ = try bench.engine.pull(Query(), Call())
    try bench.publish(["_id": "x", "n": 2], ["_id": "z", "n": 1])
    bench.remote.changes = { [unowned bench] query, _ in
      bench.remote.backend.changes(of: query, since: "")
    }
    return bench
  }

  @Test("counts: what is newer stays, and what was deleted stays deleted", arguments: Read.allCases)
  func newer(_ read: Read) throws {
    let bench = try scene()
    let backend = bench.remote.backend
    bench.remote.meanwhile = { [unowned bench] in
      guard bench.backendValue("x", "n") == 2 else { return }
      do {
        let x = try backend.replace(Array(#"{"_id":"x","n":3}"#.utf8), "x", by: "bob")
        try bench.engine.take(.saved(x, id: "x", .update))
        for id in ["y", "z"] {
          _ = backend.delete(id)
          try bench.engine.take(.deleted(id: id, at: backend.now))
        }
      } catch { Issue.record(error) }
    }
    try read.run(bench)
    #expect(bench.backendValue("x", "n") == 3)
    let found = try bench.found()
    #expect(found.map(\.id).sorted() == ["a", "x"])
    #expect(found.first { $0.id == "x" }?["n"] == 3)
  }

  @Test("counts for nothing if it is old: the answer is stored", arguments: Read.allCases)
  func older(_ read: Read) throws {
    let bench = try scene()
    let old = try #require(try bench.found().first { $0.id == "x" }).bytes
    bench.remote.meanwhile = { [unowned bench] in
      do {
        try bench.engine.take(.saved(old, id: "x", .update))
        try bench.engine.take(.deleted(id: "x", at: "1970-01-01T00:00:00.000Z"))
      } catch { Issue.record(error) }
    }
    try read.run(bench)
    #expect(try bench.found().first { $0.id == "x" }?["n"] == 2)
  }

  @Test(
    "and is not taken for newer than an answer that came to be after it", arguments: [true, false])
  func goneSince(_ usesChanges: Bool) throws {
    let bench = try scene()
    // The message arrives before the backend evaluates the read, and by then the entity is gone.
    let body = Array(#"{"_id":"x","n":3}"#.utf8)
    let backend = bench.remote.backend
    let x = try backend.replace(body, "x", by: "bob")
    bench.remote.meanwhile = { [unowned bench] in
      bench.remote.meanwhile = {}
      do { try bench.engine.take(.saved(x, id: "x", .update)) } catch { Issue.record(error) }
    }
    _ = backend.delete("x")
    _ = try bench.engine.pull(Query(), Call(), .init(usesChanges: usesChanges))
    #expect(try bench.found().map(\.id).sorted() == ["a", "y", "z"])
  }

  @Test(
    "counts as seen, when it arrives between the count and what was counted",
    arguments: [Read.pages, .comparingPages])
  func early(_ read: Read) throws {
    let bench = try scene()
    let backend = bench.remote.backend
    bench.remote.duringCount = { [unowned bench] in
      bench.remote.duringCount = {}
      do {
        let w = try backend.replace(Array(#"{"_id":"w","n":1}"#.utf8), "w", by: "bob")
        try bench.engine.take(.saved(w, id: "w", .create))
      } catch { Issue.record(error) }
    }
    try read.run(bench)
    #expect(try bench.found().map(\.id).sorted() == ["a", "w", "x", "y", "z"])
  }

  @Test("never replaces what waits to be sent") func pending() throws {
    let bench = try scene()
    try bench.save(["_id": "x", "n": 7])
    let x = try bench.remote.backend.replace(Array(#"{"_id":"x","n":3}"#.utf8), "x", by: "bob")
    try bench.engine.take(.saved(x, id: "x", .update))
    try bench.engine.take(.deleted(id: "x", at: bench.remote.backend.now))
    #expect(try bench.found().first { $0.id == "x" }?["n"] == 7)
  }
}
