import KVBase
import KVJSON
import KVSync
import KVWorlds
import Testing

@Suite("Saves past the queue that keep what the program does not know") struct CompletingTests {
  private let fixture: TestEngine

  init() throws {
    fixture = try TestEngine(.network)
    fixture.known = KnownMembers(["_id": true, "n": true])
    try fixture.publish(["_id": "a", "n": 1, "more": 1], ["_id": "b", "n": 1, "more": 1])
  }

  /// Somebody else saves between the read and the write, so often.
  private func overtake(_ times: Int, _ change: @escaping (FakeBackend) throws -> Void) {
    var left = times
    fixture.remote.meanwhile = { [unowned remote = fixture.remote] in
      guard left > 0 else { return }
      left -= 1
      try? change(remote.backend)
    }
  }

  @Test("one that is overtaken reads again") func overtaken() throws {
    overtake(1) { _ = try $0.replace(Array(#"{"_id":"a","n":5,"more":2}"#.utf8), "a", by: "bob") }
    try fixture.save(["_id": "a", "n": 2])
    #expect(fixture.backendValue("a", "n") == 2 && fixture.backendValue("a", "more") == 2)
  }

  @Test("what is deleted meanwhile is made again") func deleted() throws {
    overtake(1) { _ = $0.delete("a") }
    try fixture.save(["_id": "a", "n": 2])
    #expect(fixture.backendValue("a", "n") == 2 && fixture.backendValue("a", "more") == nil)
  }

  @Test("one that is always overtaken is a conflict") func alwaysOvertaken() throws {
    overtake(100) { _ = try $0.replace(Array(#"{"_id":"a","n":5,"more":2}"#.utf8), "a", by: "bob") }
    #expect(failure { try fixture.save(["_id": "a", "n": 2]) }?.kind == .conflict)
    #expect(fixture.remote.requests.count == 5)
  }

  @Test("what cannot be read is not written") func unreadable() throws {
    fixture.remote.readError = ScriptedRemote.error(.server, 500)
    #expect(failure { try fixture.save(["_id": "a", "n": 2]) }?.kind == .server)
    #expect(fixture.remote.requests.isEmpty && fixture.backendValue("a", "n") == 1)
  }

  @Test("what is new is not read first") func new() throws {
    try fixture.save(["n": 2])
    #expect(fixture.remote.queries.isEmpty)
  }
}
