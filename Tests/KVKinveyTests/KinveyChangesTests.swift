import KVBase
import KVJSON
import KVKinvey
import KVQuery
import KVSync
import KVTestSupport
import Testing

@Suite("What has changed, on the wire") struct KinveyChangesTests {
  private static let since = "2024-03-12T21:00:00.000Z"
  private static let start = "2024-03-12T22:10:00.034Z"

  private func changes(
    _ backend: Backend, of query: Query = Query()
  ) throws(StoreError) -> (text: String, answer: ReadAnswer?) {
    var texts: [String] = []
    let since = BackendMoment(Self.since)
    let answer = try backend.remote.changes(of: query, since: since, in: "notes", call: Call()) {
      batch in
      switch batch {
      case .saved(let records):
        texts += records.outlines.map { String(decoding: records.record($0), as: UTF8.self) }
      case .deleted(let gone): texts += gone.map { "-\($0.id) \($0.version?.text ?? "?")" }
      case .left(let ids): texts += ids.map { "<\($0)" }
      }
    }
    return (texts.joined(separator: " "), answer)
  }

  @Test("The request names the moment and the filter; what is gone has the time of the answer")
  func request() throws {
    let body = #"{"changed":[{"_id":"a"}],"deleted":[{"_id":"b"}]}"#
    try withBackend { _ in
      ScriptedReply(200, headers: [("X-Kinvey-Request-Start", Self.start)], body)
    } run: { backend in
      let query = try Query(filter: #"{"done":false}"#, modifiers: #"{"sort":{"n":1}}"#)
      let result = try changes(backend, of: query)
      #expect(result.text == #"{"_id":"a"} -b \#(Self.start)"#)
      #expect(result.answer?.startedAt == BackendMoment(Self.start))
      let request = try backend.request
      #expect(request.method == "GET")
      #expect(
        request.target == "/appdata/kid_x1/notes/_deltaset?since=2024-03-12T21%3A00%3A00.000Z"
          + "&query=%7B%22done%22%3Afalse%7D&left=true")
    }
  }

  @Test(
    "Each id comes once, whatever the order of the lists: what was made again is there",
    arguments: [[0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2]])
  func onceEach(order: [Int]) throws {
    let lists = [
      #""changed":[{"_id":"a","t":"]}\"["},{"_id":"b"}]"#,
      #""deleted":[{"_id":"a"},{"_id":"c"},{"_id":"d"}]"#,
      #""left":[{"_id":"b"},{"_id":"d"}]"#, #""more":[[1],{"changed":[]}]"#,
    ]
    let body = "{ \(order.map { lists[$0] }.joined(separator: " , ")) }"
    try withBackend { _ in
      ScriptedReply(200, body)
    } run: { backend in
      let text = try changes(backend).text
      #expect(text == #"{"_id":"a","t":"]}\"["} {"_id":"b"} -c ? <d"#)
    }
  }

  @Test("Many changes come in batches, however they are cut on the way")
  func batches() throws {
    let saved = (0..<20_000).map { #"{"_id":"id\#($0)","text":"a [long] {text}"}"# }
    let body = #"{"changed":[\#(saved.joined(separator: ","))],"deleted":[{"_id":"x"}]}"#
    try withBackend { _ in
      ScriptedReply(200, body)
    } run: { backend in
      var sizes: [Int] = []
      var deleted: [String] = []
      _ = try backend.remote.changes(
        of: Query(), since: BackendMoment(Self.since), in: "notes", call: Call()
      ) { batch in
        switch batch {
        case .saved(let records): sizes.append(records.count)
        case .deleted(let gone): deleted += gone.map(\.id)
        case .left: Issue.record("nothing left")
        }
      }
      #expect(sizes.reduce(0, +) == 20_000 && sizes.count > 2)
      #expect(deleted == ["x"])
    }
  }

  @Test(
    "An answer that is none is an error",
    arguments: [
      "", "[]", "{}", #"{"changed":[]}"#, #"{"changed":[],"deleted":[],"deleted":[]}"#,
      #"{"changed":[{"n":1}],"deleted":[{"_id":"a"}]}"#, #"{"changed":[],"deleted":["a"]}"#,
      #"{"changed":{},"deleted":[]}"#, #"{"changed":[],"deleted":[{"_id":"a"}]} x"#,
      #"{"changed":[],"deleted":0}"#, #"{"changed":[],"deleted":[]"#, #"{"changed":[],"deleted":["#,
      #"{"changed":[]]"#, "}{",
    ])
  func lies(_ body: String) throws {
    try withBackend { _ in
      ScriptedReply(200, body)
    } run: { backend in
      #expect(failure { () throws(StoreError) in try changes(backend) }?.kind == .proto)
    }
  }

  @Test("A backend that has other data by now cannot tell, and nothing of it is taken")
  func otherData() throws {
    try withBackend { _ in
      ScriptedReply(
        200, headers: [("X-Kinvey-Request-Start", Self.start), ("X-Kvstored-Data-Epoch", "2")],
        #"{"changed":[{"_id":"a"}],"deleted":[]}"#)
    } run: { backend in
      let result = try changes(backend)
      #expect(result.answer == nil && result.text.isEmpty)
    }
  }

  @Test(
    "A backend that cannot tell is no failure: everything has to be read",
    arguments: [
      (403, "MissingConfiguration"), (400, "ParameterValueOutOfRange"),
      (400, "ResultSetSizeExceeded"),
    ])
  func cannotTell(status: Int, code: String) throws {
    try withBackend { _ in
      ScriptedReply(status, #"{"error":"\#(code)","description":"","debug":""}"#)
    } run: { backend in
      let result = try changes(backend)
      #expect(result.answer == nil)
      #expect(result.text.isEmpty)
    }
  }

  @Test(
    "Any other failure is one",
    arguments: [
      (401, #"{"error":"InvalidCredentials","description":"","debug":""}"#, .unauthorized),
      (400, #"{"error":"MissingRequestParameter","description":"","debug":""}"#, .invalid),
      (403, "<html>", .proto),
      (502, "", .server),
    ] as [(Int, String, StoreError.Kind)])
  func failures(status: Int, body: String, kind: StoreError.Kind) throws {
    try withBackend { _ in
      ScriptedReply(status, body)
    } run: { backend in
      let error = failure { () throws(StoreError) in try changes(backend) }
      #expect(error?.kind == kind)
      #expect(error?.answer?.status == status)
    }
  }
}
