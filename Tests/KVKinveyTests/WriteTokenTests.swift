import KVBase
import KVJSON
import KVKinvey
import KVQuery
import KVSync
import KVTestSupport
import Testing

@Suite("The tokens of writes") struct WriteTokenTests {
  private let call: Call = {
    var call = Call()
    call.tokens = [RecordID("a"): "t1", RecordID("b"): "t2"]
    return call
  }()

  private func requests(
    _ writes: [RemoteWrite], announced: Bool = true
  ) throws -> [ScriptedRequest] {
    var requests: [ScriptedRequest] = []
    try withBackend { request in
      ScriptedReply(
        200, headers: announced ? [("X-Kvstored-Write-Tokens", "30")] : [], #"{"count":1}"#)
    } run: { backend in
      _ = try backend.remote.count(Query(), in: "notes", call: Call())
      #expect(backend.remote.keepsTokens == announced)
      _ = backend.remote.outcomes(writes, call)
      requests = Array(backend.server.requests.dropFirst())
    }
    return requests
  }

  @Test(
    "are a header of each write of one entity",
    arguments: [
      RemoteWrite.create(bytes(#"{"_id":"a"}"#)), .update(id: "a", bytes(#"{"_id":"a"}"#)),
      .delete(id: "a", if: .version(RecordVersion("2024-01-02T03:04:05.678Z"))),
    ])
  func single(_ write: RemoteWrite) throws {
    for announced in [true, false] {
      let request = try #require(try requests([write], announced: announced).first)
      #expect(request["X-Kvstored-Write-Token"] == "t1")
    }
  }

  @Test("are a list where several entities are created, if the backend keeps them")
  func many() throws {
    let write = RemoteWrite.createMany([bytes(#"{"_id":"a"}"#), bytes(#"{"_id":"b"}"#)])
    #expect(try requests([write])[0]["X-Kvstored-Write-Token"] == "t1,t2")
    #expect(try requests([write], announced: false)[0]["X-Kvstored-Write-Token"] == nil)
    let unknown = RemoteWrite.createMany([bytes(#"{"_id":"a"}"#), bytes(#"{"_id":"z"}"#)])
    #expect(try requests([unknown])[0]["X-Kvstored-Write-Token"] == "t1,")
  }

  @Test("are a list for a batch, which older servers ignore") func batch() throws {
    let batch = RemoteWrite.batch([
      .create(bytes(#"{"_id":"a"}"#)), .delete(id: "c"), .delete(id: "b"),
    ])
    let request = try requests([batch])[0]
    #expect(request["X-Kvstored-Write-Token"] == "t1,,t2")
    #expect(!request.text.contains("token"))
  }

  @Test("show that a write was carried out whose entity has gone since") func gone() throws {
    try withBackend { _ in
      ScriptedReply(410, #"{"error":"EntityGone","description":"d","debug":""}"#)
    } run: { backend in
      let outcome = backend.remote.outcome(.update(id: "a", bytes(#"{"_id":"a"}"#)))
      #expect(outcome?.failure?.kind == .notFound && outcome?.failure?.wasCarriedOut == true)
    }
  }
}
