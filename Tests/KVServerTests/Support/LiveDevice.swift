internal import KVBase
internal import KVJSON

@testable import KVServer

/// A device that has registered for Live Service, and what it knows.
struct LiveDevice {
  var server: TestServer
  var who: TestServer.Who
  var key: String
  var group: String
  var id = "device"

  init(_ server: TestServer, _ who: TestServer.Who) throws {
    self.server = server
    self.who = who
    let answer = try server.send(
      as: who, "POST", "/user/kid/\(who.id)/register-realtime", body: #"{"deviceId":"device"}"#)
    guard let key = answer.json["subscribeKey"]?.stringValue,
      let group = answer.json["userChannelGroup"]?.stringValue,
      answer.json["publishKey"]?.stringValue != nil
    else { throw TestServer.Missing(what: "registration: \(answer.text)") }
    (self.key, self.group) = (key, group)
  }

  func subscribe(_ collection: String = "notes") throws -> HTTPAnswer {
    try server.send(
      as: who, "POST", "/appdata/kid/\(collection)/_subscribe", body: #"{"deviceId":"device"}"#)
  }

  func target(_ position: JSONValue?) -> String {
    let token = who.authorization.map { String($0.dropFirst("Kinvey ".count)) } ?? ""
    let time = position?["t"]?.stringValue ?? "0"
    let region = position?["r"]?.intValue.map { "&tr=\($0)" } ?? ""
    return
      "/v2/subscribe/\(key)/,/0?channel-group=\(group)&tt=\(time)\(region)&auth=\(token)&uuid=u"
  }

  func poll(_ position: JSONValue?) throws -> HTTPAnswer {
    try server.send(as: .nobody, "GET", target(position))
  }

  /// Polls until so many messages have come: the server that was written to need not have heard of its commit yet when
  /// the write returns.
  func poll(_ position: JSONValue?, count: Int) throws -> HTTPAnswer {
    let deadline = Deadline.after(seconds: 60)
    while true {
      let answer = try poll(position)
      if answer.json["m"]?.arrayValue?.count ?? 0 >= count || deadline.hasPassed { return answer }
    }
  }

  /// A poll on a connection of its own, which waits.
  func start(_ position: JSONValue?) throws -> RawConnection {
    guard let connection = RawConnection(port: server.port) else {
      throw TestServer.Missing(what: "port")
    }
    connection.send("GET \(target(position)) HTTP/1.1\r\nHost: test\r\n\r\n")
    return connection
  }
}
