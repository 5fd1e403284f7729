internal import KVBase
internal import KVJSON

/// Live Service: registration and subscription over Kinvey's protocol, long polls over PubNub's.
extension Service {
  // MARK: Kinvey's side

  func register(_ call: AuthenticatedRequest, _ user: String) throws(ServerError) -> Response {
    let (group, device, broker) = try listener(call)
    let token = try call.session(of: user)
    let now = settings.liveClock()
    try forgetDevices(at: now)
    let isKnown = isRegistered(group, device: device, broker: broker)
    try store.registrations.register(
      device, of: user, app: call.app.number, session: token, at: now)
    let session = SessionToken.hash(token)
    if let dropped = broker.members({
      $0.register(group, device: device, session: session, at: now)
    }) {
      try store.registrations.remove(device: dropped, of: user, app: call.app.number)
      broker.refuse(group: group, device: dropped)
    }
    // The session may have ended before there was anything to take along.
    if try store.sessions.find(token) == nil {
      try endListening(of: user, app: call.app.number, in: .one(token))
      throw ServerError(.invalidCredentials)
    }
    var response = Response.json(
      200,
      [
        "subscribeKey": .string(broker.wire.subscribeKey),
        "publishKey": .string(broker.wire.publishKey), "userChannelGroup": .string(group),
      ])
    // Then our clients keep the token out of the addresses that proxies log.
    response.headers.append(("X-Kvstored-Live-Authorization", "header"))
    // Our clients ask then for what they missed.
    if !isKnown { response.headers.append(("X-Kvstored-Device", "new")) }
    return response
  }

  /// Whether a device is registered – perhaps on another server, a moment ago. Nil: any device of the user's.
  private func isRegistered(_ group: String, device: String?, broker: LiveBroker) -> Bool {
    func isKnown() -> Bool {
      broker.members { members in
        device.map { members.isRegistered(group, device: $0) } ?? members.isRegistered(group)
      }
    }
    if isKnown() { return true }
    store.catchUp()
    return isKnown()
  }

  /// Forgets the devices that are gone for good. Done when another one comes: that is when they become more.
  private func forgetDevices(at now: Int64) throws(ServerError) {
    var isAny = false
    for served in apps.all {
      let broker = served.broker
      for group in broker.members({ $0.expire(at: now) }) {
        isAny = true
        if !broker.members({ $0.isRegistered(group) }) { broker.refuse(group: group) }
      }
    }
    if isAny { try store.registrations.forget(seenBefore: now - LiveMembers.longestAbsence) }
  }

  func unregister(_ call: AuthenticatedRequest, _ user: String) throws(ServerError) -> Response {
    let (group, device, broker) = try listener(call)
    _ = try call.session(of: user)
    try unregister([device], of: user, group: group, broker: broker, app: call.app.number)
    return Response(204)
  }

  private func unregister(
    _ devices: [String], of user: String, group: String, broker: LiveBroker, app: Int64
  ) throws(ServerError) {
    var removed: [String] = []
    defer {
      // What the store has read before must not bring them back.
      if !removed.isEmpty { store.catchUp() }
      for device in removed {
        broker.members { $0.unregister(group, device: device) }
        broker.refuse(group: group, device: device)
      }
      if !broker.members({ $0.isRegistered(group) }) { broker.refuse(group: group) }
    }
    for device in devices {
      try store.registrations.remove(device: device, of: user, app: app)
      removed.append(device)
    }
  }

  func subscribe(_ call: AuthenticatedRequest, _ name: String) throws(ServerError) -> Response {
    try Self.check(collection: name)
    let listener = try listener(call)
    _ = try viewer(call, name).rule(for: .read)
    if Self.isSilent(name, logic(of: call.app)) { throw Hooks.passesBy("live data", "fetch") }
    let start = try store.entities.readStart(in: call.app.number)
    try add(listener, name, call: call)
    var response = Response.json(200, [:])
    response.headers += moment(start)
    return response
  }

  func unsubscribe(_ call: AuthenticatedRequest, _ name: String) throws(ServerError) -> Response {
    try Self.check(collection: name)
    try remove(try listener(call), name, call: call)
    return Response(204)
  }

  /// A device of the user's, by the user's channel group.
  typealias Listener = (group: String, device: String, broker: LiveBroker)

