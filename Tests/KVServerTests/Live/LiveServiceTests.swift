internal import KVJSON
internal import KVTestSupport
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("Live Service over HTTP") struct LiveServiceTests {
  private func changes(_ answer: HTTPAnswer?) -> [String] {
    answer?.json["m"]?.arrayValue?.map { message in
      (message["u"]?["kvstore"]?["change"]?.stringValue ?? "")
        + " " + (message["d"]?["_id"]?.stringValue ?? "")
    } ?? []
  }

  @Test(
    "Every way to write is told, in its order, to a poll that waits and to one that comes later")
  func writes() throws {
    let server = try TestServer()
    let ana = try server.user("ana")
    let device = try LiveDevice(server, ana)
    #expect(try device.subscribe().status == 200)
    let position = try device.poll(nil).json["t"]
    let waiting = try device.start(position)
    _ = try server.send(as: ana, "POST", "/appdata/kid/notes", body: #"{"_id":"a"}"#)
    let first = HTTPClient.receive(waiting)
    #expect(changes(first) == ["create a"])
    _ = try server.send(
      as: ana, "POST", "/appdata/kid/notes", body: #"[{"_id":"b"},{"_id":"a"},{"_id":"c"}]"#)
    _ = try server.send(as: ana, "PUT", "/appdata/kid/notes/a", body: #"{"n":1}"#)
    _ = try server.send(as: ana, "PUT", "/appdata/kid/notes/d", body: #"{"n":1}"#)
    _ = try server.send(as: ana, "PUT", "/appdata/kid/notes/a", body: #"{"n":"#)
    _ = try server.send(as: ana, "DELETE", "/appdata/kid/notes/b")
    _ = try server.send(as: ana, "DELETE", query("/appdata/kid/notes", #"{"n":1}"#))
    _ = try server.send(
      as: ana, "POST", "/appdata/kid/notes/_batch",
      body: #"[{"method":"POST","entity":{"_id":"e"}},{"method":"PUT","id":"c","entity":{}},7]"#)
    _ = try server.send(
      as: ana, "POST", "/appdata/kid/notes/_batch", body: #"[{"method":"DELETE","id":"e"}]"#)
    _ = try server.send(as: ana, "POST", "/appdata/kid/others", body: #"{"_id":"o"}"#)
    let later = try device.poll(first?.json["t"], count: 10)
    #expect(
      changes(later) == [
        "create b", "create c", "update a", "create d", "delete b", "delete a", "delete d",
        "create e",
        "update c", "delete e",
      ])
    #expect(later.json["m"]?.arrayValue?[2]["d"]?["n"]?.intValue == 1)
  }

  @Test("Readers that an access list does not name any more get a deletion, the others the update")
  func revoked() throws {
    let server = try TestServer()
    let (ana, ben, eva) = (try server.user("ana"), try server.user("ben"), try server.user("eva"))
    let (hers, his) = (try LiveDevice(server, ana), try LiveDevice(server, ben))
    let third = try LiveDevice(server, eva)
    _ = try (hers.subscribe(), his.subscribe(), third.subscribe())
    func put(_ acl: String) throws {
      _ = try server.send(
        as: ana, "PUT", "/appdata/kid/notes/a", body: #"{"_acl":{"gr":false,\#(acl)}}"#)
    }
    let begin = try [hers, his, third].map { try $0.poll(nil).json["t"] }
    try put(#""r":["\#(ben.id)","\#(eva.id)"]"#)
    let her = try hers.poll(begin[0], count: 1).json["t"]
    let him = try his.poll(begin[1], count: 1).json["t"]
    let them = try third.poll(begin[2], count: 1).json["t"]
    try put(#""r":["\#(eva.id)"]"#)
    try put(#""r":["\#(eva.id)"],"x":1"#)
    #expect(changes(try hers.poll(her, count: 2)) == ["update a", "update a"])
    #expect(changes(try third.poll(them, count: 2)) == ["update a", "update a"])
    let delivered = try his.poll(him)
    #expect(changes(delivered) == ["delete a"])
    #expect(
      delivered.json["m"]?.arrayValue?.first?["c"]?.stringValue == "kid.x-notes.u-\(ben.id)")
    // What everybody could read, and of a group.
    _ = try server.send(
      as: ana, "PUT", "/appdata/kid/notes/b", body: #"{"_acl":{"gr":true}}"#)
    #expect(changes(try his.poll(delivered.json["t"])) == ["create b"])
    let next = try his.poll(nil).json["t"]
    _ = try server.send(
      as: ana, "PUT", "/appdata/kid/notes/b", body: #"{"_acl":{"gr":false}}"#)
    #expect(changes(try his.poll(next)) == ["delete b"])
  }

  @Test("An entity and its deletion reach those who may read it, and nobody else")
  func permissions() throws {
    let server = try TestServer()
    let (ana, ben) = (try server.user("ana"), try server.user("ben"))
    let (hers, his) = (try LiveDevice(server, ana), try LiveDevice(server, ben))
    _ = try (hers.subscribe(), his.subscribe())
    let (her, him) = (try hers.poll(nil).json["t"], try his.poll(nil).json["t"])
    _ = try server.send(
      as: ana, "POST", "/appdata/kid/notes", body: #"{"_id":"a","_acl":{"gr":false}}"#)
    _ = try server.send(
      as: ana, "POST", "/appdata/kid/notes",
      body: #"{"_id":"b","_acl":{"gr":false,"r":["\#(ben.id)"]}}"#)
    _ = try server.send(as: ana, "DELETE", "/appdata/kid/notes/a")
    _ = try server.send(as: ana, "DELETE", "/appdata/kid/notes/b")
    #expect(
      changes(try hers.poll(her, count: 4)) == ["create a", "create b", "delete a", "delete b"])
    let delivered = try his.poll(him, count: 2)
    #expect(changes(delivered) == ["create b", "delete b"])
    #expect(
      delivered.json["m"]?.arrayValue?.map { $0["c"]?.stringValue } == [
        "kid.c-notes.u-\(ben.id)", "kid.x-notes.u-\(ben.id)",
      ])
    _ = try server.send(
      as: .master, "PUT", "/appdata/kid/secret/_permissions", body: #"{"read":"never"}"#)
    #expect(try his.subscribe("secret").error == "InsufficientCredentials")
  }

  @Test(
    "Polls without a valid session, group, key, channel or time are refused as PubNub refuses them")
  func refusals() throws {
    let server = try TestServer()
    let (ana, ben) = (try server.user("ana"), try server.user("ben"))
    let device = try LiveDevice(server, ana)
    var other = device
    other.who = ben
    let refused = try other.poll(nil)
    #expect(refused.status == 403)
    #expect(refused.json["service"]?.stringValue == "Access Manager")
    #expect(refused.json["payload"]?["channel-groups"]?.arrayValue == [.string(device.group)])
    other.who = .user(id: "x", token: "wrong")
    #expect(try other.poll(nil).status == 403)
    let base = "/v2/subscribe/\(device.key)"
    let auth = "auth=\(ana.authorization?.dropFirst(7) ?? "")"
    for time in ["x", "-1", "99999999999999999999", ""] {
      let target = "\(base)/,/0?channel-group=\(device.group)&tt=\(time)&\(auth)"
      #expect(try server.send(as: .nobody, "GET", target).status == 400, "tt=\(time)")
    }
    #expect(try server.send(as: .nobody, "GET", "/v2/subscribe/none/,/0?\(auth)").status == 400)
    #expect(try server.send(as: .nobody, "GET", "\(base)/,/0?\(auth)").status == 400)
    let many = (0..<1000).map { "kid.c-x\($0)" }.joined(separator: ",")
    for channel in ["kid.c-notes", "garbage", "%00", "kid.", "%F0%9F%A6%86", many] {
      let answer = try server.send(as: .nobody, "GET", "\(base)/\(channel)/0?\(auth)")
      #expect(answer.status == 403 || answer.status == 400, "\(channel.prefix(20))")
    }
    _ = try device.subscribe()
    #expect(try server.send(as: .nobody, "GET", "\(base)/kid.c-notes/0?\(auth)").status == 200)
  }

  @Test(
    "The token of a poll or of a message may stand in the header, which logs of proxies do not have"
  )
  func tokenInHeader() throws {
    let server = try TestServer()
    let ana = try server.user("ana")
    let path = "/user/kid/\(ana.id)/register-realtime"
    let answer = try server.send(as: ana, "POST", path, body: #"{"deviceId":"device"}"#)
    #expect(answer.headers["x-kvstored-live-authorization"] == "header")
    let device = try LiveDevice(server, ana)
    let poll = "/v2/subscribe/\(device.key)/,/0?channel-group=\(device.group)&tt=0"
    #expect(try server.send(as: ana, "GET", poll).status == 200)
    #expect(try server.send(as: .nobody, "GET", poll).status == 403)
    let wrong = TestServer.Who.user(id: ana.id, token: "wrong")
    #expect(try server.send(as: wrong, "GET", poll).status == 403)
    #expect(try server.send(as: .master, "GET", poll).status == 403)
    let key = answer.json["publishKey"]?.stringValue ?? ""
    let publish = "/publish/\(key)/\(device.key)/0/kid.s-chat.u-\(ana.id)/0"
    #expect(try server.send(as: ana, "POST", publish, body: "1").status == 200)
    #expect(try server.send(as: wrong, "POST", publish, body: "1").status == 403)
  }

  @Test("Time, presence and publishing are answered")
  func others() throws {
    let server = try TestServer()
    let device = try LiveDevice(server, try server.user("ana"))
    #expect(try server.send(as: .nobody, "GET", "/time/0").json.arrayValue?.count == 1)
    for action in ["leave", "heartbeat"] {
      let target = "/v2/presence/sub-key/\(device.key)/channel/,/\(action)?channel-group=g"
      #expect(try server.send(as: .nobody, "GET", target).json["action"]?.stringValue == action)
    }
  }

  @Test("Registration is a user's own affair and names a device; subscribing needs it")
  func registration() throws {
    let server = try TestServer()
    let (ana, ben) = (try server.user("ana"), try server.user("ben"))
    let path = "/user/kid/\(ana.id)/register-realtime"
    let device = #"{"deviceId":"d"}"#
    #expect(try server.send(as: ben, "POST", path, body: device).error == "InsufficientCredentials")
    #expect(
      try server.send(as: .master, "POST", path, body: device).error == "InsufficientCredentials")
    #expect(try server.send(as: ana, "POST", path, body: "{}").error == "IncompleteRequestBody")
    #expect(
      try server.send(as: ana, "POST", path, body: #"{"deviceId":7}"#).error
        == "IncompleteRequestBody")
    #expect(try server.send(as: ana, "GET", path).status == 405)
    let join = "/appdata/kid/notes/_subscribe"
    #expect(try server.send(as: ana, "POST", join, body: device).error == "MissingConfiguration")
    #expect(try server.send(as: ana, "POST", path, body: device).status == 200)
    #expect(try server.send(as: ana, "POST", path, body: device).status == 200)
    #expect(try server.send(as: ana, "POST", join, body: device).status == 200)
    #expect(
      try server.send(as: ana, "POST", "/appdata/kid/notes/_unsubscribe", body: device).status
        == 204)
    let end = "/user/kid/\(ana.id)/unregister-realtime"
    #expect(try server.send(as: ana, "POST", end, body: device).status == 204)
    #expect(try server.send(as: ana, "POST", join, body: device).error == "MissingConfiguration")
  }

  @Test("A logout and an unregistration end the poll that waits")
  func endings() throws {
    let server = try TestServer()
    let ana = try server.user("ana")
    let device = try LiveDevice(server, ana)
    let position = try device.poll(nil).json["t"]
    let first = try device.start(position)
    _ = try server.send(
      as: ana, "POST", "/user/kid/\(ana.id)/unregister-realtime", body: #"{"deviceId":"device"}"#)
    #expect(HTTPClient.receive(first)?.status == 403)
    let again = try LiveDevice(server, ana)
    let second = try again.start(position)
    _ = try server.send(as: ana, "POST", "/user/kid/_logout")
    #expect(HTTPClient.receive(second)?.status == 403)
  }

  @Test("A session that ends takes the subscriptions of its devices along, and nobody else's")
  func endOfSession() throws {
    let server = try TestServer()
    let first = try server.user("ana")
    let login = try server.send(
      as: .app, "POST", "/user/kid/login", body: #"{"username":"ana","password":"pass"}"#)
    let second = TestServer.Who.user(
      id: first.id, token: login.json["_kmd"]?["authtoken"]?.stringValue ?? "")
    for (index, end) in [
      ("POST", "/user/kid/_logout", nil),
      ("PUT", "/user/kid/\(first.id)", #"{"password":"new"}"#),
    ].enumerated() {
      let ending = index == 0 ? second : first
      let (device, other) = (#"{"deviceId":"a"}"#, #"{"deviceId":"b"}"#)
      let register = "/user/kid/\(first.id)/register-realtime"
      let join = "/appdata/kid/notes/_subscribe"
      for (who, body) in [(first, device), (second, other)] where index == 0 {
        #expect(try server.send(as: who, "POST", register, body: body).status == 200)
        #expect(try server.send(as: who, "POST", join, body: body).status == 200)
      }
      _ = try server.send(as: ending, end.0, end.1, body: end.2)
      // What is left is the first session, with its own device.
      #expect(try server.send(as: first, "POST", join, body: other).error == "MissingConfiguration")
      #expect(try server.send(as: first, "POST", join, body: device).status == 200)
    }
    #expect(try server.send(as: .master, "DELETE", "/user/kid/\(first.id)/tokens").status == 204)
    let again = try server.send(
      as: .app, "POST", "/user/kid/login", body: #"{"username":"ana","password":"new"}"#)
    let third = TestServer.Who.user(
      id: first.id, token: again.json["_kmd"]?["authtoken"]?.stringValue ?? "")
    let join = try server.send(
      as: third, "POST", "/appdata/kid/notes/_subscribe", body: #"{"deviceId":"a"}"#)
    #expect(join.error == "MissingConfiguration")
  }

  @Test("A device that registers again in another session outlives the first one")
  func movedDevice() throws {
    let server = try TestServer()
    let first = try LiveDevice(server, try server.user("ana"))
    _ = try first.subscribe()
    let login = try server.send(
      as: .app, "POST", "/user/kid/login", body: #"{"username":"ana","password":"pass"}"#)
    let token = login.json["_kmd"]?["authtoken"]?.stringValue ?? ""
    let second = try LiveDevice(server, .user(id: first.who.id, token: token))
    let waiting = try second.start(try second.poll(nil).json["t"])
    #expect(try server.send(as: first.who, "POST", "/user/kid/_logout").status == 204)
    _ = try server.send(as: second.who, "POST", "/appdata/kid/notes", body: #"{"_id":"a"}"#)
    #expect(changes(HTTPClient.receive(waiting)) == ["create a"])
  }

  @Test("After a restart the subscription stands, and a poll is told what came meanwhile")
  func restart() throws {
    let directory = TemporaryDirectory()
    var server = try TestServer(in: directory)
    let ana = try server.user("ana")
    var device = try LiveDevice(server, ana)
    _ = try device.subscribe()
    let position = try device.poll(nil).json["t"]
    _ = try server.send(as: ana, "POST", "/appdata/kid/notes", body: #"{"_id":"before"}"#)
    let waiting = try device.start(try device.poll(position).json["t"])
    server.stop(graceSeconds: 5)
    let last = HTTPClient.receive(waiting)
    #expect(last == nil || last?.status == 200 || last?.status == 503)
    server = try TestServer(in: directory)
    device.server = server
    _ = try server.send(as: ana, "POST", "/appdata/kid/notes", body: #"{"_id":"a"}"#)
    let answer = try device.poll(position, count: 2)
    #expect(answer.json["kvstore"] == nil)
    #expect(changes(answer) == ["create before", "create a"])
    let next = try device.start(answer.json["t"])
    _ = try server.send(as: ana, "POST", "/appdata/kid/notes", body: #"{"_id":"b"}"#)
    #expect(changes(HTTPClient.receive(next)) == ["create b"])
  }

  @Test(
    "Writers and listeners at once: every listener is told every write, once, in the order of each entity"
  )
  func race() throws {
    let server = try TestServer()
    let ana = try server.user("ana")
    let device = try LiveDevice(server, ana)
    _ = try device.subscribe()
    let position = try device.poll(nil).json["t"]
    let headers = [("Authorization", ana.authorization ?? "")]
    let port = server.port
    _ = concurrently(6) { thread -> String? in
      guard thread >= 3 else {
        guard let client = HTTPClient(port: port) else { return nil }
        for round in 0..<40 {
          let body = Array(#"{"n":\#(round)}"#.utf8)
          _ = client.send("PUT", "/appdata/kid/notes/e\(round % 2)", headers: headers, body: body)
        }
        return nil
      }
      var (next, delivered, times) = (position, 0, [String: String]())
      while delivered < 120, let answer = try? device.poll(next), answer.status == 200 {
        for message in answer.json["m"]?.arrayValue ?? [] {
          delivered += 1
          let id = message["d"]?["_id"]?.stringValue ?? ""
          let time = message["d"]?["_kmd"]?["lmt"]?.stringValue ?? ""
          #expect(times[id] ?? "" < time)
          times[id] = time
        }
        next = answer.json["t"]
      }
      #expect(delivered == 120)
      return nil
    }
  }
}
