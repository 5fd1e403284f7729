import KVBase
import KVCallback
import KVJSON
import KVSync
import KVTestSupport
import Testing

@Suite("Live data of a backend of callbacks") struct CallbackLiveTests {
  private let backend = MemoryBackend(lacking: [])

  private func live(_ description: JSONObject = [:]) throws -> any LiveRemote {
    let opened = CallbackBackend("memory", try BackendDescription(description), handler: backend)
      .opened
    return try #require(opened.live)
  }

  /// Answers requests for live data with this, as it stands.
  private func answer(_ text: String) {
    backend.intercept { operation, number, _ in
      #expect(operation == .live)
      #expect(complete(number, text) == .accepted)
      return true
    }
  }

  private func asked() -> JSONValue? { backend.requests.last?.request }

  @Test("is asked for the collections that somebody listens to, from where the answer before ended")
  func requests() throws {
    let live = try live()
    let registration = try live.register(nil, device: "d", call: Call())
    for name in ["b", "a", "c"] { _ = try live.join(.collection(name), registration, call: Call()) }
    try live.leave(.collection("c"), registration, call: Call())
    answer(#"{"changes":[],"next":{"at":7}}"#)
    let first = try live.poll(registration, from: nil, call: Call())
    #expect(asked() == ["collections": ["a", "b"], "after": .null])
    guard case .messages([], let next, false) = first else {
      Issue.record("\(first)")
      return
    }
    answer(
      #"""
      {"changes":[{"collection":"a","upsert":{"_id":"x","n":1}},{"collection":"b","delete":"y"}],
       "next":8,"incomplete":true}
      """#)
    guard
      case .messages(let messages, _, true) = try live.poll(registration, from: next, call: Call())
    else {
      Issue.record("not incomplete")
      return
    }
    #expect(asked()?["after"] == ["at": 7])
    #expect(messages.map(\.topic) == [.collection("a"), .collection("b")])
    #expect(
      messages.map(\.change) == [
        .saved(Array(#"{"_id":"x","n":1}"#.utf8), id: "x", .save), .deleted(id: "y", at: nil),
      ])
  }

  @Test("What comes once more has the same keys, what is another version another one")
  func keys() throws {
    let live = try live(["version": ["path": "rev", "kind": "integer"]])
    let registration = try live.register(nil, device: "d", call: Call())
    func keys(_ revision: Int) throws -> [String] {
      answer(
        #"{"changes":[{"collection":"a","upsert":{"_id":"x","rev":\#(revision)}}],"next":1}"#)
      let poll = try live.poll(registration, from: LivePosition("0"), call: Call())
      guard case .messages(let messages, _, _) = poll else { return [] }
      return messages.map(\.key)
    }
    let first = try keys(1)
    #expect(first.count == 1)
    #expect(try keys(1) == first)
    #expect(try keys(2) != first)
  }

  @Test(
    "An answer that is none is an error",
    arguments: [
      "", "[]", "{}", #"{"changes":[]}"#, #"{"next":1}"#, #"{"changes":[],"next":null}"#,
      #"{"changes":[{}],"next":1}"#, #"{"changes":[{"upsert":{"_id":"x"}}],"next":1}"#,
      #"{"changes":[{"collection":"a"}],"next":1}"#,
      #"{"changes":[{"collection":"a","upsert":{}}],"next":1}"#,
      #"{"changes":[{"collection":"a","delete":7}],"next":1}"#,
      #"{"changes":[{"collection":7,"delete":"x"}],"next":1}"#,
      #"{"changes":[],"next":1,"incomplete":1}"#,
    ])
  func garbage(_ text: String) throws {
    let live = try live()
    let registration = try live.register(nil, device: "d", call: Call())
    answer(text)
    #expect(failure { try live.poll(registration, from: nil, call: Call()) }?.kind == .proto)
  }

  @Test("Streams of users there are none, and no live data without the function") func lacks()
    throws
  {
    let live = try live()
    let registration = try live.register(nil, device: "d", call: Call())
    let error = failure { try live.join(.substream("s", of: "u"), registration, call: Call()) }
    #expect(error?.kind == .unsupported)
    let silent = CallbackBackend("memory", try BackendDescription([:]), handler: MemoryBackend())
    #expect(silent.opened.live == nil)
  }
}
