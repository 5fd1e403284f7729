import KVBase
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import KVWorlds
import Testing

/// The backend of these tests keeps conditions, but no tokens: what has become of a write shows in what is stored.
@Suite("A write past the queue whose answer was lost") struct LostDirectAnswerTests {
  private let one: WriteCondition

  init() throws { one = .matches(try Query(filter: #"{"n":1}"#)) }

  /// A network store whose backend has x, and loses the answer to the first write.
  private func scene(_ meanwhile: @escaping @Sendable () -> Void = {}) throws -> (
    TestEngine, CallOptions
  ) {
    let fixture = try TestEngine(.network)
    try fixture.publish(["_id": "x", "n": 1], by: "ana")
    var isFirst = true
    fixture.remote.losesAnswer = { _ in
      defer { isFirst = false }
      return isFirst
    }
    var options = fixture.options()
    options.call.retry = Retry(limit: 2, clock: FakeRetryClock(meanwhile: meanwhile))
    return (fixture, options)
  }

  private func increment(_ fixture: TestEngine, _ options: CallOptions) throws -> UpdateResult {
    try fixture.engine.update(
      Query(filter: #"{"_id":"x"}"#), EntityUpdate(#"{"$inc":{"n":1}}"#), options: options
    ).value
  }

  private func save(
    _ entity: JSONObject, if condition: WriteCondition, in fixture: TestEngine,
    _ options: CallOptions
  ) throws -> JSONValue {
    let bytes = JSONValue.object(entity).bytes
    let outline = try EntityScanner.outline(of: bytes)
    let saved = try bytes.withUnsafeBytes {
      try fixture.engine.save($0, outline, if: condition, options: options).value
    }
    return try JSONValue(parsing: saved)
  }

  @Test("increments once") func increment() throws {
    let (fixture, options) = try scene()
    #expect(try increment(fixture, options).modified == ["x"])
    #expect(fixture.backendValue("x", "n") == 2)
    #expect(fixture.remote.requests.count == 2)
  }

  @Test("increments what others have made of it meanwhile") func others() throws {
    let backend = Monitor<TestEngine?>(nil)
    let (fixture, options) = try scene {
      try? backend.withLock { $0 }?.publish(["_id": "x", "n": 7])
    }
    backend.withLock { $0 = fixture }
    defer { backend.withLock { $0 = nil } }
    // Whether its own increment was among what was replaced cannot be told.
    #expect(try increment(fixture, options).modified == ["x"])
    #expect(fixture.backendValue("x", "n") == 8)
  }

  @Test("saves on a condition") func conditionalSave() throws {
    let (fixture, options) = try scene()
    let saved = try save(["_id": "x", "n": 2], if: one, in: fixture, options)
    #expect(saved["n"] == 2)
    #expect(fixture.backendValue("x", "n") == 2)
  }

  @Test("removes on a condition") func conditionalRemoval() throws {
    let (fixture, options) = try scene()
    _ = try fixture.engine.remove(id: "x", if: one, options: options)
    #expect(fixture.remote.backend.ids.isEmpty)
  }

  @Test("is a conflict where others were faster") func conflict() throws {
    let backend = Monitor<TestEngine?>(nil)
    let (fixture, options) = try scene {
      try? backend.withLock { $0 }?.publish(["_id": "x", "n": 7])
    }
    backend.withLock { $0 = fixture }
    defer { backend.withLock { $0 = nil } }
    let error = failure { _ = try save(["_id": "x", "n": 2], if: one, in: fixture, options) }
    #expect(error?.kind == .conflict)
    #expect(fixture.backendValue("x", "n") == 7)
  }

  @Test("is others' work where nothing was lost, though it looks the same") func refused() throws {
    let (fixture, options) = try scene()
    fixture.remote.losesAnswer = { _ in false }
    var isFirst = true
    fixture.remote.refusal = { [unowned fixture] _ in
      defer { isFirst = false }
      if isFirst { try? fixture.publish(["_id": "x", "n": 2]) }
      return nil
    }
    #expect(try increment(fixture, options).modified == ["x"])
    #expect(fixture.backendValue("x", "n") == 3)
  }
}
