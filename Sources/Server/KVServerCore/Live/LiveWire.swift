internal import KVBase
internal import KVJSON

/// PubNub's wire format, for one app.
struct LiveWire: Sendable {
  let app: String
  let subscribeKey: String
  let publishKey: String
  /// Tells this data from other data, whose messages it does not know. Positive, and small enough
  /// for any client's integers.
  let region: Int64

  init(app: String, region: Int64) {
    self.app = app
    self.region = region
    subscribeKey = "sub-c-" + Self.name("subscribe", app)
    publishKey = "pub-c-" + Self.name("publish", app)
  }

  /// The channel group of a user. It opens nothing: polls prove who they are by a session.
  func group(of user: String) -> String { Self.name("group", app, user) }

  /// The collection that a channel belongs to, or the topic of a stream; nil: it is no channel of `user` in this app.
  func collection(of channel: String, for user: String) -> String? {
    if let stream = LiveStream(channel: channel, in: app) { return stream.topic }
    guard var rest = channel.dropping(prefix: "\(app).") else { return nil }
    rest = rest.dropping(suffix: ".u-\(user)") ?? rest
    return (rest.dropping(prefix: "c-") ?? rest.dropping(prefix: "x-")).map { String($0) }
  }

  func answer(
    _ messages: [LiveMessage], to poll: LiveBroker.Poll, next: Int64, isIncomplete: Bool = false
  ) -> Response {
    var answer = JSONObjectWriter()
    answer.add("t", position(next))
    if isIncomplete { answer.add("kvstore", ["incomplete": true]) }
    answer.add("m", json: messages.map { text(of: $0, for: poll) }.jsonArray)
    return Response.json(200, answer.finish())
  }

  private func text(of message: LiveMessage, for poll: LiveBroker.Poll) -> [UInt8] {
    let (channel, publisher, metadata) = envelope(of: message, for: poll)
    var text = JSONObjectWriter(reservingCapacity: message.payload.count &+ 384)
    text.add("a", "1")
    text.add("f", 0)
    text.add("i", .string(publisher))
    text.add("s", 0)
    text.add("p", position(message.time))
    text.add("k", .string(subscribeKey))
    text.add("c", .string(channel))
    text.add("b", .string(poll.group))
    if let metadata { text.add("u", metadata) }
    text.add("d", json: message.payload)
    return text.finish()
  }

  private func envelope(
    of message: LiveMessage, for poll: LiveBroker.Poll
  ) -> (channel: String, publisher: String, metadata: JSONValue?) {
    switch message.about.from {
    case .user(let id): return ("\(app).\(message.collection.dropFirst())", id, nil)
    case .change(let change):
      let kind = message.about.isNotice ? "x" : "c"
      let user = message.about.audience.isEverybody ? "" : ".u-\(poll.user)"
      return (
        "\(app).\(kind)-\(message.collection)\(user)", "kvstored",
        ["kvstore": ["change": .string("\(change)")]]
      )
    }
  }

  private func position(_ time: Int64) -> JSONValue {
    ["t": .string(String(time)), "r": .int(region)]
  }

  /// The payload in place of an entity that is not sent: its id.
  static func notice(_ id: String, at moment: Timestamp?) -> [UInt8] {
    var object: JSONObject = ["_id": .string(id)]
    if let moment { object["_kmd"] = ["lmt": .string(moment.description)] }
    return JSONValue.object(object).bytes
  }

  // MARK: Refusals

  func refusal(ofGroup group: String) -> Response {
    Self.forbidden(["channel-groups": .array([.string(group)])])
  }

  func refusal(of channels: [String]) -> Response {
    Self.forbidden(["channels": .array(channels.map { .string($0) })])
  }

  private static func forbidden(_ payload: JSONValue) -> Response {
    Response.json(
      403,
      [
        "status": 403, "error": true, "message": "Forbidden", "service": "Access Manager",
        "payload": payload,
      ])
  }

  // MARK: Publishing

  func sent(at time: Int64) -> Response {
    Response.json(200, .array([.int(1), "Sent", .string(String(time))]))
  }

  static func notSent(_ why: String) -> Response {
    Response.json(400, .array([.int(0), .string(why), "0"]))
  }

  static let tooLarge = Response.json(
    413, ["status": 413, "error": true, "message": "Request Entity Too Large"])

  static func invalid(_ what: String) -> Response {
    Response.json(400, ["status": 400, "error": true, "message": .string("Invalid \(what)")])
  }

  private static func name(_ parts: String...) -> String {
    String(hexText(SHA256.hash(parts.joined(separator: "\u{0}").utf8)).prefix(32))
  }
}
