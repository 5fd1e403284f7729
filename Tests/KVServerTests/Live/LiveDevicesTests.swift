internal import KVBase
internal import KVJSON
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("Devices that listen") struct LiveDevicesTests {
  private static let day: Int64 = 86_400_000

  private let clock = Monitor<Int64>(1_800_000_000_000)
  private let directory = TemporaryDirectory()

  private func server() throws -> TestServer {
    let clock = clock
    return try TestServer(in: directory) { $0.liveClock = { clock.withLock { $0 } } }
  }

  /// Lets days pass, once the server has read what it has written: what it read before must not bring back a device that is
  /// forgotten afterwards.
  private func pass(days: Int64, on server: TestServer) throws {
    _ = try server.metrics { $0.contains("\nkvstored_feed_waiting 0\n") }
    clock.withLockNotifyingAll { $0 += days * Self.day }
  }

  @discardableResult
  private func register(_ server: TestServer, _ who: TestServer.Who, device: String) throws
    -> JSONValue
  {
    let answer = try server.send(
      as: who, "POST", "/user/kid/\(who.id)/register-realtime", body: #"{"deviceId":"\#(device)"}"#)
    #expect(answer.status == 200)
    return answer.json
  }

  /// The error of a subscription; nil: it succeeds.
  private func subscribe(_ server: TestServer, _ who: TestServer.Who, device: String) throws
    -> String?
  {
    try server.send(
      as: who, "POST", "/appdata/kid/notes/_subscribe", body: #"{"deviceId":"\#(device)"}"#
    )
    .error
  }

  /// What a device of our clients polls, or with another `sdk` one of PubNub's.
  private func target(
    _ registration: JSONValue, _ who: TestServer.Who, device: String, position: JSONValue? = nil,
    sdk: String = "libkvstore/1"
  ) -> String {
    let key = registration["subscribeKey"]?.stringValue ?? ""
    let group = registration["userChannelGroup"]?.stringValue ?? ""
    let token = who.authorization?.dropFirst("Kinvey ".count) ?? ""
    let time = position?["t"]?.stringValue ?? "0"
    return "/v2/subscribe/\(key)/,/0?channel-group=\(group)&tt=\(time)&auth=\(token)"
      + "&uuid=\(device)&pnsdk=\(sdk)"
  }

  @Test(
    "and were not seen for 30 days are forgotten; polls and subscriptions are seen, restarts too")
  func expiry() throws {
    var server = try server()
    let ana = try server.user("ana")
    let registration = try register(server, ana, device: "a")
    for device in ["b", "c"] { try register(server, ana, device: device) }
    try pass(days: 20, on: server)
    #expect(
      try server.send(as: .nobody, "GET", target(registration, ana, device: "b")).status == 200)
    #expect(try subscribe(server, ana, device: "c") == nil)
    try pass(days: 11, on: server)
    try register(server, ana, device: "new")
    #expect(try subscribe(server, ana, device: "a") == "MissingConfiguration")
    server.stop(graceSeconds: 1)
    server = try self.server()
    try pass(days: 20, on: server)
    #expect(try subscribe(server, ana, device: "b") == nil)
    try pass(days: 15, on: server)
    try register(server, ana, device: "newer")
    #expect(try subscribe(server, ana, device: "b") == nil)
    for device in ["a", "c", "new"] {
      #expect(try subscribe(server, ana, device: device) == "MissingConfiguration", "\(device)")
    }
  }

  @Test("and poll under a name of PubNub's are seen by their session")
  func otherClients() throws {
    let server = try server()
    let (ana, ben) = (try server.user("ana"), try server.user("ben"))
    let registration = try register(server, ana, device: "a")
    try register(server, ben, device: "b")
    try pass(days: 20, on: server)
    let poll = target(registration, ana, device: "pn-1", sdk: "PubNub-JS-Web/4")
    #expect(try server.send(as: .nobody, "GET", poll).status == 200)
    try pass(days: 11, on: server)
    try register(server, ana, device: "new")
    #expect(try subscribe(server, ana, device: "a") == nil)
    #expect(try subscribe(server, ben, device: "b") == "MissingConfiguration")
  }

  @Test("and are gone are told so, and the others of the user go on")
  func gone() throws {
    let server = try server()
    let ana = try server.user("ana")
    let registration = try register(server, ana, device: "a")
    try register(server, ana, device: "b")
    let first = target(registration, ana, device: "a")
    let position = try server.send(as: .nobody, "GET", first).json["t"]
    let waiting = try #require(RawConnection(port: server.port))
    let poll = target(registration, ana, device: "a", position: position)
    waiting.send("GET \(poll) HTTP/1.1\r\nHost: test\r\n\r\n")
    let end = "/user/kid/\(ana.id)/unregister-realtime"
    #expect(try server.send(as: ana, "POST", end, body: #"{"deviceId":"a"}"#).status == 204)
    #expect(HTTPClient.receive(waiting)?.status == 403)
    #expect(try server.send(as: .nobody, "GET", first).status == 403)
    #expect(
      try server.send(as: .nobody, "GET", target(registration, ana, device: "b")).status == 200)
    let other = target(registration, ana, device: "a", sdk: "PubNub-JS-Web/4")
    #expect(try server.send(as: .nobody, "GET", other).status == 200)
  }
}
