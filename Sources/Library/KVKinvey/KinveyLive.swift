internal import KVBase
internal import KVHTTP
internal import KVJSON
package import KVSync
internal import KVTransport

/// Kinvey's Live Service: registration and subscription at the backend, long polls in PubNub's wire format at
/// the origin that goes with it. Safe from any thread.
package final class KinveyLive: LiveRemote {
  /// Where the hosted service polls.
  private static let hostedOrigin = "https://ps.pndsn.com"
  private static let maxAnswerBytes = 16 << 20

  let service: KinveyService
  /// For polls alone: they hold connections for minutes, of which others have only so many.
  private let polls: PollTransport
  /// The channels of substreams that may be published to, as far as they are known.
  let channels = Monitor<[LiveTopic: String]>([:])

  /// The transport stays the caller's to close.
  package init(_ service: KinveyService, polling polls: PollTransport) {
    self.service = service
    self.polls = polls
  }

  // MARK: Registration

  package func register(
    _ userId: String?, device: String, call: Call
  ) throws(StoreError) -> LiveRegistration {
    guard let userId else { throw StoreError(.noUser, "No user is logged in.") }
    let url = service.endpoint.url(.users, [userId, "register-realtime"])
    let answer = try service.exchange(
      "POST", url, body: Self.body(device), as: try service.userCredentials(), call: call)
    let json = try answer.json()
    guard let publish = json["publishKey"]?.stringValue,
      let subscribe = json["subscribeKey"]?.stringValue,
      let group = json["userChannelGroup"]?.stringValue,
      ![publish, subscribe, group].contains("")
    else { throw KinveyErrors.unusable(answer.head, "The backend's answer is not a registration.") }
    let rights = LiveRights(
      publishKey: publish, subscribeKey: subscribe, group: group,
      origin: origin(json["origin"]?.stringValue),
      takesHeader: answer.head["X-Kvstored-Live-Authorization"] == "header")
    return LiveRegistration(
      userId: userId, device: device, rights: rights.bytes,
      isNew: answer.head["X-Kvstored-Device"] == "new")
  }

  package func unregister(
    _ registration: LiveRegistration, token: String?, call: Call
  ) throws(StoreError) {
    guard let userId = registration.userId, let token else {
      throw StoreError(.noUser, "No user is logged in.")
    }
    let url = service.endpoint.url(.users, [userId, "unregister-realtime"])
    let body = Self.body(registration.device)
    try service.exchange("POST", url, body: body, as: .session(token: token), call: call)
      .acknowledged()
  }

  /// The origin that the backend names; else its own address, unless it is the hosted service. Never without TLS where the
  /// backend has it: the token goes there.
  private func origin(_ named: String?) -> String {
    let host = service.endpoint.host
    if let named,
      named.hasPrefix("https://") || host.hasPrefix("http://") && named.hasPrefix("http://")
    {
      return String(named.reversed().drop { $0 == "/" }.reversed())
    }
    return host.hasSuffix(".kinvey.com") ? Self.hostedOrigin : host
  }

  private static func body(_ device: String) -> HTTPBody {
    .bytes(JSONValue.object(["deviceId": .string(device)]).bytes)
  }

  // MARK: Topics

  package func join(
    _ topic: LiveTopic, _ registration: LiveRegistration, call: Call
  ) throws(StoreError) -> BackendMoment? {
    let url = url(of: topic, collection: "_subscribe", substream: "subscribe")
    let body = Self.body(registration.device)
    let answer = try service.exchange(
      "POST", url, body: body, as: try service.userCredentials(), call: call)
    try answer.acknowledged()
    return answer.head.requestStart
  }

  package func leave(
    _ topic: LiveTopic, _ registration: LiveRegistration, call: Call
  ) throws(StoreError) {
    let url = url(of: topic, collection: "_unsubscribe", substream: "unsubscribe")
    let body = Self.body(registration.device)
    try service.exchange("POST", url, body: body, as: try service.userCredentials(), call: call)
      .acknowledged()
  }

  private func url(of topic: LiveTopic, collection: String, substream: String) -> String {
    if let (stream, owner) = topic.substream {
      return service.endpoint.url(.streams, [stream, owner, substream])
    }
    return service.endpoint.url(.data, [topic.collection ?? "", collection])
  }

  // MARK: Polling

  package func poll(
    _ registration: LiveRegistration, from position: LivePosition?, call: Call
  ) throws(StoreError) -> LivePoll {
    let rights = try LiveRights(registration)
    var items: [KinveyEndpoint.QueryItem] = [.init("channel-group", rights.group)]
    items += position?.items ?? [.init("tt", "0")]
    guard case .session(let token) = try service.userCredentials() else {
      throw StoreError(.noUser, "No user is logged in.")
    }
    items += [
      .init("uuid", registration.device), .init("heartbeat", "300"),
      .init("pnsdk", "libkvstore/\(service.configuration.version)"),
    ]
    let path = "v2/subscribe/\(PercentEncoding.segment(rights.subscribeKey))/,/0"
    let answer = try fetch(rights, path, query: items, token: token, call: call)
    if let payload = try answer.pubNubRefusal() {
      // The session may have been renewed while the poll was held.
      if case .session(let now) = try service.userCredentials(), now != token {
        return try poll(registration, from: position, call: call)
      }
      return .refused(topics(payload), refusal(answer, "The user may not listen."))
    }
    guard answer.head.isSuccess else { throw foreignAnswer(answer, hiding: token) }
    do throws(JSONError) {
      let read = try LiveMessages(
        answer.body, appKey: service.configuration.appKey, userId: registration.userId ?? "")
      return .messages(read.messages, next: read.next, isIncomplete: read.isIncomplete)
    } catch {
      throw KinveyErrors.unusable(
        answer.head, "The answer to a poll is not valid", cause: error)
    }
  }

  package func probe(_ registration: LiveRegistration, _ call: Call) throws(StoreError) {
    let answer = try fetch(LiveRights(registration), "time/0", query: [], call: call)
    guard try answer.isPubNubTime() else { throw foreignAnswer(answer, hiding: nil) }
  }

  /// GET, or with a body POST, at the origin. `token`: the session's, nil for none.
  func fetch(
    _ rights: LiveRights, _ path: String, query items: [KinveyEndpoint.QueryItem],
    token: String? = nil, body: [UInt8]? = nil, call: Call
  ) throws(StoreError) -> HTTPResponse {
    var items = items
    // None of the backend's own headers: this may be a foreign host.
    var headers = [
      HTTPHeader("Accept", "application/json"),
      HTTPHeader("User-Agent", "libkvstore/\(service.configuration.version)"),
    ]
    if let token {
      // Proxies log the parameters of requests, and a reader of such a log could act as the user.
      if rights.takesHeader {
        headers.append(HTTPHeader("Authorization", "Kinvey \(token)"))
      } else {
        items.append(.init("auth", token))
      }
    }
    if body != nil { headers.append(HTTPHeader("Content-Type", "application/json")) }
    var request = HTTPRequest(
      body == nil ? "GET" : "POST", "\(rights.origin)/\(path)" + KinveyEndpoint.query(items),
      headers: headers, body: body.map { .once($0) }, maxBytes: Self.maxAnswerBytes)
    // Paths of this service have keys in them.
    request.loggedPath = "/\(path.prefix { $0 != "/" })"
    return try polls.open().exchange(request, for: call)
  }

  /// The topics that a refusal names; none: all, by their channel group.
  private func topics(_ payload: JSONValue) -> [LiveTopic] {
    (payload["channels"]?.arrayValue ?? []).compactMap { channel in
      channel.stringValue.flatMap { LiveChannel($0, appKey: service.configuration.appKey) }?.topic
    }
  }

  func refusal(_ answer: HTTPResponse, _ message: String) -> StoreError {
    var error = KinveyErrors.unusable(answer.head, message)
    error.kind = .forbidden
    return error
  }

  /// The error of an answer that PubNub would not give.
  func foreignAnswer(_ answer: HTTPResponse, hiding token: String?) -> StoreError {
    guard !answer.head.isSuccess else {
      return KinveyErrors.unusable(answer.head, "The answer does not come from Live Service.")
    }
    return KinveyErrors.error(answer.head, answer.body, hiding: token.map { [$0] } ?? [])
  }
}
