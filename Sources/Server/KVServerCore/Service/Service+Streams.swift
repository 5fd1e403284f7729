internal import KVBase
internal import KVJSON

/// User-to-user streams: who may do what is said over Kinvey's protocol, messages are published over PubNub's.
extension Service {
  // MARK: Kinvey's side

  func streamACL(_ call: AuthenticatedRequest, _ stream: LiveStream) throws(ServerError) -> Response
  {
    try check(stream, call)
    // Who else is let in is the owner's business.
    if !call.isAdministrator, try !call.user().utf8.elementsEqual(stream.owner.utf8) {
      throw ServerError(.insufficientCredentials, "only the user of a stream can use its ACL")
    }
    if call.request.method == .put {
      let acl = try LiveStreamACL(try Self.object(call.body))
      guard try store.streams.set(acl, of: stream, app: call.app.number) else {
        throw ServerError(.badRequest, "a user can have at most \(LiveStream.maxPerUser) streams")
      }
      try removeStrangers(from: stream, acl, app: call.app.number)
    }
    let acl = try store.streams.acl(of: stream, app: call.app.number)
    return Response.json(200, (acl ?? LiveStreamACL()).json)
  }

  func publish(_ call: AuthenticatedRequest, _ stream: LiveStream) throws(ServerError) -> Response {
    try check(stream, call)
    guard try acl(of: stream, call.app).mayPublish(try call.user(), to: stream) else {
      throw ServerError(.insufficientCredentials, "the stream's ACL does not allow publishing")
    }
    return Self.answer(stream, call)
  }

  func subscribe(_ call: AuthenticatedRequest, _ stream: LiveStream) throws(ServerError) -> Response
  {
    try check(stream, call)
    let listener = try listener(call)
    let user = try call.user()
    guard try acl(of: stream, call.app).maySubscribe(user, to: stream) else {
      throw ServerError(.insufficientCredentials, "the stream's ACL does not allow subscribing")
    }
    try add(listener, stream.topic, call: call)
    return Self.answer(stream, call)
  }

  func unsubscribe(_ call: AuthenticatedRequest, _ stream: LiveStream) throws(ServerError)
    -> Response
  {
    try check(stream, call)
    try remove(try listener(call), stream.topic, call: call)
    return Response(204)
  }

  /// The substreams that the user may subscribe or publish to.
  func substreams(_ call: AuthenticatedRequest, _ name: String) throws(ServerError) -> Response {
    try Self.check(stream: name)
    let user: String? = call.isAdministrator ? nil : try call.user()
    let streams = try store.streams.acls(of: name, app: call.app.number).filter { owner, acl in
      guard let user else { return true }
      let stream = LiveStream(name, of: owner)
      return acl.maySubscribe(user, to: stream) || acl.mayPublish(user, to: stream)
    }
    return Response.json(200, .array(streams.map { ["_id": .string($0.owner)] }))
  }

  private static func answer(_ stream: LiveStream, _ call: AuthenticatedRequest) -> Response {
    Response.json(200, ["substreamChannelName": .string(stream.channel(in: call.app.key))])
  }

  private static func check(stream name: String) throws(ServerError) {
    guard LiveStream.isName(name) else {
      throw ServerError(
        .invalidIdentifier,
        "a stream's name must have 1 to 128 letters, digits, hyphens and underscores")
    }
  }

  private func check(_ stream: LiveStream, _ call: AuthenticatedRequest) throws(ServerError) {
    try Self.check(stream: stream.name)
    guard try store.accounts.find(id: stream.owner, of: call.app.number) != nil else {
      throw ServerError(.userNotFound)
    }
  }

  private func acl(of stream: LiveStream, _ app: App) throws(ServerError) -> LiveStreamACL {
    try store.streams.acl(of: stream, app: app.number) ?? LiveStreamACL()
  }

  /// Ends the subscriptions of those whom the ACL no longer lets in.
  private func removeStrangers(
    from stream: LiveStream, _ acl: LiveStreamACL, app: Int64
  ) throws(ServerError) {
    guard let broker = apps.broker(of: app) else { return }
    for user in try store.registrations.users(of: stream.topic, app: app)
    where !acl.maySubscribe(user, to: stream) {
      try store.registrations.removeAll(of: user, app: app, collection: stream.topic)
      let group = broker.wire.group(of: user)
      broker.members { $0.unsubscribe(group, stream.topic) }
      broker.refuse(
        group: group, naming: stream.topic, channel: stream.channel(in: broker.wire.app))
    }
  }

  // MARK: PubNub's side

  /// The answer to a message whose body is not wanted; nil: it is.
  func refusal(_ call: PubNubCall, _ head: Request) throws(ServerError) -> Response? {
    guard case .publish(_, let key, let channel, _) = call else { return nil }
    guard let served = apps.find(subscribeKey: key) else {
      return LiveWire.invalid("Subscribe Key")
    }
    let (app, broker) = (served.app, served.broker)
    let session = try store.sessions.find(Self.liveToken(head))
    return session?.app == app.number ? nil : broker.wire.refusal(of: [channel])
  }

  /// Sends a message to those who listen to a substream. Nothing else can be published to: entities are announced by
  /// the server alone.
  func publish(
    _ request: Request, publishKey: String, key: String, channel: String, message: String?
  ) throws(ServerError) -> Response {
    guard let served = apps.find(subscribeKey: key) else {
      return LiveWire.invalid("Subscribe Key")
    }
    let (app, broker) = (served.app, served.broker)
    guard publishKey == broker.wire.publishKey else { return LiveWire.invalid("Publish Key") }
    let session = try store.sessions.find(Self.liveToken(request))
    guard let session, session.app == app.number,
      let stream = LiveStream(channel: channel, in: app.key)
    else { return broker.wire.refusal(of: [channel]) }
    let acl = try acl(of: stream, app)
    guard acl.mayPublish(session.user, to: stream),
      try store.accounts.find(id: stream.owner, of: app.number) != nil
    else { return broker.wire.refusal(of: [channel]) }
    let bytes = message.map { Array($0.utf8) } ?? request.body.withBytes { Array($0) }
    guard bytes.count <= LiveBroker.maxBytes else { return LiveWire.tooLarge }
    guard (try? JSONValue(parsing: bytes)) != nil else {
      return LiveWire.notSent("Invalid JSON")
    }
    let time = try store.publish(
      bytes, to: stream.topic, from: session.user, audience: acl.audience(of: stream),
      in: app.number)
    return broker.wire.sent(at: time)
  }
}
