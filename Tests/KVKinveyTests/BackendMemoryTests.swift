import KVBase
import KVJSON
import KVKinvey
import KVQuery
import KVSync
import KVTestSupport
import Testing

@Suite("What a client remembers of its backend") struct BackendMemoryTests {
  private static let marks = [(name: "X-Kinvey-Request-Id", value: "1")]
  private static let revision = (name: "ETag", value: "\"2024-01-02T03:04:05.678Z\"")

  /// Runs requests in a client that remembers `text`; gives what it remembers afterwards.
  private func memory(
    _ text: String?, _ reply: ScriptedReply, run body: (Backend) throws -> Void
  ) throws -> String? {
    let noted = Monitor(text)
    let memory = BackendMemory(recall: { noted.withLock { $0 } }) { text in
      noted.withLock { $0 = text }
    }
    try withBackend(memory: memory, { _ in reply }, run: body)
    return noted.withLock { $0 }
  }

  private func update(_ backend: Backend) -> Result<RemoteOutcome, StoreError>? {
    backend.remote.outcome(.update(id: "a", bytes(#"{"_id":"a"}"#)))
  }

  @Test("is what its answers have shown, from one start to the next") func learning() throws {
    let reply = ScriptedReply(200, headers: Self.marks + [Self.revision], #"{"_id":"a"}"#)
    let noted = try memory(nil, reply) { backend in
      #expect(!backend.remote.keepsConditions)
      _ = try update(backend)?.get()
      #expect(backend.remote.keepsConditions)
    }
    #expect(noted == "marks conditions")
    let server = [(name: "X-Kvstored-Batch", value: "100"), ("X-Kvstored-Write-Tokens", "30")]
    let all = try memory(noted, ScriptedReply(200, headers: Self.marks + server, #"{"count":1}"#)) {
      backend in
      #expect(backend.remote.keepsConditions && !backend.remote.keepsTokens)
      _ = try backend.remote.count(Query(), in: "notes", call: Call())
    }
    #expect(all == "marks conditions tokens")
  }

  @Test("is how large an entity may be, until another backend answers in its place")
  func entitySize() throws {
    let headers = Self.marks + [(name: "X-Kvstored-Max-Entity", value: "2048")]
    let noted = try memory(nil, ScriptedReply(200, headers: headers, #"{"count":1}"#)) { backend in
      #expect(backend.remote.limits.bytesPerEntity == nil)
      _ = try backend.remote.count(Query(), in: "notes", call: Call())
      #expect(backend.remote.limits.bytesPerEntity == 2048)
    }
    #expect(noted == "marks entity=2048")
    // A refusal does not repeat it.
    let refusal = ScriptedReply(
      404, headers: Self.marks, #"{"error":"EntityNotFound","description":"","debug":""}"#)
    let kept = try memory(noted, refusal) { backend in
      #expect(backend.remote.limits.bytesPerEntity == 2048)
      _ = try? backend.remote.count(Query(), in: "notes", call: Call())
    }
    #expect(kept == noted)
    let other = ScriptedReply(200, headers: Self.marks, #"{"_id":"a"}"#)
    let forgotten = try memory(noted, other) { backend in
      _ = try update(backend)?.get()
      #expect(backend.remote.limits.bytesPerEntity == nil)
    }
    #expect(forgotten == "marks")
  }

  @Test("is the order by language, which is asked for only where it is the same") func collation()
    throws
  {
    let query = try Query(
      filter: #"{"a":"x"}"#, modifiers: #"{"sort":{"a":1},"collation":"de","limit":5}"#)
    func header(_ version: Int) -> [(name: String, value: String)] {
      Self.marks + [("X-Kvstored-Collation", String(version))]
    }
    var handed = 0
    func find(_ backend: Backend) throws -> ReadAnswer {
      try backend.remote.find(query, in: "notes", call: Call()) { handed += $0.count }
    }
    let server = ScriptedReply(200, headers: header(Query.collationVersion), #"[{"_id":"a"}]"#)
    let noted = try memory(nil, server) { backend in
      #expect(!backend.remote.comparesByLanguage)
      _ = try backend.remote.read()
      #expect(backend.remote.comparesByLanguage)
      _ = try find(backend)
      #expect(handed == 1)
    }
    #expect(noted == "marks collation=\(Query.collationVersion)")
    // Another version of the server has taken its place, or an older one, which refuses the word, or ignores it.
    let refusal = #"{"error":"InvalidQuerySyntax","description":"","debug":""}"#
    for (reply, left) in [
      (ScriptedReply(200, headers: header(7), #"[{"_id":"a"}]"#), "marks collation=7"),
      (ScriptedReply(200, headers: Self.marks, #"[{"_id":"a"}]"#), "marks"),
      (ScriptedReply(400, headers: Self.marks, refusal), "marks"),
    ] {
      let forgotten = try memory(noted, reply) { backend in
        #expect(backend.remote.comparesByLanguage)
        #expect(
          failure { () throws(StoreError) in
            try backend.remote.find(query, in: "notes", call: Call()) { handed += $0.count }
          }?.kind == .unsupported)
        #expect(
          failure { () throws(StoreError) in
            try backend.remote.count(query, in: "notes", call: Call())
          }?.kind == .unsupported)
        #expect(!backend.remote.comparesByLanguage)
      }
      #expect(forgotten == left && handed == 1)
    }
    // What says nothing of it changes nothing: a user without rights, or somebody in between.
    for reply in [ScriptedReply(403, headers: Self.marks, refusal), ScriptedReply(400, "no")] {
      let kept = try memory(noted, reply) { backend in
        #expect(throws: StoreError.self) { try find(backend) }
      }
      #expect(kept == noted)
    }
  }

  @Test("is forgotten when another backend answers in its place") func unlearning() throws {
    let reply = ScriptedReply(200, headers: Self.marks, #"{"_id":"a"}"#)
    let noted = try memory("marks conditions tokens later", reply) { backend in
      #expect(backend.remote.keepsConditions && backend.remote.keepsTokens)
      _ = try update(backend)?.get()
      #expect(!backend.remote.keepsConditions && !backend.remote.keepsTokens)
    }
    #expect(noted == "marks")
  }

  @Test("tells it from others, whose answers have no marks") func strangers() throws {
    for (reply, isList) in [
      (ScriptedReply(204), false), (ScriptedReply(200, #"{"count":3}"#), false),
      (ScriptedReply(200, #"{"_id":"a"}"#), false), (ScriptedReply(200, "[]"), true),
    ] {
      for text in ["marks", nil] as [String?] {
        _ = try memory(text, reply) { backend in
          var errors: [StoreError?] = []
          if isList {
            errors.append(failure { () throws(StoreError) in try backend.remote.read() })
            errors.append(
              failure { () throws(StoreError) in
                try backend.remote.find(ids: ["a"], in: "notes", call: Call()) { _ in }
              })
          } else if reply.status == 204 {
            errors.append(backend.remote.outcome(.delete(id: "a"))?.failure)
            errors.append(
              failure { () throws(StoreError) in
                try backend.remote.remove(Query(), in: "notes", call: Call())
              })
          } else {
            errors.append(update(backend)?.failure)
          }
          let isKnown = text != nil
          for error in errors where isKnown {
            #expect(error?.kind == .proto && error?.isFromStranger == true, "\(reply)")
          }
        }
      }
    }
  }
}
