import KVBase
import KVJSON
import KVQuery
import KVSync
import KVWorlds
import Testing

@Suite("A pull of changes") struct ChangesTests {
  private let wanted = CollectionEngine.Refreshing(usesChanges: true)

  private func pull(_ fixture: TestEngine, _ query: Query = Query()) throws -> PullResult {
    try fixture.engine.pull(query, Call(), how: wanted)
  }

  /// A fixture that has read `a`, `b` and `c` once.
  private func read() throws -> TestEngine {
    let fixture = try TestEngine()
    try fixture.publish(["_id": "a", "n": 1], ["_id": "b", "n": 1], ["_id": "c", "n": 2])
    #expect(try pull(fixture) == PullResult(pulled: 3))
    return fixture
  }

  @Test("asks since the moment of the read before, and stores no more than that") func changes()
    throws
  {
    let fixture = try read()
    var moments: [String] = []
    fixture.remote.changes = { _, since in
      moments.append(since)
      return #"{"changed":[{"_id":"d","n":4}],"deleted":[{"_id":"a"},{"_id":"x"}]}"#
    }
    #expect(try pull(fixture) == PullResult(pulled: 1, removed: 1))
    #expect(try fixture.local("_id") == [#""b""#, #""c""#, #""d""#])
    _ = try pull(fixture)
    #expect(moments == ["2024-03-12T21:00:00.000Z", "2024-03-12T22:00:00.000Z"])
    #expect(fixture.remote.queries.count == 1)
  }

  @Test("is not used unless asked for, nor for pages, nor for a filter that was not read before")
  func preconditions() throws {
    let fixture = try read()
    fixture.remote.changes = { _, _ in
      Issue.record("asked for changes")
      return nil
    }
    _ = try fixture.engine.pull(Query(), Call())
    _ = try pull(fixture, Query(filter: nil, modifiers: #"{"limit":2}"#))
    _ = try pull(fixture, Query(filter: #"{"n":1}"#))
    // A page has left the record as it was.
    var isAsked = false
    fixture.remote.changes = { _, _ in
      isAsked = true
      return #"{"changed":[],"deleted":[]}"#
    }
    #expect(try pull(fixture) == PullResult())
    #expect(isAsked)
  }

  @Test("reads everything if the backend cannot tell") func fallback() throws {
    let fixture = try read()
    _ = fixture.remote.backend.delete("a")
    #expect(try pull(fixture) == PullResult(pulled: 2, removed: 1))
    // The record of that read counts again.
    fixture.remote.changes = { _, _ in #"{"changed":[],"deleted":[]}"# }
    #expect(try pull(fixture) == PullResult())
  }

  @Test(
    "reads everything if the backend has other data than it had, or does not say which",
    arguments: [("one", "other"), ("one", nil), (nil, "one")] as [(String?, String?)])
  func otherData(before: String?, now: String?) throws {
    let fixture = try TestEngine()
    fixture.remote.epoch = before
    try fixture.publish(["_id": "a"], ["_id": "b"])
    #expect(try pull(fixture).pulled == 2)
    fixture.remote.epoch = now
    fixture.remote.changes = { _, _ in #"{"changed":[{"_id":"c"}],"deleted":[]}"# }
    _ = fixture.remote.backend.delete("a")
    #expect(try pull(fixture) == PullResult(pulled: 1, removed: 1))
    // The backend has the new data from now on.
    #expect(try pull(fixture) == PullResult(pulled: 1))
    #expect(try fixture.local("_id") == [#""b""#, #""c""#])
  }

  @Test("an error is an error, and the next one asks for the same changes") func failing() throws {
    let fixture = try read()
    fixture.remote.readError = ScriptedRemote.error(.server, 500)
    #expect(failure { _ = try pull(fixture) }?.kind == .server)
    fixture.remote.readError = nil
    var since = ""
    fixture.remote.changes = { _, moment in
      since = moment
      return #"{"changed":[],"deleted":[]}"#
    }
    _ = try pull(fixture)
    #expect(since == "2024-03-12T21:00:00.000Z")
  }

  @Test("what was deleted and made again is there") func madeAgain() throws {
    let fixture = try read()
    fixture.remote.changes = { _, _ in #"{"deleted":[{"_id":"a"}],"changed":[{"_id":"a","n":9}]}"# }
    #expect(try pull(fixture) == PullResult(pulled: 1))
    #expect(try fixture.local("n") == ["1", "2", "9"])
  }

  @Test(
    "takes nothing from an answer that is none",
    arguments: [
      "", #"{"changed":[{"n":1}],"deleted":[]}"#, #"{"changed":{},"deleted":[]}"#,
    ]
  ) func lies(_ answer: String) throws {
    let fixture = try read()
    fixture.remote.changes = { _, _ in answer }
    #expect(failure { _ = try pull(fixture) }?.kind == .proto)
    #expect(try fixture.local("_id").count == 3)
  }

  @Test("does not bring back what was pushed meanwhile") func pushedMeanwhile() throws {
    let fixture = try read()
    fixture.remote.changes = { _, _ in #"{"changed":[{"_id":"a","n":5}],"deleted":[{"_id":"b"}]}"# }
    fixture.remote.meanwhile = {
      fixture.remote.meanwhile = {}
      for id in ["a", "b"] { _ = try? fixture.save(["_id": .string(id), "n": 7]) }
      _ = try? fixture.engine.push(Call())
    }
    _ = try pull(fixture)
    #expect(try fixture.local("n") == ["2", "7", "7"])
  }

  // MARK: What does not match any more

  @Test("what has left the query goes, unless another query holds it") func left() throws {
    let fixture = try TestEngine()
    try fixture.publish(["_id": "a", "n": 1], ["_id": "b", "n": 1])
    let ones = try Query(filter: #"{"n":1}"#)
    let twos = try Query(filter: #"{"n":2}"#)
    _ = try pull(fixture, ones)
    _ = try pull(fixture, twos)
    try fixture.publish(["_id": "a", "n": 2], ["_id": "b", "n": 3])
    fixture.remote.changes = { _, _ in
      #"{"changed":[],"deleted":[],"left":[{"_id":"a"},{"_id":"b"}]}"#
    }
    #expect(try pull(fixture, ones) == PullResult(removed: 1))
    #expect(try fixture.local("n") == ["2"])
  }

  // MARK: What makes the record worthless

  @Test("after a purge, a drop or a clear everything is read again") func forgotten() throws {
    let fixture = try read()
    fixture.remote.changes = { _, _ in
      Issue.record("asked for changes")
      return nil
    }
    try fixture.save(["_id": "a", "n": 8])
    #expect(try fixture.engine.purge(nil) == 1)
    #expect(try pull(fixture).pulled == 3)
    _ = try fixture.engine.remove(id: "a", options: fixture.options())
    try fixture.engine.dropPending("a")
    #expect(try pull(fixture).pulled == 3)
    #expect(try fixture.local("n") == ["1", "1", "2"])
    _ = try fixture.engine.clear(nil)
    #expect(try pull(fixture).pulled == 3)
  }
}