  /// `topic` is a collection, or that of a stream.
  func add(_ listener: Listener, _ topic: String, call: AuthenticatedRequest) throws(ServerError) {
    let (group, device, broker) = listener
    recordActivity(
      device, of: try call.user(), group: group, session: nil, broker: broker, app: call.app.number)
    guard isRegistered(group, device: device, broker: broker) else {
      throw ServerError(.missingConfiguration, "this deviceId must call register-realtime first")
    }
    guard broker.members({ $0.subscribe(group, device: device, collection: topic) }) else {
      throw ServerError(.badRequest, "a device can have at most \(LiveMembers.maxCollections)")
    }
    try store.registrations.add(
      .init(app: call.app.number, user: try call.user(), device: device, collection: topic))
  }

  func remove(_ listener: Listener, _ topic: String, call: AuthenticatedRequest) throws(ServerError)
  {
    let (group, device, broker) = listener
    try store.registrations.remove(
      .init(app: call.app.number, user: try call.user(), device: device, collection: topic))
    store.catchUp()
    broker.members { $0.unsubscribe(group, device: device, collection: topic) }
  }

  func listener(_ call: AuthenticatedRequest) throws(ServerError) -> Listener {
    guard let broker = apps.broker(of: call.app.number) else { throw ServerError(.appNotFound) }
    let group = broker.wire.group(of: try call.user())
    guard let device = try Self.object(call.body)["deviceId"]?.stringValue, !device.isEmpty,
      device.utf8.count <= 255
    else {
      throw ServerError(.incompleteRequestBody, "deviceId must be a string of 1 to 255 bytes")
    }
    return (group, device, broker)
  }

  /// Sessions of a user have ended: so do their polls, and the subscriptions of the devices that were registered in
  /// them.
  func endListening(
    of user: String, app: Int64, in sessions: SessionSubset
  ) throws(ServerError) {
    guard let broker = apps.broker(of: app) else { return }
    let group = broker.wire.group(of: user)
    switch sessions {
    case .one(let token): broker.refuse(session: token)
    case .named(let name): broker.refuse(sessionNamed: name, group: group)
    case .allBut(let token): broker.refuse(group: group, butOf: token)
    }
    let devices = try store.registrations.devices(of: user, app: app, in: sessions)
    try unregister(devices, of: user, group: group, broker: broker, app: app)
  }

  /// The user is no more.
  func forgetListener(_ user: String, app: Int64) throws(ServerError) {
    guard let broker = apps.broker(of: app) else { return }
    try store.registrations.removeAll(of: user, app: app)
    try store.streams.removeAll(of: user, app: app)
    store.catchUp()
    let group = broker.wire.group(of: user)
    broker.members { $0.unregister(group) }
    broker.refuse(group: group)
  }

  /// Restores the subscriptions that there were when apps were served last.
  func restoreListeners(of apps: [ServedApps.Served]) throws(ServerError) {
    guard !apps.isEmpty else { return }
    let brokers = Dictionary(uniqueKeysWithValues: apps.map { ($0.app.number, $0.broker) })
    let now = settings.liveClock()
    try store.registrations.forgetEnded(at: now)
    for row in try store.registrations.all() {
      guard let broker = brokers[row.app] else { continue }
      let group = broker.wire.group(of: row.user)
      broker.members { members in
        if row.collection.isEmpty {
          members.register(group, device: row.device, session: row.session, at: row.seen ?? now)
          return
        }
        _ = members.subscribe(group, device: row.device, collection: row.collection)
      }
    }
  }

  // MARK: PubNub's side

  /// A poll that is answered at once.
  private struct Refusal: Error {
    let response: Response
    init(_ response: Response) { self.response = response }
  }

  /// Answers a long poll, now or later.
  func poll(_ request: Request, _ key: String, channels: String, reply: any Reply) {
    guard let served = apps.find(subscribeKey: key) else {
      return reply.send(LiveWire.invalid("Subscribe Key"))
    }
    let (app, broker) = (served.app, served.broker)
    let named = Self.list(channels)
    do throws(Refusal) {
      let poll = try permitted(request, named, app: app, broker: broker)
      recordActivity(
        request.target["uuid"], of: poll.user, group: poll.group, session: poll.token,
        broker: broker, app: app.number)
      noteUse(of: poll.token, by: .session(poll.token))
      _ = isRegistered(poll.group, device: poll.device, broker: broker)
      broker.poll(poll, reply: reply)
      refuseIfOver(poll, named, broker: broker)
    } catch {
      reply.send(error.response)
    }
  }

  /// The session may have ended, or a right been taken away, before the poll was among those that wait, when
  /// there was no poll to end.
  private func refuseIfOver(_ poll: LiveBroker.Poll, _ channels: [String], broker: LiveBroker) {
    if (try? store.sessions.find(poll.token) == nil) ?? false { broker.refuse(session: poll.token) }
    guard poll.collections != nil else { return }
    for channel in channels {
      guard let topic = broker.wire.collection(of: channel, for: poll.user),
        !broker.members({ $0.isSubscribed(poll.group, to: topic) })
      else { continue }
      broker.refuse(group: poll.group, naming: topic, channel: channel)
    }
  }

