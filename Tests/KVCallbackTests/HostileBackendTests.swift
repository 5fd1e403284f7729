import KVBase
import KVCallback
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

@Suite("A hostile backend of callbacks") struct HostileBackendTests {
  private func call(seconds: Double) -> Call { Call(deadline: .after(seconds: seconds)) }

  @Test("that never completes costs the call's time, and is told that nobody waits") func silence()
    throws
  {
    let fixture = try TestEngine()
    fixture.backend.intercept { _, _, _ in true }
    #expect(failure { try fixture.engine.pull(Query(), call(seconds: 0.05)) }?.kind == .timeout)
    try fixture.save(["_id": "a"])
    #expect(failure { try fixture.engine.push(call(seconds: 0.05)) }?.kind == .timeout)
    #expect(fixture.backend.state.withLock { $0.cancelled.count } == 2)
    #expect(try fixture.engine.pendingCount() == 1)
  }

  @Test("is told of a cancelled call at once") func cancellation() throws {
    let fixture = try TestEngine()
    let call = Call()
    fixture.backend.intercept { _, _, _ in
      call.cancellation.cancel()
      return true
    }
    #expect(failure { try fixture.engine.pull(Query(), call) }?.kind == .cancelled)
    #expect(fixture.backend.state.withLock { $0.cancelled.count } == 1)
  }

  @Test("that completes twice, too late, or what never was, is told so") func twice() throws {
    let fixture = try TestEngine()
    let numbers = Monitor<[UInt64]>([])
    fixture.backend.intercept { _, number, _ in
      numbers.withLock { $0.append(number) }
      #expect(complete(number, #"{"records":[]}"#) == .accepted)
      #expect(complete(number, #"{"records":[{"_id":"x"}]}"#) == .unknown)
      return true
    }
    _ = try fixture.engine.pull(Query(), Call())
    #expect(try fixture.found() == [])
    #expect(complete(numbers.withLock { $0[0] }, "{}") == .unknown)
    #expect(complete(0, "{}") == .unknown)
    #expect(complete(.max, "{}") == .unknown)
  }

  @Test("may complete from another thread") func otherThread() throws {
    let fixture = try TestEngine()
    fixture.backend.put(["_id": "a", "n": 1])
    let backend = fixture.backend
    backend.intercept { [unowned backend] operation, number, request in
      Worker("completes") { [unowned backend] in
        _ = complete(number, backend.answer(operation, request).text)
      } != nil
    }
    _ = try fixture.engine.pull(Query(), Call())
    #expect(try fixture.found() == ["1"])
  }

  @Test(
    "that reads nonsense to us changes nothing here",
    arguments: [
      "", "x", "null", "[]", "{}", "{\"records\":1}", "{\"records\":[1]}", "{\"records\":[{}]}",
      "{\"records\":[],\"records\":[]}", "{\"records\":[{\"_id\":\"a\"}]}x",
      "{\"records\":[{\"_id\":3}]}",
      "{\"records\":[],\"token\":5}", "\u{0}", "{\"records\":[{\"_id\":\"a\"]}",
    ])
  func garbage(_ answer: String) throws {
    let fixture = try TestEngine()
    fixture.backend.put(["_id": "kept", "n": 1])
    _ = try fixture.engine.pull(Query(), Call())
    fixture.backend.intercept { _, number, _ in complete(number, answer) == .accepted }
    #expect(failure { try fixture.engine.pull(Query(), Call()) }?.kind == .proto)
    #expect(try fixture.found() == ["1"])
  }

