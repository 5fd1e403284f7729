import KVJSON
import KVKinvey
import KVSync
import KVTestSupport
import KVTransport
import Testing

@Suite("The live service on the wire") struct KinveyLiveTests {
  private static let registered =
    #"{"subscribeKey":"sub-1","publishKey":"pub-1","userChannelGroup":"g 1"}"#
  private static let message = #"""
    {"t":{"t":"17102791234567890","r":4},"m":[
      {"a":"2","f":0,"i":"x","s":1,"p":{"t":"17102791234567890","r":4},"k":"sub-1",
       "c":"kid_x1.c-notes","b":"g 1","d":{"_id":"1","n":1.50}},
      {"p":{"t":"2","r":4},"c":"kid_x1.c-notes.u-u1","d":{"_id":"2"},
       "u":{"kvstore":{"change":"create"}}},
      {"p":{"t":"3","r":4},"c":"kid_x1.x-notes","d":{"_id":"3","_kmd":{"lmt":"t"}},
       "u":{"kvstore":{"change":"delete"}}},
      {"p":{"t":"4","r":4},"c":"kid_x1.x-notes","d":{"_id":"4"},
       "u":{"kvstore":{"change":"update"}}},
      {"p":{"t":"5","r":4},"c":"other.c-notes","d":{"_id":"5"}},
      {"p":{"t":"6","r":4},"c":"kid_x1.c-notes","d":"no entity"}]}
    """#

  private func withLive(
    answering headers: [(name: String, value: String)] = [],
    _ reply: @escaping @Sendable (ScriptedRequest) -> ScriptedReply,
    _ body: (Backend, KinveyLive, LiveRegistration) throws -> Void
  ) throws {
    try withBackend { request in
      request.target.hasSuffix("/register-realtime")
        ? ScriptedReply(200, headers: headers, Self.registered) : reply(request)
    } run: { backend in
      let polls = PollTransport(TransportOptions(proxy: ""))
      defer { polls.close() }
      let live = KinveyLive(backend.service, polling: polls)
      let registration = try live.register("u1", device: "dev", call: Call())
      try body(backend, live, registration)
    }
  }

  @Test("Registering names the device; a self-hosted backend is polled itself")
  func register() throws {
    try withLive { _ in
      ScriptedReply(204, "")
    } _: { backend, live, registration in
      #expect(
        registration
          == LiveRegistration(
            userId: "u1", device: "dev",
            rights: bytes(#"["pub-1","sub-1","g 1","\#(backend.server.url)"]"#)))
      let request = try #require(backend.server.requests.first)
      #expect(request.method == "POST")
      #expect(request.target == "/user/kid_x1/u1/register-realtime")
      #expect(request.text == #"{"deviceId":"dev"}"#)
      try live.unregister(registration, token: "old", call: Call())
      let last = try #require(backend.server.requests.last)
      #expect(last.target == "/user/kid_x1/u1/unregister-realtime")
      #expect(last["Authorization"] == "Kinvey old")
    }
  }

  @Test("Collections are joined and left by requests of the user")
  func collections() throws {
    try withLive { _ in
      ScriptedReply(204, "")
    } _: { backend, live, registration in
      _ = try live.join(.collection("notes"), registration, call: Call())
      try live.leave(.collection("notes"), registration, call: Call())
      #expect(
        backend.server.requests.dropFirst().map(\.target) == [
          "/appdata/kid_x1/notes/_subscribe", "/appdata/kid_x1/notes/_unsubscribe",
        ])
    }
  }

  @Test("The first poll has the time 0, the next ones a position; messages come in all forms")
  func poll() throws {
    try withLive { _ in
      ScriptedReply(200, Self.message)
    } _: { backend, live, registration in
      let position = LivePosition("17102791234567890 4")
      let answer = try live.poll(registration, from: nil, call: Call())
      let common = "uuid=dev&heartbeat=300&pnsdk=libkvstore%2F1.2.3&auth=tok"
      #expect(
        backend.server.requests.last?.target
          == "/v2/subscribe/sub-1/,/0?channel-group=g%201&tt=0&\(common)")
      #expect(backend.server.requests.last?["Authorization"] == nil)
      let channel = "kid_x1.c-notes"
      #expect(
        answer
          == .messages(
            [
              LiveMessage(
                key: "\(channel)\n17102791234567890", topic: .collection("notes"),
                change: .saved(bytes(#"{"_id":"1","n":1.50}"#), id: "1", .save)),
              LiveMessage(
                key: "\(channel).u-u1\n2", topic: .collection("notes"),
                change: .saved(bytes(#"{"_id":"2"}"#), id: "2", .create)),
              LiveMessage(
                key: "kid_x1.x-notes\n3", topic: .collection("notes"),
                change: .deleted(id: "3", at: "t")),
              LiveMessage(
                key: "kid_x1.x-notes\n4", topic: .collection("notes"),
                change: .tooLarge(id: "4", .update)),
            ], next: position))
      _ = try live.poll(registration, from: position, call: Call())
      #expect(
        backend.server.requests.last?.target
          == "/v2/subscribe/sub-1/,/0?channel-group=g%201&tt=17102791234567890&tr=4&\(common)")
    }
  }

  @Test("Where the backend reads the token from the header, no address has it")
  func tokenInHeader() throws {
    try withLive(answering: [("X-Kvstored-Live-Authorization", "header")]) { request in
      if request.target.hasPrefix("/publish/") { return ScriptedReply(200, #"[1,"Sent","1"]"#) }
      if request.target.hasSuffix("/publish") {
        return ScriptedReply(200, #"{"substreamChannelName":"kid_x1.s-chat.u-u2"}"#)
      }
      return ScriptedReply(200, Self.message)
    } _: { backend, live, registration in
      _ = try live.poll(registration, from: nil, call: Call())
      try live.send(
        bytes("1"), to: "chat", owner: "u2", registration: registration, call: Call())
      let requests = backend.server.requests.dropFirst()
      #expect(requests.count == 3)
      for request in requests {
        #expect(request["Authorization"] == "Kinvey tok", "\(request.target)")
        #expect(!request.target.contains("tok"), "\(request.target)")
      }
    }
  }

  @Test("A refusal names collections, or means all")
  func refusals() throws {
    for (payload, collections) in [
      (#"{"channels":["kid_x1.c-notes","else"]}"#, ["notes"]), (#"{"channel-groups":["g"]}"#, []),
    ] {
      try withLive { _ in
        ScriptedReply(
          403, #"{"status":403,"error":true,"message":"Forbidden","payload":\#(payload)}"#)
      } _: { _, live, registration in
        guard
          case .refused(let named, let error) = try live.poll(registration, from: nil, call: Call())
        else {
          Issue.record("It was no refusal.")
          return
        }
        #expect(named.map { $0.collection ?? "" } == collections)
        #expect(error.kind == .forbidden)
      }
    }
  }

  @Test("An answer without a position is an error", arguments: ["", "[]", "{}", #"{"t":{"t":1}}"#])
  func useless(answer: String) throws {
    try withLive { _ in
      ScriptedReply(200, answer)
    } _: { _, live, registration in
      let error = failure { () throws(StoreError) in
        try live.poll(registration, from: nil, call: Call())
      }
      #expect(error?.kind == .proto)
    }
  }

  @Test("A probe asks for the time")
  func probe() throws {
    try withLive { _ in
      ScriptedReply(200, "[17102791234567890]")
    } _: { backend, live, registration in
      try live.probe(registration, Call())
      #expect(backend.server.requests.last?.target == "/time/0")
    }
  }
}
