import KVBase
import KVJSON
import KVQuery
import KVSync
import Testing

@Suite("Entities that were stored long ago") struct TimeToLiveTests {
  /// Seconds that the engine's clock is ahead.
  private let ahead = Monitor<Int64>(0)

  private func fixture() throws -> TestEngine {
    let ahead = ahead
    let fixture = try TestEngine {
      Timestamp(milliseconds: Timestamp.now().milliseconds + ahead.withLock { $0 } * 1000)
    }
    try fixture.publish(["_id": "a", "n": 1], ["_id": "b", "n": 2], ["_id": "c", "n": 3])
    return fixture
  }

  private func shown(_ fixture: TestEngine) throws -> Int {
    let options = fixture.options(ttl: 60)
    let count = try fixture.engine.count(Query(), options).value
    #expect(try TestEngine.all(fixture.engine.find(Query(), options).value).count == count)
    return count
  }

  @Test("are fresh once the backend has said that nothing of them has changed") func confirmed()
    throws
  {
    let fixture = try fixture()
    var how = CollectionEngine.Refreshing(usesChanges: true)
    how.confirmsUnchanged = true
    #expect(try fixture.engine.pull(Query(), Call(), how: how) == PullResult(pulled: 3))
    #expect(try shown(fixture) == 3)
    ahead.withLock { $0 = 100 }
    #expect(try shown(fixture) == 0)
    fixture.remote.changes = { _, _ in #"{"changed":[],"deleted":[]}"# }
    #expect(try fixture.engine.pull(Query(), Call(), how: how) == PullResult())
    #expect(try shown(fixture) == 3)
  }

  @Test("are fresh if they match what was asked for, and no others") func partlyConfirmed() throws {
    let fixture = try fixture()
    var how = CollectionEngine.Refreshing(usesChanges: true)
    how.confirmsUnchanged = true
    _ = try fixture.engine.pull(Query(), Call())
    let some = try Query(filter: #"{"n":{"$gt":1}}"#)
    _ = try fixture.engine.pull(some, Call(), how: how)
    ahead.withLock { $0 = 100 }
    fixture.remote.changes = { _, _ in #"{"changed":[],"deleted":[]}"# }
    _ = try fixture.engine.pull(some, Call(), how: how)
    #expect(try shown(fixture) == 2)
  }

  @Test("are not reached by updates and removals by a query, as finds do not see them")
  func writes() throws {
    let fixture = try fixture()
    _ = try fixture.engine.pull(Query(), Call())
    ahead.withLock { $0 = 100 }
    let options = fixture.options(ttl: 60)
    let update = try EntityUpdate(#"{"$set":{"n":9}}"#)
    #expect(try fixture.engine.update(Query(), update, options: options).value.matched == 0)
    #expect(try fixture.engine.remove(Query(), options).value == 0)
    #expect(try fixture.engine.remove(Query(), fixture.options()).value == 3)
  }
}
