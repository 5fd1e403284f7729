import KVBase
import KVJSON
import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("User-to-user streams") struct LiveStreamTests {
  /// A user with a registered device.
  private struct Member {
    var server: TestServer
    var who: TestServer.Who
    var keys: JSONValue

    init(_ server: TestServer, _ name: String) throws {
      self.server = server
      who = try server.user(name)
      keys = try server.send(
        as: who, "POST", "/user/kid/\(who.id)/register-realtime", body: #"{"deviceId":"d"}"#
      ).json
    }

    var token: String { who.authorization.map { String($0.dropFirst("Kinvey ".count)) } ?? "" }

    func text(_ name: String) -> String { keys[name]?.stringValue ?? "" }

    func call(
      _ method: String, _ owner: Member, action: String = "", body: String? = nil
    ) throws -> HTTPAnswer {
      try server.send(as: who, method, "/stream/kid/chat/\(owner.who.id)\(action)", body: body)
    }

    /// Lets these in, to one's own stream.
    func grant(subscribe: [Member] = [], publish: [Member] = []) throws -> Int {
      let acl: JSONValue = [
        "subscribe": .array(subscribe.map { .string($0.who.id) }),
        "publish": .array(publish.map { .string($0.who.id) }),
      ]
      return try call("PUT", self, action: "", body: acl.text).status
    }

    func subscribe(_ owner: Member) throws -> HTTPAnswer {
      try call("POST", owner, action: "/subscribe", body: #"{"deviceId":"d"}"#)
    }

    private func publishing(_ channel: String, _ message: String = "") -> String {
      "/publish/\(text("publishKey"))/\(text("subscribeKey"))/0/\(channel)/0\(message)?auth=\(token)"
    }

    /// `message` is percent-encoded JSON.
    func send(_ message: String, to channel: String) throws -> HTTPAnswer {
      try server.send(as: .nobody, "GET", publishing(channel, "/\(message)"))
    }

    func post(_ message: String, to channel: String) throws -> HTTPAnswer {
      try server.send(as: .nobody, "POST", publishing(channel), body: message)
    }

    private func polling(_ position: JSONValue?, _ channel: String?) -> String {
      let time = position?["t"]?.stringValue ?? "0"
      let region = position?["r"]?.intValue.map { "&tr=\($0)" } ?? ""
      let group = channel == nil ? "&channel-group=\(text("userChannelGroup"))" : ""
      return
        "/v2/subscribe/\(text("subscribeKey"))/\(channel ?? ",")/0?tt=\(time)\(region)&auth=\(token)\(group)"
    }

    func poll(_ position: JSONValue?, _ channel: String? = nil) throws -> HTTPAnswer {
      try server.send(as: .nobody, "GET", polling(position, channel))
    }

    /// A poll that waits.
    func start(_ position: JSONValue?, _ channel: String? = nil) throws -> RawConnection {
      guard let connection = RawConnection(port: server.port) else {
        throw TestServer.Missing(what: "port")
      }
      connection.send("GET \(polling(position, channel)) HTTP/1.1\r\nHost: test\r\n\r\n")
      return connection
    }

    var channel: String { "kid.s-chat.u-\(who.id)" }
  }

  /// What a member is told until so many messages have come: the server that they were sent to need not have heard of its
  /// commits yet.
  private func payloads(
    _ member: Member, since position: JSONValue?, count: Int
  ) throws -> [JSONValue?] {
    let deadline = Deadline.after(seconds: 60)
    while true {
      let found = payloads(try member.poll(position))
      if found.count >= count || deadline.hasPassed { return found }
    }
  }

  private func payloads(_ answer: HTTPAnswer?) -> [JSONValue?] {
    answer?.json["m"]?.arrayValue?.map { $0["d"] } ?? []
  }

  @Test("A message reaches who has subscribed, with its channel and sender, and comes again")
  func delivery() throws {
    let server = try TestServer()
    let (ana, ben, eve) = (
      try Member(server, "ana"), try Member(server, "ben"), try Member(server, "eve")
    )
    #expect(try ana.grant(subscribe: [ben], publish: [ben]) == 200)
    #expect(try ben.subscribe(ana).json["substreamChannelName"]?.stringValue == ana.channel)
    let position = try ben.poll(nil).json["t"]
    let others = try eve.poll(nil).json["t"]
    let waiting = try ben.start(position)
    let sent = try ana.send("%7B%22n%22%3A1.50%2C%22a%22%3A%22%2F%22%7D", to: ana.channel)
    #expect(sent.status == 200)
    #expect(sent.json.arrayValue?.prefix(2) == [1, "Sent"])
    let delivered = HTTPClient.receive(waiting)
    #expect(delivered?.text.contains(#""d":{"n":1.50,"a":"/"}"#) == true)
    let message = delivered?.json["m"]?.arrayValue?.first
    #expect(message?["c"]?.stringValue == ana.channel)
    #expect(message?["i"]?.stringValue == ana.who.id)
    #expect(message?["p"]?["t"] == sent.json.arrayValue?.last)
    #expect(try ben.post(#""back""#, to: ana.channel).status == 200)
    #expect(try payloads(ben, since: position, count: 2).last == .some("back"))
    #expect(payloads(try ben.poll(position, ana.channel)).last == .some("back"))
    // Whom nobody let in hears nothing: a message of her own is the first that she is told.
    _ = try eve.subscribe(eve)
    _ = try eve.send("7", to: eve.channel)
    #expect(payloads(try eve.poll(others)) == [7])
  }

  @Test("The ACL decides who subscribes and publishes; only its user reads and changes it")
  func rights() throws {
    let server = try TestServer()
    let (ana, ben) = (try Member(server, "ana"), try Member(server, "ben"))
    #expect(try ben.subscribe(ana).error == "InsufficientCredentials")
    #expect(try ben.call("POST", ana, action: "/publish").error == "InsufficientCredentials")
    #expect(try ben.call("GET", ana).error == "InsufficientCredentials")
    #expect(try ben.call("PUT", ana, action: "", body: "{}").error == "InsufficientCredentials")
    #expect(try ben.send("1", to: ana.channel).status == 403)
    #expect(try ben.poll(nil, ana.channel).status == 403)
    #expect(try ana.call("GET", ana).json == ["subscribe": [], "publish": []])
    #expect(try ana.call("POST", ana, action: "/publish").status == 200)
    #expect(try ana.grant(publish: [ben]) == 200)
    #expect(try ana.call("GET", ana).json["publish"]?.arrayValue == [.string(ben.who.id)])
    #expect(try ben.subscribe(ana).error == "InsufficientCredentials")
    #expect(
      try ben.call("POST", ana, action: "/publish").json["substreamChannelName"]?.stringValue
        == ana.channel
    )
    #expect(try ben.send("1", to: ana.channel).status == 200)
    let list = try server.send(as: ben.who, "GET", "/stream/kid/chat/_substreams").json
    #expect(list.arrayValue == [["_id": .string(ana.who.id)]])
    #expect(try server.send(as: ben.who, "GET", "/stream/kid/other/_substreams").json == [])
  }

  @Test("Who is taken out of the ACL is told nothing more, and 403")
  func revocation() throws {
    let server = try TestServer()
    let (ana, ben) = (try Member(server, "ana"), try Member(server, "ben"))
    #expect(try ana.grant(subscribe: [ben], publish: [ben]) == 200)
    _ = try ben.subscribe(ana)
    let position = try ben.poll(nil).json["t"]
    let waiting = try ben.start(position, ana.channel)
    _ = try ana.send("1", to: ana.channel)
    #expect(payloads(HTTPClient.receive(waiting)) == [1])
    let next = try ben.start(try ben.poll(nil).json["t"], ana.channel)
    #expect(try ana.grant() == 200)
    #expect(HTTPClient.receive(next)?.status == 403)
    _ = try ana.send("2", to: ana.channel)
    #expect(try ben.poll(position, ana.channel).status == 403)
    #expect(try ben.send("3", to: ana.channel).status == 403)
    // Let in again, he is not told what was sent while he was out.
    #expect(try ana.grant(subscribe: [ben]) == 200)
    _ = try ben.subscribe(ana)
    _ = try ana.send("4", to: ana.channel)
    #expect(try payloads(ben, since: position, count: 2) == [1, 4])
    #expect(
      try ben.call("POST", ana, action: "/unsubscribe", body: #"{"deviceId":"d"}"#).status == 204)
    #expect(try ben.poll(position, ana.channel).status == 403)
  }

  @Test("Publishing needs a session, the keys, a stream's channel, JSON, and no more than 32 KiB")
  func refusals() throws {
    let server = try TestServer()
    let ana = try Member(server, "ana")
    for channel in ["kid.c-notes", "kid.c-s-chat", "kid.s-chat", "kid.s-.u-x", "other.s-a.u-b"] {
      let answer = try ana.send("1", to: channel)
      #expect(answer.status == 403)
      #expect(answer.json["payload"]?["channels"]?.arrayValue == [.string(channel)])
    }
    #expect(try ana.post("{", to: ana.channel).status == 400)
    #expect(
      try ana.post("\"\(String(repeating: "x", count: 32 << 10))\"", to: ana.channel).status == 413)
    #expect(
      try ana.post("\"\(String(repeating: "x", count: (32 << 10) - 2))\"", to: ana.channel).status
        == 200)
    let path = "/publish/p/\(ana.text("subscribeKey"))/0/\(ana.channel)/0/1"
    #expect(try server.send(as: .nobody, "GET", path).status == 400)
    _ = try server.send(as: ana.who, "POST", "/user/kid/_logout")
    #expect(try ana.send("1", to: ana.channel).status == 403)
  }

  @Test("Malformed names and ACLs, and users who are not, are refused")
  func malformed() throws {
    let server = try TestServer()
    let ana = try Member(server, "ana")
    let own = "/stream/kid/chat/\(ana.who.id)"
    for acl in [#"{"subscribe":7}"#, #"{"publish":[1]}"#, #"{"groups":[]}"#] {
      #expect(try server.send(as: ana.who, "PUT", own, body: acl).error == "InputValidationFailed")
    }
    let dotted = try server.send(as: ana.who, "GET", "/stream/kid/a.b/\(ana.who.id)")
    #expect(dotted.error == "InvalidIdentifier")
    #expect(try server.send(as: .master, "GET", "/stream/kid/chat/nobody").error == "UserNotFound")
    #expect(try server.send(as: ana.who, "GET", own + "/publish").status == 405)
  }

  @Test("ACLs and subscriptions stand after a restart")
  func restart() throws {
    let directory = TemporaryDirectory()
    var server = try TestServer(in: directory)
    var (ana, ben) = (try Member(server, "ana"), try Member(server, "ben"))
    #expect(try ana.grant(subscribe: [ben]) == 200)
    _ = try ben.subscribe(ana)
    server.stop(graceSeconds: 5)
    server = try TestServer(in: directory)
    (ana.server, ben.server) = (server, server)
    let waiting = try ben.start(try ben.poll(nil).json["t"])
    #expect(try ana.send("1", to: ana.channel).status == 200)
    #expect(payloads(HTTPClient.receive(waiting)) == [1])
    #expect(try ana.call("GET", ana).json["subscribe"]?.arrayValue == [.string(ben.who.id)])
  }
}
