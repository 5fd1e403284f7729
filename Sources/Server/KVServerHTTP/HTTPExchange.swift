internal import CMicrohttpd
internal import Glibc
internal import KVBase
internal import KVServerCore

/// One request and its answer on a connection.
///
/// The event thread of the connection drives it from `receiving` to `answered`. The reply may come from
/// any thread: at once, and then the answer is queued in the same breath, or later, and then the
/// connection is suspended meanwhile, so that waiting costs no thread.
///
/// `@unchecked Sendable`: what other threads touch is protected by `state`; the rest belongs to the event
/// thread, or to a worker while the connection is `away`.
final class HTTPExchange: Reply, @unchecked Sendable {
  private enum Progress {
    /// The handler has not returned yet.
    case handling
    case suspended
    case replied(Response)
    case over
  }

  let connection: OpaquePointer
  let peer: Peer?
  let startedAt = Timestamp.now()
  private let startedTicks = monotonicNanoseconds()
  private unowned let server: HTTPServer
  private let rawTarget: String
  private(set) var request: Request?
  private let state = Monitor(Progress.handling)
  /// Whether the client was asked if it still reads. Only under the lock of `state`.
  private var hasAsked = false
  /// Whether the client skips the status 100: one of HTTP/1.0 does not know it.
  private var isInterimStatusKnown = false
  private var isDispatched = false
  /// Whether libmicrohttpd has had a round since the request was dispatched.
  private var hasYielded = false
  private let targetSize: Int
  /// The largest body that the handler accepts.
  private var bodyLimit = 0
  /// What the head says of the length of the body; nil: its end will be seen when it comes.
  private var length: Int?
  /// Whether a worker looks at the head, and what it has found out.
  private(set) var awaitsHeadCheck = false
  private var headCheck: HeadCheck?
  /// Whether a worker has the request, and the connection is suspended.
  private let away = Monitor(false)
  /// Whom writing to the body's place counts for.
  private var sinkAsker: Asker?
  /// How much of the body has come, kept or not, and how much of it since there is no use for it.
  private var received = 0
  private var unwanted = 0
  /// How much of it had come when the time for it began anew last.
  private var receivedInTime = 0
  /// What the body has reserved; nil: there is none.
  private var place: BodyPlace?
  /// Why the body is not kept any more.
  private var bodyProblem: RequestProblem?
  private var status = 0
  private var sentBytes = 0
  private var stream: BodyStream?

  /// `target` as it came; C owns it.
  init(_ connection: OpaquePointer, target: UnsafePointer<CChar>, server: HTTPServer) {
    self.connection = connection
    self.server = server
    rawTarget = String(cString: target)
    targetSize = strlen(target)
    peer = kv_mhd_peer(connection).map { Unmanaged<Peer>.fromOpaque($0).takeUnretainedValue() }
    if let peer { peer.mustAct(within: server.requestSeconds(of: peer)) }
    kv_mhd_hide_parameters(target)
  }

  // MARK: On the event thread

  /// The head is complete. What can be refused is refused now, before any of the body is read, or a client that waits
  /// for it is told to send it.
  func begin(method: UnsafePointer<CChar>, version: UnsafePointer<CChar>) -> MHD_Result {
    var head = HeadReader(connection)
    head.check(version: String(cString: version))
    isInterimStatusKnown = strcmp(version, "HTTP/1.1") == 0
    let target = Target(rawTarget)
    let isMethod = HeadReader.isMethod(method)
    let request = Request(
      method: isMethod ? .init(String(cString: method)) : .other("-"),
      target: target ?? .unreadable,
      id: Self.id(of: head.headers),
      headers: head.headers,
      client: server.proxies.client(
        peer?.address ?? "-", forwardedFor: head.headers[.forwardedFor]), budget: budget())
    self.request = request
    if let fault = head.fault { return refuse(.malformedHead(fault), closing: true) }
    guard isMethod else {
      return refuse(.malformedHead("the method is no token of at most 32 bytes"), closing: true)
    }
    guard kv_mhd_is_plain_head(connection, method, version, targetSize) != 0 else {
      return refuse(.malformedHead("the lines of the head are malformed"), closing: true)
    }
    if target == nil { return refuse(.malformedTarget, closing: true) }
    if head.hasBody, let coding = head.headers[.contentEncoding], coding.lowercased() != "identity"
    {
      return refuse(.unsupportedCoding(coding), closing: true)
    }
    if peer?.isSpare == true, !server.handler.isPrivileged(request) {
      return refuse(.tooManyConnections, closing: true)
    }
    guard head.hasBody else { return .YES }
    if server.isStopping { return refuse(.stopping, closing: true) }
    length = head.length
    return obey(server.handler.checkHead(request), request)
  }