  /// The token of the session that a call of PubNub's belongs to: that of the header or, as PubNub's own clients send it, the parameter
  /// `auth`.
  static func liveToken(_ request: Request) -> String {
    Authenticator.session(request.headers[.authorization]) ?? request.target["auth"] ?? ""
  }

  /// A poll of the user's own group, or of channels that it has subscribed to.
  private func permitted(
    _ request: Request, _ channels: [String], app: App, broker: LiveBroker
  ) throws(Refusal) -> LiveBroker.Poll {
    let token = Self.liveToken(request)
    let groups = Self.list(request.target["channel-group"] ?? "")
    let session: Session?
    do { session = try store.sessions.find(token) } catch {
      throw Refusal(Response.error(error, to: request))
    }
    guard let session, session.app == app.number else {
      throw Refusal(
        groups.first.map { broker.wire.refusal(ofGroup: $0) } ?? broker.wire.refusal(of: channels))
    }
    let own = broker.wire.group(of: session.user)
    if let other = groups.first(where: { $0 != own && $0 != "\(own)-pnpres" }) {
      throw Refusal(broker.wire.refusal(ofGroup: other))
    }
    let topics =
      groups.isEmpty ? try topics(of: channels, session.user, group: own, broker: broker) : nil
    guard let position = Self.position(request.target) else {
      throw Refusal(LiveWire.invalid("Timetoken"))
    }
    return LiveBroker.Poll(
      user: session.user, group: own, token: token, expires: session.expires,
      since: position.time == 0 ? nil : position, collections: topics,
      device: Self.device(request.target))
  }

  /// Our clients say which device polls; PubNub's own name themselves as they like.
  private static func device(_ target: Target) -> String? {
    target["pnsdk"]?.hasPrefix("libkvstore/") == true ? target["uuid"] : nil
  }

  /// Records that something came from a device, or from one of a session.
  private func recordActivity(
    _ device: String?, of user: String, group: String, session token: String?,
    broker: LiveBroker, app: Int64
  ) {
    let now = settings.liveClock()
    let session = token.map(SessionToken.hash) ?? ""
    let overdue = broker.members {
      $0.recordActivity(group, device: device, session: session, at: now)
    }
    // If that fails the next hour brings it.
    for device in overdue {
      try? store.registrations.recordActivity(device, of: user, app: app, seen: now)
    }
  }

  private func topics(
    of channels: [String], _ user: String, group: String, broker: LiveBroker
  ) throws(Refusal) -> Set<RecordID> {
    guard !channels.isEmpty else { throw Refusal(LiveWire.invalid("Channel List")) }
    let found = channels.map { broker.wire.collection(of: $0, for: user) }
    func unsubscribed() -> [String] {
      let subscribed = broker.members { members in
        found.map { $0.map { members.isSubscribed(group, to: $0) } == true }
      }
      return zip(channels, subscribed).filter { !$1 }.map(\.0)
    }
    var refused = unsubscribed()
    if !refused.isEmpty {
      // Perhaps they were subscribed to on another server, a moment ago.
      store.catchUp()
      refused = unsubscribed()
    }
    guard refused.isEmpty else { throw Refusal(broker.wire.refusal(of: refused)) }
    return Set(found.compactMap { $0.map { RecordID($0) } })
  }

  private static func list(_ text: String) -> [String] {
    text.utf8.split(separator: UInt8(ascii: ",")).map { String(Substring($0)) }
  }

  private static func position(_ target: Target) -> LivePosition? {
    guard let time = Int64(target["tt"] ?? "0"), time >= 0 else { return nil }
    guard let region = target["tr"] else { return LivePosition(time: time) }
    return Int64(region).map { LivePosition(time: time, region: $0) }
  }

  /// Calls of the service that are answered at once.
  func pubNub(_ request: Request, _ call: PubNubCall) throws(ServerError) -> Response {
    switch call {
    case .time:
      return Response.json(200, .array([.int(Timestamp.now().milliseconds &* 10_000)]))
    case .presence(let action):
      return Response.json(
        200,
        [
          "status": 200, "message": "OK", "action": .string(action.rawValue),
          "service": "Presence",
        ])
    case .publish(let publishKey, let key, let channel, let message):
      return try publish(
        request, publishKey: publishKey, key: key, channel: channel, message: message)
    }
  }
}
