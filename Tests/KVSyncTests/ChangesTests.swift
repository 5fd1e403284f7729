import KVBase
import KVJSON
import KVQuery
import KVSync
import Testing

@Suite("A pull of changes") struct ChangesTests {
  private let wanted = CollectionEngine.Refreshing(usesChanges: true)

  private func pull(_ bench: TestEngine, _ query: Query = Query()) throws -> PullResult {
    try bench.engine.pull(query, Call(), wanted)
  }

  /// A bench that has read `a`, `b` and `c` once.
  private func read() throws -> TestEngine {
    let bench = try TestEngine()
    try bench.publish(["_id": "a", "n": 1], ["_id": "b", "n": 1], ["_id": "c", "n": 2])
    #expect(try pull(bench) == PullResult(pulled: 3))
    return bench
  }

  @Test("asks since the moment of the read before, and stores no more than that") func changes()
    throws
  {
    let bench = try read()
    var moments: [String] = []
    bench.remote.changes = { _, since in
      moments.append(since)
      return #"{"changed":[{"_id":"d","n":4}],"deleted":[{"_id":"a"},{"_id":"x"}]}"#
    }
    #expect(try pull(bench) == PullResult(pulled: 1, removed: 1))
    #expect(try bench.local("_id") == [#""b""#, #""c""#, #""d""#])
    _ = try pull(bench)
    #expect(moments == ["2024-03-12T21:00:00.000Z", "2024-03-12T22:00:00.000Z"])
    #expect(bench.remote.queries.count == 1)
  }

  @Test("is not used unless asked for, nor for pages, nor for a filter that was not read before")
  func preconditions() throws {
    let bench = try read()
    bench.remote.changes = { _, _ in
      Issue.record("asked for changes")
      return nil
    }
    _ = try bench.engine.pull(Query(), Call())
    _ = try pull(bench, Query(filter: nil, modifiers: #"{"limit":2}"#))
    _ = try pull(bench, Query(filter: #"{"n":1}"#))
    // A page has left the record as it was.
    var isAsked = false
    bench.remote.changes = { _, _ in
      isAsked = true
      return #"{"changed":[],"deleted":[]}"#
    }
    #expect(try pull(bench) == PullResult())
    #expect(isAsked)
  }

  @Test("reads everything if the backend cannot tell") func fallback() throws {
    let bench = try read()
    _ = bench.remote.backend.delete("a")
    #expect(try pull(bench) == PullResult(pulled: 2, removed: 1))
    // The record of that read counts again.
    bench.remote.changes = { _, _ in #"{"changed":[],"deleted":[]}"# }
    #expect(try pull(bench) == PullResult())
  }

  @Test(
    "reads everything if the backend has other data than it had, or does not say which",
    arguments: [("one", "other"), ("one", nil), (nil, "one")] as [(String?, String?)])
  func otherData(before: String?, now: String?) throws {
    let bench = try TestEngine()
    bench.remote.epoch = before
    try bench.publish(["_id": "a"], ["_id": "b"])
    #expect(try pull(bench).pulled == 2)
    bench.remote.epoch = now
    bench.remote.changes = { _, _ in #"{"changed":[{"_id":"c"}],"deleted":[]}"# }
    _ = bench.remote.backend.delete("a")
    #expect(try pull(bench) == PullResult(pulled: 1, removed: 1))
    // From now on that is the data.
    #expect(try pull(bench) == PullResult(pulled: 1))
    #expect(try bench.local("_id") == [#""b""#, #""c""#])
  }

  @Test("an error is an error, and the next one asks for the same changes") func failing() throws {
    let bench = try read()
    bench.remote.readError = ScriptedRemote.error(.server, 500)
    #expect(failure { _ = try pull(bench) }?.kind == .server)
    bench.remote.readError = nil
    var since = ""
    bench.remote.changes = { _, moment in
      since = moment
      return #"{"changed":[],"deleted":[]}"#
    }
    _ = try pull(bench)
    #expect(since == "2024-03-12T21:00:00.000Z")
  }

  @Test("what was deleted and made again is there") func madeAgain() throws {
    let bench = try read()
    bench.remote.changes = { _, _ in #"{"deleted":[{"_id":"a"}],"changed":[{"_id":"a","n":9}]}"# }
    #expect(try pull(bench) == PullResult(pulled: 1))
    #expect(try bench.local("n") == ["1", "2", "9"])
  }

  @Test(
    "takes nothing from an answer that is none",
    arguments: [
      "", #"{"changed":[{"n":1}],"deleted":[]}"#, #"{"changed":{},"deleted":[]}"#,
    ]
  ) func lies(_ answer: String) throws {
    let bench = try read()
    bench.remote.changes = { _, _ in answer }
    #expect(failure { _ = try pull(bench) }?.kind == .proto)
    #expect(try bench.local("_id").count == 3)
  }

  @Test("does not bring back what was pushed meanwhile") func pushedMeanwhile() throws {
    let bench = try read()
    bench.remote.changes = { _, _ in #"{"changed":[{"_id":"a","n":5}],"deleted":[{"_id":"b"}]}"# }
    bench.remote.meanwhile = {
      bench.remote.meanwhile = {}
      for id in ["a", "b"] { _ = try? bench.save(["_id": .string(id), "n": 7]) }
      _ = try? bench.engine.push(Call())
    }
    _ = try pull(bench)
    #expect(try bench.local("n") == ["2", "7", "7"])
  }

  // MARK: What does not match any more

  @Test("what has left the query goes, unless another query holds it") func left() throws {
    let bench = try TestEngine()
    try bench.publish(["_id": "a", "n": 1], ["_id": "b", "n": 1])
    let ones = try Query(filter: #"{"n":1}"#)
    let twos = try Query(filter: #"{"n":2}"#)
    _ = try pull(bench, ones)
    _ = try pull(bench, twos)
    try bench.publish(["_id": "a", "n": 2], ["_id": "b", "n": 3])
    bench.remote.changes = { _, _ in
      #"{"changed":[],"deleted":[],"left":[{"_id":"a"},{"_id":"b"}]}"#
    }
    #expect(try pull(bench, ones) == PullResult(removed: 1))
    #expect(try bench.local("n") == ["2"])
  }

  // MARK: What makes the record worthless

  @Test("after a purge, a drop or a clear everything is read again") func forgotten() throws {
    let bench = try read()
    bench.remote.changes = { _, _ in
      Issue.record("asked for changes")
      return nil
    }
    try bench.save(["_id": "a", "n": 8])
    #expect(try bench.engine.purge(nil) == 1)
    #expect(try pull(bench).pulled == 3)
    _ = try bench.engine.remove(id: "a", bench.options())
    try bench.engine.dropPending("a")
    #expect(try pull(bench).pulled == 3)
    #expect(try bench.local("n") == ["1", "1", "2"])
    _ = try bench.engine.clear(nil)
    #expect(try pull(bench).pulled == 3)
  }
}