  /// A worker has looked at the head.
  func goOn() -> MHD_Result {
    guard !isAway, let request, let check = headCheck else { return .YES }
    awaitsHeadCheck = false
    headCheck = nil
    return obey(check, request)
  }

  private func obey(_ check: HeadCheck, _ request: Request) -> MHD_Result {
    switch check {
    case .refused(let response): return answer(response, closing: true)
    case .accepted(let bodyBytes, let asker):
      bodyLimit = bodyBytes
      return expect(length ?? 0, of: asker, request)
    case .streamed(let sink, let bodyBytes, let asker):
      bodyLimit = bodyBytes
      if length ?? 0 > bodyLimit { return refuse(.bodyTooLarge(limit: bodyLimit), closing: true) }
      self.request?.sink = sink
      sinkAsker = asker
      return expect(min(length ?? 0, sinkBytes), of: asker, request)
    case .later(let asker, let find):
      awaitsHeadCheck = true
      leave(for: asker) { [self] isWorking in
        headCheck =
          isWorking ? find() : .refused(server.handler.refuse(.stopping, requestId: request.id))
      }
      return .YES
    }
  }

  /// Has a worker do something while the connection is suspended; `isWorking` false: there is no worker for it.
  private func leave(for asker: Asker, _ work: @escaping @Sendable (_ isWorking: Bool) -> Void) {
    peer?.mayWait()
    away.withLock { $0 = true }
    MHD_suspend_connection(connection)
    let isWorking = server.pool.submit(for: asker) { [self] in
      work(true)
      comeBack()
    }
    if !isWorking {
      work(false)
      comeBack()
    }
  }

  private func comeBack() {
    if let peer { peer.mustAct(within: server.requestSeconds(of: peer)) }
    away.withLock { $0 = false }
    MHD_resume_connection(connection)
  }

  private var isAway: Bool { away.withLock { $0 } }

  /// How much of a body that goes to a place of its own is in memory.
  private var sinkBytes: Int { min(256 << 10, server.bodyMemory.parts.user / 2) }

  /// Takes a place for the body.
  private func expect(_ length: Int, of asker: Asker, _ request: Request) -> MHD_Result {
    if length > bodyLimit { return refuse(.bodyTooLarge(limit: bodyLimit), closing: true) }
    let place = server.bodyMemory.place(
      of: asker, at: .place(request.client), expecting: length,
      cut: { [peer] in peer?.mustAct(within: 0) })
    guard let place else { return refuse(.outOfMemory, closing: true) }
    self.place = place
    self.request?.body = Payload(expecting: length, within: place)
    return .YES
  }

  /// How long work for this request may go on. It ends with the server, too.
  private func budget() -> WorkBudget {
    WorkBudget(seconds: Double(server.limits.workSeconds)) { [weak self] in
      guard let self else { return true }
      return server.isCuttingOff || isAbandoned
    }
  }

