import KVBase
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
    var body: [UInt8] = []
    let answer = try backend.remote.changes(
      of: query, since: Self.since, in: "notes", Call()
    ) { piece in body += piece }
    return (String(decoding: body, as: UTF8.self), answer)
  }

  @Test("The request names the moment and the filter, and the body comes as it is")
  func request() throws {
    let body = #"{"changed":[{"_id":"a"}],"deleted":[{"_id":"b"}]}"#
    try withBackend { _ in
      ScriptedReply(200, headers: [("X-Kinvey-Request-Start", Self.start)], body)
    } run: { backend in
      let query = try Query(filter: #"{"done":false}"#, modifiers: #"{"sort":{"n":1}}"#)
      let result = try changes(backend, of: query)
      #expect(result.text == body)
      #expect(result.answer?.startedAt == BackendMoment(Self.start))
      let request = try backend.request
      #expect(request.method == "GET")
      #expect(
        request.target == "/appdata/kid_x1/notes/_deltaset?since=2024-03-12T21%3A00%3A00.000Z"
          + "&query=%7B%22done%22%3Afalse%7D&left=true")
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
