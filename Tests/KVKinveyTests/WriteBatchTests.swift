import KVJSON
import KVKinvey
import KVQuery
import KVSync
import KVTestSupport
import Testing

@Suite("Many writes in one request") struct WriteBatchTests {
  private static let announcement = [(name: "X-Kvstored-Batch", value: "100")]
  private let writes: [RemoteWrite] = [
    .create(bytes(#"{"_id":"a"}"#)),
    .update(
      id: "b\"", bytes(#"{"_id":"b\"","n":1}"#),
      if: .version(RecordVersion("2024-01-02T03:04:05.678Z"))),
    .update(id: "c", bytes(#"{"_id":"c"}"#), if: .isMissing),
    .update(id: "d", bytes(#"{"_id":"d"}"#)),
    .delete(id: "e", if: .version(RecordVersion("2024-01-02T03:04:05.678Z"))),
  ]

  private func results(_ status: Int, _ body: String) throws -> [Result<RemoteOutcome, StoreError>]
  {
    var outcome: Result<RemoteOutcome, StoreError>?
    try withBackend { _ in
      ScriptedReply(status, body)
    } run: { backend in
      outcome = backend.remote.outcome(.batch(writes))
      let request = try backend.request
      #expect(request.method == "POST" && request.target == "/appdata/kid_x1/notes/_batch")
      #expect(
        request.text == """
          [{"method":"POST","entity":{"_id":"a"}},\
          {"method":"PUT","id":"b\\"","ifMatch":"2024-01-02T03:04:05.678Z","entity":{"_id":"b\\"","n":1}},\
          {"method":"PUT","id":"c","ifNoneMatch":"*","entity":{"_id":"c"}},\
          {"method":"PUT","id":"d","entity":{"_id":"d"}},\
          {"method":"DELETE","id":"e","ifMatch":"2024-01-02T03:04:05.678Z"}]
          """)
    }
    switch outcome {
    case .success(.batch(let results)): return results
    case .failure(let error): throw error
    default: return []
    }
  }

  @Test("Each has what a request of its own would have had")
  func each() throws {
    let results = try results(
      200,
      """
      [{"status":201,"entity":{"_id":"a","x":1}},
       {"status":409,"error":"StaleRequest","description":"d","debug":"g"},
       {"status":201,"entity":{"_id":"c"}}, {"status":401,"error":"InsufficientCredentials","description":"","debug":""},
       {"status":404,"error":"EntityNotFound","description":"","debug":""}]
      """)
    #expect(results.count == 5)
    #expect(try results[0].get() == .stored(bytes(#"{"_id":"a","x":1}"#)))
    #expect(results[1].failure?.kind == .conflict && results[1].failure?.answer?.status == 409)
    #expect(results[1].failure?.answer?.debug == "g")
    #expect(try results[2].get() == .stored(bytes(#"{"_id":"c"}"#)))
    #expect(results[3].failure?.kind == .forbidden)
    #expect(try results[4].get() == .deleted(0))
  }

  @Test(
    "A backend that lies gets nothing marked as done",
    arguments: [
      "[]", "[null,1,\"x\",{},[]]", #"[{"status":200},{"status":200},{},{},{"status":200}]"#,
      #"[{"status":201,"entity":{"_id":"x"}},{"status":200,"entity":{}},{"status":200,"entity":1}]"#,
      #"[{"entity":{"_id":"a"}},{"status":"200","entity":{"_id":"b\""}},{"status":99},{"status":1e9}]"#,
    ])
  func lies(body: String) throws {
    let results = try results(200, body)
    #expect(results.count == 5)
    for result in results { #expect(result.failure?.kind == .proto) }
  }

  @Test("What is no result fails as a whole", arguments: ["", "{}", "5", "<html>", "[{}"])
  func noResult(body: String) throws {
    #expect(failure { () throws(StoreError) in try outcomes(200, body) }?.kind == .proto)
  }

  private func outcomes(_ status: Int, _ body: String) throws(StoreError) {
    do { _ = try results(status, body) } catch let error as StoreError { throw error } catch {
      throw StoreError(.internal, "\(error)")
    }
  }

  @Test("They are known from any answer that announces them, and conditions with them")
  func announced() throws {
    try withBackend { request in
      ScriptedReply(
        200, headers: request.target.contains("other") ? [] : Self.announcement, #"{"count":1}"#)
    } run: { backend in
      let remote = backend.remote
      _ = try remote.count(Query(), in: "other", call: Call())
      #expect(remote.limits.writesPerBatch == 1 && !remote.keepsConditions)
      _ = try remote.count(Query(), in: "notes", call: Call())
      #expect(remote.limits.writesPerBatch == 100 && remote.keepsConditions)
    }
  }

  @Test(
    "Where they are refused as such none is tried again",
    arguments: [(404, "NotFound"), (405, "MethodNotAllowed"), (501, "Whatever")])
  func refused(status: Int, code: String) throws {
    try withBackend { request in
      request.target.hasSuffix("_batch")
        ? ScriptedReply(
          status, headers: Self.announcement, #"{"error":"\#(code)","description":"","debug":""}"#)
        : ScriptedReply(200, headers: Self.announcement, #"{"count":1}"#)
    } run: { backend in
      let remote = backend.remote
      _ = try remote.count(Query(), in: "notes", call: Call())
      #expect(remote.outcome(.batch(writes))?.failure?.kind == .unsupported)
      #expect(remote.limits.writesPerBatch == 1)
      _ = try remote.count(Query(), in: "notes", call: Call())
      #expect(remote.limits.writesPerBatch == 1)
    }
  }

  @Test("Another failure says nothing about the next one", arguments: [500, 503, 413])
  func failed(status: Int) throws {
    try withBackend { request in
      ScriptedReply(
        request.target.hasSuffix("_batch") ? status : 200, headers: Self.announcement,
        #"{"count":1}"#)
    } run: { backend in
      let remote = backend.remote
      _ = try remote.count(Query(), in: "notes", call: Call())
      #expect(remote.outcome(.batch(writes))?.failure != nil)
      #expect(remote.limits.writesPerBatch == 100)
    }
  }
}