  /// A piece of the body. Returns how much of it was taken, too; the rest comes again.
  ///
  /// A body that turns out too long is read on for a while, because an answer can be sent only at its
  /// end; one that does not end is cut.
  func receive(_ piece: UnsafeRawBufferPointer) -> (MHD_Result, taken: Int) {
    guard let body = request?.body else { return (.NO, 0) }
    if isAway { return (.YES, 0) }
    if let sink = request?.sink, let sinkAsker, bodyProblem == nil, body.count > 0,
      body.count + piece.count > sinkBytes
    {
      leave(for: sinkAsker) { [self] isWorking in
        if !isWorking {
          bodyProblem = .stopping
        } else if !body.withBytes(sink.take) {
          bodyProblem = .notTaken
        }
        body.empty()
      }
      return (.YES, 0)
    }
    received &+= piece.count
    place?.arrived(piece.count)
    if received &- receivedInTime >= HTTPLimits.progressBytes, let peer {
      receivedInTime = received
      peer.mustAct(within: server.requestSeconds(of: peer))
    }
    if received > bodyLimit {
      bodyProblem = .bodyTooLarge(limit: bodyLimit)
    } else if bodyProblem == nil {
      body.append(piece)
      if !body.isComplete { bodyProblem = .outOfMemory }
    }
    if bodyProblem != nil {
      body.discard()
      unwanted &+= piece.count
    }
    return (unwanted > 2 &* server.limits.bodyBytes ? .NO : .YES, piece.count)
  }

  /// The request is whole, or the connection was resumed.
  func proceed() -> MHD_Result {
    guard let request else { return .NO }
    if !isDispatched {
      place?.end()
      if let response = server.crossOrigin.preflight(request) {
        return answer(response, closing: false)
      }
      if let bodyProblem {
        request.sink?.end()
        return refuse(bodyProblem)
      }
      if server.isStopping { return refuse(.stopping) }
      isDispatched = true
      peer?.mayWait()
      server.began(self)
      server.handler.handle(request, self)
    }
    let response = state.withLock { state -> Response? in
      switch state {
      case .replied(let response):
        state = .over
        return response
      case .handling where !hasYielded:
        // libmicrohttpd looks for more of the request before it goes on with one that was suspended in the round that has
        // read its end, and takes the end of what a client sends for the end of the connection. In the next round it knows
        // that there is nothing more to read.
        hasYielded = true
        return nil
      case .handling, .suspended:
        state = .suspended
        server.suspended(self)
        MHD_suspend_connection(connection)
        return nil
      case .over: return nil
      }
    }
    guard let response else { return .YES }
    return queue(response)
  }

  /// The answer has been sent, or the connection is gone.
  func complete() {
    state.withLock { $0 = .over }
    request?.budget.cancel()
    keepRest()
    place?.end()
    // A connection that is kept has as long for its next request as a new one.
    if let peer { peer.mustAct(within: server.requestSeconds(of: peer)) }
    let path = request?.target.rawPath ?? Target(rawTarget)?.rawPath ?? "-"
    server.observer(
      RequestRecord(
        startedAt: startedAt, nanoseconds: monotonicNanoseconds() &- startedTicks,
        client: request?.client ?? peer?.address ?? "-", method: request?.method.name ?? "-",
        path: path, route: RouteName(path: request?.target.path ?? []),
        status: status, bytes: stream?.sentBytes ?? sentBytes, requestId: request?.id ?? "-"))
    // Counted before it is no longer told as running: between the two it would be in neither number.
    if isDispatched { server.ended(self) }
  }

  /// Has what came of a body before the connection was cut go to its place, so that the client need not send it again.
  private func keepRest() {
    guard !isDispatched, bodyProblem == nil, let request, let sink = request.sink, let sinkAsker,
      request.body.count > 0
    else { return }
    _ = server.pool.submit(for: sinkAsker) { _ = request.body.withBytes(sink.take) }
  }

  private func refuse(_ problem: RequestProblem, closing: Bool = false) -> MHD_Result {
    answer(server.handler.refuse(problem, requestId: request?.id ?? ""), closing: closing)
  }

  /// Answers without the handler. `closing`: more of the request may come, and is not wanted.
  private func answer(_ response: Response, closing: Bool) -> MHD_Result {
    state.withLock { $0 = .over }
    if closing { peer?.mustLinger() }
    return queue(response, closing: closing)
  }

  private func queue(_ response: Response, closing: Bool = false) -> MHD_Result {
    status = response.status
    // A client that reads the answer slowly must not keep the memory of the body.
    if received > 0 { request?.body = Payload() }
    peer?.mustAct(within: server.limits.responseSeconds)
    guard let raw = make(response.body) else { return .NO }
    defer { MHD_destroy_response(raw) }
    for (name, value) in response.headers + headers(forAll: request) {
      MHD_add_response_header(raw, name, value)
    }
    if closing || server.isStopping { MHD_add_response_header(raw, "Connection", "close") }
    return MHD_queue_response(connection, UInt32(clamping: response.status), raw)
  }

