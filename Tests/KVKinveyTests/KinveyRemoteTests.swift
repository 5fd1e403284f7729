import KVBase
import KVJSON
import KVKinvey
import KVQuery
import KVSync
import KVTestSupport
import Testing

@Suite("Data operations on the wire") struct KinveyRemoteTests {
  private static let start = "2024-03-12T21:00:01.120Z"

  // MARK: Reading

  @Test(
    "A find streams the array and knows when the backend began",
    arguments: ["X-Kinvey-Request-Start", "x-kinvey-request-start"])
  func find(header: String) throws {
    let body = "[" + (0..<20_000).map { #"{"_id":"\#($0)"}"# }.joined(separator: ",") + "]"
    try withBackend { _ in
      ScriptedReply(200, headers: [(header, Self.start)], body)
    } run: { backend in
      let progress = Progress()
      let result = try backend.remote.read(.init(), Call(progress: progress))
      #expect(result.text == body)
      #expect(result.answer.startedAt == BackendMoment(Self.start))
      #expect(progress.snapshot.bytesDone == UInt64(body.utf8.count))
      #expect(progress.snapshot.bytesTotal == UInt64(body.utf8.count))
      let request = try backend.request
      #expect(request.method == "GET")
      #expect(request.target == "/appdata/kid_x1/notes")
      #expect(request.body.isEmpty)
    }
  }

  @Test("A find whose count is refused is answered without it")
  func uncounted() throws {
    try withBackend { request in
      request["X-Kinvey-Include-Items-Count"] != nil
        ? ScriptedReply(400, #"{"error":"FeatureUnavailable","description":"","debug":""}"#)
        : ScriptedReply(200, #"[{"_id":"a"}]"#)
    } run: { backend in
      var call = Call()
      call.counted = call.progress.part()
      let result = try backend.remote.read(.init(), call)
      #expect(result.text == #"[{"_id":"a"}]"#)
      #expect(backend.server.requests.count == 2)
    }
  }

  @Test("An answer of as much as the backend sends at the most may have been cut")
  func cut() throws {
    for (count, mayBeCut) in [(9_999, false), (10_000, true), (10_001, false)] {
      let body = "[" + (0..<count).map { #"{"_id":"\#($0)"}"# }.joined(separator: ",") + "]"
      try withBackend { _ in
        ScriptedReply(200, body)
      } run: { backend in
        let answer = try backend.remote.read().answer
        #expect(answer.mayBeCut == mayBeCut)
      }
    }
  }

  @Test(
    "An answer to a find that is no array of entities is an error",
    arguments: [
      #"[{"_id":"b"}"#, "<html>", "", "{}", "[{}]]", "[1]", "\u{FEFF}[]", #"[{"_id":7}]"#,
    ])
  func noArray(_ body: String) throws {
    try withBackend { _ in
      ScriptedReply(200, body)
    } run: { backend in
      let error = failure { () throws(StoreError) in try backend.remote.read() }
      #expect(error?.kind == .proto && error?.answer?.status == 200)
    }
  }

  @Test("A query becomes a query string, in the order of the original client")
  func query() throws {
    try withBackend { _ in
      ScriptedReply(200, "[]")
    } run: { backend throws in
      let query = try Query(
        filter: #"{"name":"a+b","n":{"$gte":5}}"#,
        modifiers: #"{"sort":{"name":1,"n":-1},"skip":20,"limit":10,"fields":["name","n"]}"#)
      _ = try backend.remote.read(query)
      #expect(
        try backend.request.target
          == "/appdata/kid_x1/notes?query=%7B%22name%22%3A%22a%2Bb%22%2C%22n%22%3A%7B%22%24gte%22"
          + "%3A5%7D%7D&sort=%7B%22name%22%3A1%2C%22n%22%3A-1%7D&fields=name%2Cn&skip=20&limit=10")
    }
  }

  @Test("A format becomes what the original client makes of it, if that is wished")
  func originalForms() throws {
    for isOriginal in [false, true] {
      try withBackend(change: { $0.sendsOriginalForms = isOriginal }) { _ in
        ScriptedReply(200, #"{"count":0}"#)
      } run: { backend throws in
        _ = try backend.remote.count(Query(format: "a MATCHES 'x'"), in: "notes", call: Call())
        let pattern = isOriginal ? "x" : "%5E%28%3F%3Ax%29%24%28%3F%21%5C%5Cn%29"
        #expect(
          try backend.request.target
            == "/appdata/kid_x1/notes/_count?query=%7B%22a%22%3A%7B%22%24regex%22%3A%22\(pattern)%22%7D%7D"
        )
      }
    }
  }

  @Test("A moment that is none is not remembered", arguments: ["", "soon", "2024-13-45T00:00:00Z"])
  func noMoment(value: String) throws {
    try withBackend { _ in
      ScriptedReply(200, headers: [("X-Kinvey-Request-Start", value)], "[]")
    } run: { backend throws in
      #expect(try backend.remote.read().answer.startedAt == nil)
    }
  }

  @Test("The receiver's error ends a find and comes out")
  func receiverThrows() throws {
    try withBackend { _ in
      ScriptedReply(200, #"[{"_id":"a"}]"#)
    } run: { backend in
      let error = failure { () throws(StoreError) in
        try backend.remote.find(.init(), in: "notes", call: Call()) { _ throws(StoreError) in
          throw StoreError(.full, "no room")
        }
      }
      #expect(error == StoreError(.full, "no room"))
    }
  }

  @Test("The body of a failed find goes into the error, not to the receiver")
  func findFails() throws {
    try withBackend { _ in
      ScriptedReply(401, #"{"error":"InsufficientCredentials","description":"d","debug":""}"#)
    } run: { backend in
      let error = failure { () throws(StoreError) in
        try backend.remote.find(.init(), in: "notes", call: Call()) { _ in Issue.record("received")
        }
      }
      #expect(error?.kind == .forbidden)
      #expect(error?.answer?.description == "d")
    }
  }

  @Test("An error without end is not read to its end")
  func longError() throws {
    try withScript { _, connection in
      connection.send("HTTP/1.1 502 Bad Gateway\r\n\r\n")
      while connection.send(String(repeating: "<p>", count: 1000)) {}
    } run: { backend in
      let error = failure { () throws(StoreError) in try backend.remote.read() }
      #expect(error?.kind == .server)
      #expect(error?.answer?.status == 502)
    }
  }

  @Test("One entity is read by its id")
  func findById() throws {
    let entity = #"{"_id":"a/b","n":1.50}"#
    try withBackend { _ in
      ScriptedReply(200, entity)
    } run: { backend throws in
      #expect(try backend.remote.find(id: "a/b", in: "notes", call: Call()) == bytes(entity))
      #expect(try backend.request.target == "/appdata/kid_x1/notes/a%2Fb")
    }
  }

  @Test(
    "What is not the entity asked for is no answer",
    arguments: ["", "[]", "{}", #"{"_id":"b"}"#, #"{"_id":"a""#, "<html>", #"{"_id":5}"#])
  func notTheEntity(body: String) throws {
    try withBackend { _ in
      ScriptedReply(200, body)
    } run: { backend in
      let error = failure { () throws(StoreError) in
        try backend.remote.find(id: "a", in: "notes", call: Call())
      }
      #expect(error?.kind == .proto)
      #expect(error?.answer?.status == 200)
    }
  }

  @Test("An empty id is refused, not sent as a find of everything")
  func emptyId() throws {
    try withBackend { _ in
      ScriptedReply(200, "[]")
    } run: { backend in
      let error = failure { () throws(StoreError) in
        try backend.remote.find(id: "", in: "notes", call: Call())
      }
      #expect(error?.kind == .invalid)
      for write in [RemoteWrite.delete(id: ""), .update(id: "", bytes("{}"))] {
        #expect(backend.remote.outcome(write)?.failure?.kind == .invalid)
      }
      #expect(backend.server.requests.isEmpty)
    }
  }

  /// The backend decodes a segment before it looks for operations: only a query leads to such an id.
  @Test(
    "An entity whose id is the name of an operation is found and deleted by a query",
    arguments: [
      "_count", "_group", "_batch", "_deltaset", "_permissions", "_history", "_subscribe",
    ])
  func operationAsId(id: String) throws {
    let target = "/appdata/kid_x1/notes?query=%7B%22_id%22%3A%22\(id)%22%7D"
    let isThere = Monitor(true)
    try withBackend { request in
      if request.method == "DELETE" { return ScriptedReply(200, #"{"count":1}"#) }
      return ScriptedReply(200, isThere.withLock { $0 } ? #"[{"_id":"\#(id)","n":1.5}]"# : "[]")
    } run: { backend throws in
      let found = try backend.remote.find(id: id, in: "notes", call: Call())
      #expect(String(decoding: found, as: UTF8.self) == #"{"_id":"\#(id)","n":1.5}"#)
      #expect(backend.remote.outcome(.delete(id: id))?.value == .deleted(1))
      #expect(backend.server.requests.map(\.target) == [target, target])
      isThere.withLock { $0 = false }
      let error = failure { () throws(StoreError) in
        try backend.remote.find(id: id, in: "notes", call: Call())
      }
      #expect(error?.kind == .notFound)
    }
  }

  @Test("Nothing is written where the backend would take the id for an operation")
  func operationAsTarget() throws {
    try withBackend { _ in
      ScriptedReply(200, "{}")
    } run: { backend in
      let write = RemoteWrite.update(id: "_count", bytes(#"{"_id":"_count"}"#))
      #expect(backend.remote.outcome(write)?.failure?.kind == .invalid)
      for id in ["", "login", "_logout", "_me", "_lookup"] {
        let update = failure { () throws(StoreError) in
          try backend.users.update(Account(id: id, token: nil, json: []), [:], call: Call())
        }
        #expect(update?.kind == .invalid)
        let delete = failure { () throws(StoreError) in
          try backend.users.delete(id: id, isHard: true, call: Call())
        }
        #expect(delete?.kind == .invalid)
      }
      #expect(backend.server.requests.isEmpty)
    }
  }

  @Test("A count")
  func count() throws {
    try withBackend { _ in
      ScriptedReply(200, headers: [("X-Kinvey-Request-Start", Self.start)], #"{"count":7}"#)
    } run: { backend throws in
      let query = try Query(filter: #"{"n":1}"#, modifiers: #"{"skip":3,"limit":1}"#)
      let answer = try backend.remote.count(query, in: "notes", call: Call())
      #expect(answer == CountAnswer(count: 7, startedAt: BackendMoment(Self.start)))
      #expect(
        try backend.request.target == "/appdata/kid_x1/notes/_count?query=%7B%22n%22%3A1%7D")
    }
  }

  @Test(
    "What is no count",
    arguments: ["", "[]", "7", #"{"count":-1}"#, #"{"count":"7"}"#, #"{"count":1e99}"#, "<p>"])
  func noCount(body: String) throws {
    try withBackend { _ in
      ScriptedReply(200, body)
    } run: { backend in
      let error = failure { () throws(StoreError) in
        try backend.remote.count(.init(), in: "notes", call: Call())
      }
      #expect(error?.kind == .proto)
    }
  }

  @Test("Groups are a list of objects")
  func groups() throws {
    try withBackend { _ in
      ScriptedReply(200, #"[{"state":"MA","n":2},{"state":null,"n":1}]"#)
    } run: { backend in
      let wanted = RemoteGroups(
        keys: ["state"], initial: ["n": 0], reduce: "function(doc,out){ out.n++; }")
      let groups = try backend.remote.group(wanted, of: Query(), in: "things", call: Call())
      #expect(groups == [["state": "MA", "n": 2], ["state": .null, "n": 1]])
      #expect(
        try backend.request.text
          == #"{"key":["state"],"initial":{"n":0},"reduce":"function(doc,out){ out.n++; }"}"#)
      #expect(try backend.request.target == "/appdata/kid_x1/things/_group")
    }
  }

  @Test("Groups with an order by language are those of a backend that has the same one")
  func collatedGroups() throws {
    let wanted = RemoteGroups(
      keys: ["state"], initial: [:], reduce: "", collation: ["locale": "de", "ignoreCase": true])
    let version = (name: "X-Kvstored-Collation", value: String(Query.collationVersion))
    for headers in [[], [version]] {
      try withBackend { _ in
        ScriptedReply(200, headers: headers, #"[{"state":"MA"}]"#)
      } run: { (backend: Backend) throws in
        let groups = Result { () throws(StoreError) in
          try backend.remote.group(wanted, of: Query(), in: "things", call: Call())
        }
        if headers.isEmpty {
          #expect(groups.failure?.kind == .unsupported)
        } else {
          #expect(try groups.get() == [["state": "MA"]])
        }
        #expect(
          try backend.request.text
            == #"{"key":["state"],"initial":{},"reduce":"","collation":{"locale":"de","ignoreCase":true}}"#
        )
      }
    }
  }

  @Test("Groups that are none", arguments: ["{}", "[1]", #"[{"n":1},null]"#, "null"])
  func noGroups(answer: String) throws {
    try withBackend { _ in
      ScriptedReply(200, answer)
    } run: { backend in
      let wanted = RemoteGroups(keys: [], initial: [:], reduce: "")
      let error = failure { () throws(StoreError) in
        try backend.remote.group(wanted, of: Query(), in: "things", call: Call())
      }
      #expect(error?.kind == .proto)
      #expect(error?.answer?.status == 200)
    }
  }

  @Test("A delete by query says what it deletes, also when that is everything")
  func remove() throws {
    try withBackend { _ in
      ScriptedReply(200, #"{"count":3}"#)
    } run: { backend throws in
      #expect(try backend.remote.remove(.init(), in: "notes", call: Call()) == 3)
      let request = try backend.request
      #expect(request.method == "DELETE")
      #expect(request.target == "/appdata/kid_x1/notes?query=%7B%7D")
    }
  }

  // MARK: Writing

  @Test("Each write has its verb, its path and exactly its bytes")
  func writes() throws {
    try withBackend { request in
      switch request.method {
      case "DELETE": ScriptedReply(200, #"{"count":1}"#)
      case "PUT": ScriptedReply(200, #"{"_id":"b c","x":1}"#)
      default: ScriptedReply(201, #"{"_id":"a","x":1}"#)
      }
    } run: { backend throws in
      let remote = backend.remote
      #expect(
        remote.outcome(.create(bytes(#"{ "_id":"a", "n":1.0 }"#)))?.value
          == .stored(bytes(#"{"_id":"a","x":1}"#)))
      #expect(
        remote.outcome(.update(id: "b c", bytes(#"{"n":2}"#)))?.value
          == .stored(bytes(#"{"_id":"b c","x":1}"#)))
      #expect(remote.outcome(.delete(id: "c"))?.value == .deleted(1))
      let requests = backend.server.requests
      #expect(requests.map(\.method) == ["POST", "PUT", "DELETE"])
      #expect(
        requests.map(\.target) == [
          "/appdata/kid_x1/notes", "/appdata/kid_x1/notes/b%20c", "/appdata/kid_x1/notes/c",
        ])
      #expect(requests.map(\.text) == [#"{ "_id":"a", "n":1.0 }"#, #"{"n":2}"#, ""])
    }
  }

  @Test("A created entity without an id gets the backend's")
  func createWithoutId() throws {
    try withBackend { _ in
      ScriptedReply(201, #"{"_id":"made"}"#)
    } run: { backend throws in
      #expect(
        backend.remote.outcome(.create(bytes("{}")))?.value == .stored(bytes(#"{"_id":"made"}"#)))
    }
  }

  @Test("An entity stored under another id is no success")
  func anotherId() throws {
    try withBackend { _ in
      ScriptedReply(200, #"{"_id":"x"}"#)
    } run: { backend in
      for write in [RemoteWrite.create(bytes(#"{"_id":"a"}"#)), .update(id: "a", bytes("{}"))] {
        #expect(backend.remote.outcome(write)?.failure?.kind == .proto)
      }
    }
  }

  @Test("A delete of what is not there is done; one that another 404 answers is not")
  func deleteMissing() throws {
    try withBackend { request in
      request.target.hasSuffix("gone")
        ? ScriptedReply(404, #"{"error":"EntityNotFound","description":"","debug":""}"#)
        : request.target.hasSuffix("app")
          ? ScriptedReply(404, #"{"error":"AppNotFound","description":"","debug":""}"#)
          : ScriptedReply(404, "<html>nginx</html>")
    } run: { backend in
      let remote = backend.remote
      #expect(remote.outcome(.delete(id: "gone"))?.value == .deleted(0))
      #expect(remote.outcome(.delete(id: "app"))?.failure?.kind == .notFound)
      #expect(remote.outcome(.delete(id: "page"))?.failure?.kind == .proto)
    }
  }

  @Test("Many writes: each has one outcome, failures among them")
  func manyWrites() throws {
    try withBackend { request in
      let id = String(request.target.split(separator: "/").last ?? "")
      return (Int(id) ?? 0) % 3 == 0
        ? ScriptedReply(500, #"{"error":"KinveyInternalErrorStop","description":"","debug":""}"#)
        : ScriptedReply(200, #"{"_id":"\#(id)"}"#)
    } run: { backend in
      let progress = Progress()
      let writes = (0..<60).map { RemoteWrite.update(id: "\($0)", bytes(#"{"_id":"\#($0)"}"#)) }
      let outcomes = backend.remote.outcomes(writes, Call(progress: progress))
      #expect(outcomes.count == 60)
      for (index, outcome) in outcomes {
        let isRefused = index % 3 == 0
        #expect(outcome.failure?.kind == (isRefused ? .server : nil))
        #expect(outcome.value == (isRefused ? nil : .stored(bytes(#"{"_id":"\#(index)"}"#))))
      }
      #expect(backend.server.connectionCount <= 6)
      #expect(progress.snapshot.bytesDone == 10 * 11 + 50 * 12)
    }
  }

  @Test("A cancelled push ends with an outcome for each write")
  func cancelled() throws {
    try withScript { _, connection in
      connection.waitForEnd()
    } run: { backend in
      let call = Call()
      let canceller = Worker("test-cancel") {
        _ = backend.server.waitForRequests(1)
        call.cancellation.cancel()
      }
      let outcomes = backend.remote.outcomes((0..<20).map { .delete(id: "\($0)") }, call)
      canceller?.join()
      #expect(outcomes.count == 20)
      #expect(outcomes.values.allSatisfy { $0.failure?.kind == .cancelled })
    }
  }

  @Test("The deadline of a call")
  func deadline() throws {
    try withScript { _, connection in
      connection.waitForEnd()
    } run: { backend in
      let error = failure { () throws(StoreError) in
        try backend.remote.read(.init(), Call(deadline: .after(seconds: 0.1)))
      }
      #expect(error?.kind == .timeout)
      #expect(error?.isOffline == true)
    }
  }
}
