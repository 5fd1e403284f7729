import KVKinvey
import KVSync
import KVTestSupport
import Testing

@Suite("Many new entities in one request") struct MultiInsertTests {
  private typealias Results = [Result<[UInt8], StoreError>]

  /// The results of sending the entities a, b and c.
  private func results(_ status: Int, _ body: String) throws -> Result<RemoteOutcome, StoreError>? {
    var outcome: Result<RemoteOutcome, StoreError>?
    try withBackend { _ in
      ScriptedReply(status, body)
    } run: { backend in
      outcome = backend.remote.outcome(
        .createMany(["a", "b", "c"].map { bytes(#"{"_id":"\#($0)"}"#) }))
      let request = try backend.request
      #expect(request.method == "POST")
      #expect(request.target == "/appdata/kid_x1/notes")
      #expect(request.text == #"[{"_id":"a"},{"_id":"b"},{"_id":"c"}]"#)
    }
    return outcome
  }

  private func items(_ status: Int, _ body: String) throws -> Results {
    guard case .success(.storedMany(let results)) = try results(status, body) else { return [] }
    #expect(results.count == 3)
    return results
  }

  @Test("Any status of success is one", arguments: [200, 201, 207])
  func allStored(status: Int) throws {
    let body = #"{"entities":[{"_id":"a"},{"_id":"b","x":[1]},{"_id":"c"}],"errors":[]}"#
    let items = try items(status, body)
    #expect(
      items.map(\.value)
        == [bytes(#"{"_id":"a"}"#), bytes(#"{"_id":"b","x":[1]}"#), bytes(#"{"_id":"c"}"#)])
  }

  @Test("What failed has its error, the rest is stored")
  func someFailed() throws {
    let items = try items(
      207,
      """
      {"errors":[{"index":1,"error":"ParameterValueOutOfRange","description":"d","debug":"g"},
        {"index":2,"error":"KinveyInternalErrorRetry","debug":"_id already exists"}],
       "entities":[{"_id":"a"},null,null]}
      """)
    #expect(items[0].value == bytes(#"{"_id":"a"}"#))
    #expect(items[1].failure?.kind == .invalid)
    #expect(items[1].failure?.answer?.status == 207)
    #expect(items[1].failure?.answer?.debug == "g")
    #expect(items[2].failure?.kind == .conflict)
  }

  @Test(
    "The message of an entity of a batch says why that one failed"
  )
  func messages() throws {
    let items = try items(
      207,
      """
      {"errors":[{"index":0,"error":"BadRequest","description":"The body is wrong.","debug":"_geoloc: -300"},
        {"index":1,"error":"AppProblem","description":""},{"index":2}],"entities":[null,null,null]}
      """)
    let refused = "The backend refused this entity of a batch"
    #expect(
      items.map { $0.failure?.message } == [
        "\(refused), BadRequest: The body is wrong.", "\(refused), AppProblem.",
        "\(refused) without a description of the error.",
      ])
    #expect(items[0].failure?.answer?.debug == "_geoloc: -300")
  }

  @Test(
    "A backend that lies gets no entity marked as stored that it did not return",
    arguments: [
      #"{}"#, #"{"entities":[],"errors":[]}"#, #"{"entities":[null,null,null],"errors":[]}"#,
      #"{"entities":[null,null,null],"errors":[{"index":-1},{"index":3},{"index":99999999999}]}"#,
      #"{"entities":[null],"errors":[{"index":"0","error":"x"},{"error":"x"},5,null]}"#,
      #"{"entities":[{},{"_id":5},[1]]}"#, #"{"entities":[{"_id":"x"},{"_id":"a"},{"_id":"b"}]}"#,
      #"{"entities":[{"_id":"c"},{"_id":"c"},true],"errors":{"index":0}}"#,
    ])
  func lies(body: String) throws {
    for item in try items(207, body) {
      #expect(item.failure?.kind == .proto)
      #expect(item.failure?.answer?.status == 207)
    }
  }

  @Test("An entity that comes with an error has failed; superfluous entities are ignored")
  func contradiction() throws {
    let items = try items(
      207,
      #"{"entities":[{"_id":"a"},{"_id":"b"},{"_id":"c"},{"_id":"d"}],"errors":[{"index":0,"error":"BadRequest"}]}"#
    )
    #expect(items.map { $0.failure?.kind } == [.invalid, nil, nil])
  }

  @Test(
    "What is no result fails as a whole",
    arguments: [
      "", "[]", "5", "<html>", #"{"entities":[{"_id":"a"}"#, #"{"entities":{}}"#,
      #"{"entities":\#(String(repeating: "[", count: 100_000))"#,
    ])
  func noResult(body: String) throws {
    let error = try results(201, body)?.failure
    #expect(error?.kind == .proto)
    #expect(error?.answer?.status == 201)
  }

  @Test("A refused request fails as a whole")
  func refused() throws {
    let error = try results(413, #"{"error":"TooMany","description":"","debug":""}"#)?.failure
    #expect(error?.kind == .tooLarge)
  }
}