  /// What every answer to a request carries.
  private func headers(forAll request: Request?) -> [(name: String, value: String)] {
    guard let request else { return Self.privacy }
    var headers = Self.privacy + server.crossOrigin.headers(for: request.headers[.origin])
    if request.headers[.plainRequestId] != nil { headers.append(("X-Request-Id", request.id)) }
    return headers
  }

  /// Answers are for the one who asked, and are what they say: no cache keeps them, and no browser guesses what they are.
  private static let privacy: [(name: String, value: String)] = [
    ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
  ]

  private func make(_ body: Response.Body) -> OpaquePointer? {
    switch body {
    case .none: return MHD_create_response_from_buffer(0, nil, .RESPMEM_PERSISTENT)
    case .whole(let payload):
      guard payload.isComplete else { return nil }
      sentBytes = request?.method == .head ? 0 : payload.count
      let owned = Unmanaged.passRetained(payload)
      let raw = MHD_create_response_from_buffer_with_free_callback_cls(
        payload.count, payload.mutableBase,
        { context in
          if let context { Unmanaged<Payload>.fromOpaque(context).release() }
        }, owned.toOpaque())
      if raw == nil { owned.release() }
      return raw
    case .stream(let source, let asker):
      let stream = BodyStream(
        source, over: connection, with: server.pool, for: asker,
        budget: request?.budget ?? .unlimited)
      // A long body that moves is not cut, however long it takes.
      if source.length != nil {
        let seconds = server.limits.responseSeconds
        stream.onProgress = { [peer] in peer?.mustAct(within: seconds) }
      }
      self.stream = stream
      let owned = Unmanaged.passRetained(stream)
      let raw = MHD_create_response_from_callback(
        source.length.map(UInt64.init) ?? UInt64.max, 64 << 10, readBodyStream, owned.toOpaque(),
        { context in
          if let context { Unmanaged<BodyStream>.fromOpaque(context).release() }
        })
      if raw == nil { owned.release() }
      return raw
    }
  }

  // MARK: On any thread

  func send(_ response: Response) {
    state.withLock { state in
      switch state {
      case .handling: state = .replied(response)
      case .suspended:
        state = .replied(response)
        server.resumed(self)
        MHD_resume_connection(connection)
      case .replied, .over: break
      }
    }
  }

  /// A client may close its half of the connection after the request, and still wait for the answer: so it is asked.
  var isAbandoned: Bool {
    state.withLock { state in
      // While it is suspended the connection cannot be closed, so that the socket is its own.
      switch (state, peer?.end) {
      case (.suspended, .closed): return true
      case (.suspended, .silent):
        if !hasAsked, isInterimStatusKnown { peer?.askIfStillReading() }
        hasAsked = true
        return false
      // The next piece of the answer shows it.
      case (.over, .closed): return stream?.isSuspended == true
      case (.suspended, _), (.over, _), (.handling, _), (.replied, _): return false
      }
    }
  }

  /// The client's name for the request, or one of ours.
  private static func id(of headers: Headers) -> String {
    let named = headers[.requestId] ?? headers[.plainRequestId]
    return named.flatMap(acceptableId) ?? Identifier.request()
  }

  /// A request id goes into headers and logs: short and printable, or it is replaced.
  private static func acceptableId(_ id: String) -> String? {
    let isPrintable = id.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    return !id.isEmpty && id.utf8.count <= 128 && isPrintable ? id : nil
  }
}

private func readBodyStream(
  _ context: UnsafeMutableRawPointer?, _ position: UInt64, buffer: UnsafeMutablePointer<CChar>?,
  size: Int
) -> Int {
  guard let context else { return MHD_CONTENT_READER_END_WITH_ERROR_VALUE }
  let stream = Unmanaged<BodyStream>.fromOpaque(context).takeUnretainedValue()
  return stream.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size))
}