  @Test(
    "that answers writes with nonsense loses none",
    arguments: [
      "", "{}", "{\"results\":{}}", "{\"results\":[]}", "{\"results\":[{}]}", "{\"results\":[1]}",
      "{\"results\":[{\"stored\":1}]}", "{\"results\":[{\"stored\":{}}]}",
      "{\"results\":[{\"deleted\":true}]}",
      "{\"results\":[{\"stored\":{\"_id\":\"b\"}}]}", "{\"results\":[{\"refused\":1}]}",
      "{\"results\":[{\"refused\":{\"status\":20}}]}",
      "{\"results\":[{\"conflict\":7}]}", "{\"results\":[{\"conflict\":{}}]}",
      "{\"results\":[{\"conflict\":{\"_id\":\"b\"}}]}", "{\"results\":[{\"deleted\":null}]}",
      "{\"results\":[{\"later\":{\"after\":\"soon\"}}]}",
      "{\"results\":[{\"stored\":{\"_id\":\"a\"}},{\"stored\":{\"_id\":\"a\"}}]}",
    ])
  func writeGarbage(_ answer: String) throws {
    let fixture = try TestEngine()
    try fixture.save(["_id": "a", "n": 1])
    let backend = fixture.backend
    backend.intercept { operation, number, _ in
      operation == .write && complete(number, answer) == .accepted
    }
    let result = try? fixture.engine.push(Call())
    #expect(result == nil || result?.errors.first?.kind == .proto)
    #expect(try fixture.engine.pending("a").write.state == .waiting)
    backend.intercept { _, _, _ in false }
    #expect(try fixture.engine.push(Call()).pushed == 1)
  }

  @Test("that answers for some of the writes only leaves the others undecided") func partial()
    throws
  {
    let fixture = try TestEngine()
    for id in ["a", "b", "c"] { try fixture.save(["_id": .string(id)]) }
    fixture.backend.intercept { operation, number, request in
      guard operation == .write, let first = request["writes"]?.arrayValue?.first else {
        return false
      }
      let results: JSONValue = ["results": [["stored": first["record"] ?? .null]]]
      return complete(number, results.text) == .accepted
    }
    let result = try fixture.engine.push(Call())
    #expect(result.pushed == 1 && result.errors.count == 2)
    #expect(try fixture.engine.pendingCount() == 2)
  }

  @Test("that sends the same page again and again is stopped") func samePage() throws {
    let fixture = try TestEngine()
    fixture.backend.intercept { _, number, _ in
      complete(number, #"{"records":[{"_id":"a"}],"next":"again"}"#) == .accepted
    }
    #expect(failure { try fixture.engine.pull(Query(), Call()) }?.kind == .proto)
  }

  @Test("that answers more than it may is stopped") func tooLarge() throws {
    let fixture = try TestEngine(MemoryBackend(), ["maxAnswerBytes": 100])
    fixture.backend.intercept { _, number, _ in
      complete(number, String(repeating: " ", count: 101)) == .tooLarge
    }
    #expect(failure { try fixture.engine.pull(Query(), Call()) }?.kind == .tooLarge)
  }

  @Test("that calls back into the store it serves gets an answer") func reentrance() throws {
    let fixture = try TestEngine()
    fixture.backend.put(["_id": "b", "n": 2])
    try fixture.save(["_id": "a", "n": 1])
    nonisolated(unsafe) unowned let again = fixture
    fixture.backend.intercept { operation, _, _ in
      #expect((try? again.found(#"{"_id":"a"}"#)) == ["1"])
      #expect((try? again.save(["_id": "a", "n": 3])) != nil)
      return false
    }
    #expect(try fixture.engine.push(Call()).pushed == 1)
    #expect(try fixture.engine.pendingCount() == 1)
    fixture.backend.intercept { _, _, _ in
      #expect((try? again.found()) == ["3"])
      return false
    }
    _ = try fixture.engine.sync(Query(), Call())
    #expect(try fixture.found(nil, #"{"sort":{"n":1}}"#) == ["2", "3"])
  }

  @Test(
    "whose requests fail as a whole: what passes is tried again, what is refused for good is set aside",
    arguments: [
      (20, StoreError.Kind.network, true), (21, .timeout, true), (23, .server, true),
      (33, .server, true),
      (22, .server, true), (11, .invalid, false), (16, .forbidden, false), (25, .tooLarge, false),
      (0x7FFF, .proto, true), (1, .proto, true),
    ])
  func failures(_ status: Int, kind: StoreError.Kind, passes: Bool) throws {
    let fixture = try TestEngine()
    try fixture.save(["_id": "a"])
    fixture.backend.intercept { operation, number, _ in
      let error = StoreError(hostStatus: Int32(status), Array(#"{"message":"So."}"#.utf8))
      return operation == .write && PendingRequests.complete(number, failing: error) == .accepted
    }
    do throws(StoreError) {
      #expect(try fixture.engine.push(Call()).errors.first?.kind == kind)
    } catch {
      #expect(error.kind == kind)
    }
    #expect(try fixture.engine.pending("a").write.state == (passes ? .waiting : .refused))
  }
}
