internal import KVBase
internal import KVJSON

/// The server above HTTP: takes requests, finds out who asks for what, and answers.
///
/// Event threads run it, so only what is sure to be quick is done there; the rest goes to workers, and
/// what hashes passwords to a few threads of its own, so that logins cannot crowd out everything else.
package final class Service: RequestHandler, Sendable {
  let apps = ServedApps()
  let store: any ServerStore
  let live: LiveService
  let indexBuilder: IndexBuilder
  /// Nil: there are no files.
  let fileJanitor: FileJanitor?
  let hasher: PasswordHasher
  /// A hash that no password matches, which is compared with when a user is unknown, so that this takes as long.
  let nobodysHash: String
  let throttle: LoginThrottle
  let use: UseLimiter
  /// For the groups of all requests and their answers.
  let groupMemory = MemoryBudget(limit: 8 * GroupReader.maxBytes)
  let settings: Settings
  private let workers: WorkerPool
  private let hashers: WorkerPool
  let log: Log
  package let metrics: Metrics
  let logicMetrics = LogicMetrics()
  let sessionUses = SessionUses()
  /// When the reads and writes of administrators had a line in the audit log last, in milliseconds since 1970, by who and what.
  let auditedData = Monitor(RecentTable<Int64>(limit: 10_000))

  package struct Settings: Sendable {
    package var name = "kvstored"
    package var passwordCost: UInt = 5
    /// Nil: sessions last until they are ended.
    package var sessionLife: SessionLife? = SessionLife(
      idleSeconds: 30 * 86_400, longestSeconds: 180 * 86_400)
    package var signUp = SignUpRules()
    package var discovery = Discovery()
    /// The characters that a new password has at least.
    package var passwordLength = 8
    /// Whether users have to say their old password when they change it.
    package var asksOldPassword = true
    package var limits = UseLimits()
    package var loginClock: @Sendable () -> Int64 = monotonicNanoseconds
    /// The clock for when devices were seen, in milliseconds since 1970.
    package var liveClock: @Sendable () -> Int64 = { Timestamp.now().milliseconds }
    /// The largest body, and the longest work on one request.
    package var bodyBytes = 0
    package var workSeconds = 0
    /// Where the bytes of files are; nil: there are none.
    package var files: FileDirectory?
    /// The largest file.
    package var fileBytes = 4 << 30
    /// Where clients reach the server, without a slash at the end; nil: at the host that they name.
    package var publicURL: String?
    /// Whether the server itself speaks TLS.
    package var hasTLS = false
    package var logic = AppTable<any BusinessLogic>()
    /// Takes the lines of the audit log; nil: there is none.
    package var audit: (@Sendable (AuditEvent) -> Void)?
    /// What that log calls those who have a master secret; the name of the secret, if it has one, is added.
    package var administrator = "master"

    package init() {}
  }

  /// The service is the store's only user; it closes it.
  package init(
    _ store: any ServerStore, apps: [AppCredentials],
    providers: AppTable<any IdentityProvider> = AppTable(),
    settings: Settings, workers: WorkerPool, hashers: WorkerPool, metrics: Metrics, log: Log
  ) throws(ServerError) {
    self.store = store
    live = LiveService(self.apps, store.history, epoch: store.epoch, log: log)
    indexBuilder = IndexBuilder(store.indexes, automatic: store.automaticIndexes, log: log)
    throttle = LoginThrottle(now: settings.loginClock)
    use = UseLimiter(settings.limits, now: settings.loginClock)
    self.settings = settings
    fileJanitor = settings.files.map { FileJanitor($0, store, log: log) }
    self.workers = workers
    self.hashers = hashers
    self.log = log
    self.metrics = metrics
    hasher = PasswordHasher(cost: settings.passwordCost)
    nobodysHash = hasher.hash(hexText(randomBytes(16))) ?? ""
    try serve(apps, providers)
    store.start(self.apps)
    indexBuilder.start()
    fileJanitor?.start()
    addMetrics(pools: [("data", workers), ("passwords", hashers)])
  }

  // MARK: Apps

  /// Serves these apps from now on, and no others: those that are new are opened, those that are not among them answer as if
  /// they had never been there. Those that stay notice nothing, unless their secrets or their provider are others. To be called by
  /// one thread at a time. If it throws, nothing has changed.
  package func serve(
    _ wanted: [AppCredentials], _ providers: AppTable<any IdentityProvider>
  ) throws(ServerError) {
    var (known, new): ([ServedApps.Served], [ServedApps.Served]) = ([], [])
    var changes: [(AuditEvent.Action, key: String)] = []
    let isReload = !apps.all.isEmpty
    for credentials in wanted {
      let provider = providers.find(credentials.key)
      if let served = apps.find(credentials.key) {
        let app = App(credentials, number: served.app.number, provider: provider)
        if !app.hasSameSecrets(as: served.app) { changes.append((.changeApp, app.key)) }
        known.append(.init(app: app, broker: served.broker))
      } else {
        let number = try store.app(credentials.key)
        let app = App(credentials, number: number, provider: provider)
        if isReload { changes.append((.addApp, app.key)) }
        new.append(.init(app: app, broker: try makeBroker(of: app)))
      }
    }
    try restoreListeners(of: new)
    for served in known + new { apps.add(served) }
    for served in new { store.follow(served.app.number) }
    for known in apps.all where !wanted.contains(where: { $0.key.hasSameBytes(as: known.app.key) })
    {
      apps.remove(known)
      known.broker.close()
      changes.append((.removeApp, known.app.key))
    }
    auditApps(changes)
  }

  private func makeBroker(of app: App) throws(ServerError) -> LiveBroker {
    let logic = logic(of: app)
    return try live.makeBroker(of: app) { Self.isSilent($0, logic) }
  }

  // MARK: Requests

  package func checkHead(_ head: Request) -> HeadCheck {
    do throws(ServerError) {
      let route = try route(of: head)
      if case .fileBytes(let key, let ticket) = route, head.method == .put {
        return try checkUpload(head, of: key, ticket: ticket)
      }
      let asker = try asker(of: head, route)
      if store.isLocal, case .pubNub(let call) = route, let refusal = try refusal(call, head) {
        return .refused(refusal)
      }
      let limit = route.takesEntities ? settings.bodyBytes : Self.maxDocumentBytes
      return .accepted(maxBodyBytes: min(settings.bodyBytes, limit), for: asker)
    } catch {
      return .refused(refusal(error, head))
    }
  }

  /// Documents are read into memory as values, which takes many times their length; entities are not.
  private static let maxDocumentBytes = 1 << 20

  package func handle(_ request: Request, _ reply: any Reply) {
    do throws(ServerError) {
      let route = try route(of: request)
      if try answersLater(request, route, reply: reply) { return }
      guard let pool = pool(for: route, request) else {
        return perform(route, request, reply: reply)
      }
      let isAccepted = pool.submit(for: try asker(of: request, route)) { [self] in
        perform(route, request, reply: reply)
      }
      if !isAccepted { throw ServerError(.stopping) }
    } catch {
      reply.send(refusal(error, request))
    }
  }

  /// The client that a request is counted for. Throws if its credentials are none, as far as that can be told at once: then
  /// it is not worth waiting for.
  private func asker(of request: Request, _ route: Route) throws(ServerError) -> Asker {
    guard let key = route.app else { return .address(request.client) }
    if store.isLocal { return try open(request, route, app: key).asker }
    switch try proof(request, for: try app(key), to: route).claim {
    case .principal: return .address(request.client)
    case .session(let token): return .session(token)
    }
  }

  private func perform(_ route: Route, _ request: Request, reply: any Reply) {
    if case .poll(let key, let channels) = route {
      return poll(request, key, channels: channels, reply: reply)
    }
    request.budget.resume()
    defer { request.budget.pause() }
    reply.send(answer(request, route))
  }

  /// Has the store find an entity without a thread that waits for it. False: the request has to take the usual way.
  private func answersLater(
    _ request: Request, _ route: Route, reply: any Reply
  ) throws(ServerError) -> Bool {
    guard !store.isLocal, case .entity(let key, let name, id: let id) = route,
      request.method == .get || request.method == .head, CollectionName.fault(in: name) == nil,
      settings.logic.find(key) == nil
    else { return false }
    let call = try open(request, route, app: key)
    return store.entities.get(id, in: call.collection(name), for: call.claim) { [self] found in
      do throws(ServerError) {
        var response = response(try found.get())
        response.mark(for: call, maxEntityBytes: settings.bodyBytes)
        noteUse(of: call.token, by: call.asker, onEventThread: true)
        audit(call, route)
        reply.send(response)
      } catch {
        audit(call, route, refusedBy: error)
        reply.send(refusal(error, request))
      }
    }
  }

  package func isPrivileged(_ head: Request) -> Bool {
    guard let route = try? route(of: head) else { return false }
    switch route {
    case .health: return true
    case .metrics: return (try? isAdministrator(head)) == true
    default:
      guard let key = route.app, let app = try? app(key),
        case .principal(.master)? = (try? proof(head, for: app))?.claim
      else { return false }
      return true
    }
  }

  package func refuse(_ problem: RequestProblem, requestId: String) -> Response {
    let error =
      switch problem {
      case .malformedHead(let why): ServerError(.badRequest, why)
      case .malformedTarget: ServerError(.badRequest, "the request target is malformed")
      case .unsupportedCoding(let coding):
        ServerError(.unsupportedMediaType, "Content-Encoding \(coding) is not supported")
      case .bodyTooLarge(let limit):
        ServerError(.payloadTooLarge, "a request body can have at most \(limit) bytes")
      case .stopping: ServerError(.stopping)
      case .tooManyConnections: ServerError(.stopping, "there are too many connections")
      case .outOfMemory:
        ServerError(.stopping, "the bodies of other requests use all of the memory for bodies")
      case .notTaken:
        ServerError(.internalErrorRetry, "the bytes could not be written: the disk may be full")
      }
    return Response.error(error, requestId: requestId)
  }

  private func route(of request: Request) throws(ServerError) -> Route {
    guard let route = Route(request.target.path) else {
      throw ServerError(.routeNotFound)
    }
    let method = request.method == .head ? Request.Method.get : request.method
    guard route.methods.contains(method) else {
      let names = route.methods.flatMap { $0 == .get ? ["GET", "HEAD"] : [$0.name] }
      throw ServerError(.methodNotAllowed, allow: names.joined(separator: ", "))
    }
    return route
  }

  /// The pool that works on it; nil: the event thread, for what is sure to be quick.
  private func pool(for route: Route, _ request: Request) -> WorkerPool? {
    let ifLocal = store.isLocal ? nil : workers
    return switch route {
    case .pubNub(.publish): workers
    case .pubNub: nil
    case .health, .ping: ifLocal
    case .entity(let app, _, id: _):
      // Business logic may be asked, which takes as long as it takes.
      (request.method == .get || request.method == .head) && settings.logic.find(app) == nil
        ? ifLocal : workers
    case .login: Self.isByProvider(request) ? workers : hashers
    case .users: request.method == .post ? hashers : workers
    case .user: request.method == .put ? hashers : workers
    case .password: hashers
    case .collections, .collection, .count, .delta, .group, .batch, .history, .indexes,
      .permissions, .rename, .logout,
      .me, .lookup,
      .files, .file, .fileBytes,
      .tokens, .sessions, .session, .identity, .invitations, .restoreUser, .userGroups, .userGroup,
      .usernameExists, .mail, .verifyAddress, .removeCollection, .customEndpoint, .register,
      .unregister, .subscribe, .unsubscribe, .poll,
      .streamACL, .streamPublish, .streamSubscribe, .streamUnsubscribe, .substreams, .metrics,
      .oauth:
      workers
    }
  }

  private func answer(_ request: Request, _ route: Route) -> Response {
    do throws(ServerError) {
      // It may have waited for so long that the client has gone.
      if request.budget.exhaustion != nil { throw ServerError(.stopping) }
      if case .pubNub(let call) = route { return try pubNub(request, call) }
      if case .metrics = route { return try metrics(request) }
      if case .fileBytes(let key, let ticket) = route {
        return try fileBytes(request, of: key, ticket: ticket)
      }
      if case .oauth(let call) = route { return oauth(request, call) }
      guard let key = route.app else { return try health() }
      // Once more: a session may have ended while the request waited for its turn.
      var call = try open(request, route, app: key)
      if settings.audit != nil { call.note = AuditNote() }
      var response: Response
      do throws(ServerError) {
        response = try ending(performProven(call, route), with: call, route)
      } catch {
        audit(call, route, refusedBy: error)
        throw error
      }
      audit(call, route)
      response.mark(for: call, maxEntityBytes: settings.bodyBytes)
      noteUse(of: call.token, by: call.asker, onEventThread: pool(for: route, request) == nil)
      return response
    } catch {
      return refusal(error, request)
    }
  }

  /// Has a worker do what an event thread must not. False: the server is about to end.
  func submit(for asker: Asker, _ work: @escaping @Sendable () -> Void) -> Bool {
    workers.submit(for: asker) { work() }
  }

  /// Lets the session of a request that was answered go on, at most once an hour.
  func noteUse(of token: String?, by asker: Asker, onEventThread: Bool = false) {
    guard let token, let life = settings.sessionLife else { return }
    let now = Timestamp.now()
    guard sessionUses.isDue(token, life, at: now) else { return }
    let extend = { @Sendable [store, log] in
      do throws(ServerError) { try store.sessions.extend(token, life, at: now) } catch {
        log.warning("a session could not be extended: \(error.cause ?? error.debug)")
      }
    }
    // What writes does not keep an event thread.
    if onEventThread { _ = workers.submit(for: asker) { extend() } } else { extend() }
  }

  /// The answer to a request that failed; what the log has to know goes there.
  func refusal(_ error: ServerError, _ request: Request) -> Response {
    switch request.budget.exhaustion {
    case .cancelled, .abandoned: return Response.error(ServerError(.stopping), to: request)
    case .timeIsOver:
      log.warning("request \(request.id) took more than \(settings.workSeconds) s and was ended")
      let error = ServerError(
        .internalErrorStop,
        "the server works on a request for at most \(settings.workSeconds) s")
      return Response.error(error, to: request)
    case nil:
      if let cause = error.cause { log.error("request \(request.id): \(cause)") }
      return Response.error(error, to: request)
    }
  }

  private func app(_ key: String) throws(ServerError) -> App {
    guard let served = apps.find(key) else { throw ServerError(.appNotFound) }
    return served.app
  }

  /// Proves who asks, before anything else of the request is looked at, unless the store does it in the same round trip as what
  /// it is asked for.
  private func open(
    _ request: Request, _ route: Route, app key: String
  ) throws(ServerError) -> AuthenticatedRequest {
    let app = try app(key)
    let proof = try proof(request, for: app, to: route)
    var claim = proof.claim
    let token: String? = if case .session(let token) = claim { token } else { nil }
    if store.isLocal || !route.isOfEntities || logic(of: app) != nil {
      claim = .principal(try store.sessions.principal(of: claim, in: app.number))
    }
    let version = try APIVersion.read(request.headers[.apiVersion])
    return AuthenticatedRequest(
      request: request, app: app, claim: claim, token: token, master: proof.master,
      apiVersion: version)
  }

  /// What is wrong with a request is told only to clients that may send it.
  private func performProven(
    _ call: AuthenticatedRequest, _ route: Route
  ) throws(ServerError) -> Response {
    do throws(ServerError) { return try perform(call, route) } catch {
      if error.status == 400 {
        _ = try store.sessions.principal(of: call.claim, in: call.app.number)
      }
      throw error
    }
  }

  private func perform(_ call: AuthenticatedRequest, _ route: Route) throws(ServerError) -> Response
  {
    switch route {
    case .health, .metrics, .oauth, .poll, .pubNub, .fileBytes: try health()
    case .ping: ping(call)
    case .collections: try collections(call)
    case .collection(_, let name): try collection(call, name)
    case .entity(_, let collection, id: let id): try entity(call, collection, id: id)
    case .count(_, let name): try count(call, name)
    case .delta(_, let name): try delta(call, name)
    case .group(_, let name): try group(call, name)
    case .batch(_, let name): try batch(call, name)
    case .history(_, let name): try history(call, name)
    case .indexes(_, let name): try indexes(call, name)
    case .permissions(_, let name): try permissions(call, name)
    case .rename(_, let name): try rename(call, name)
    case .users: try users(call)
    case .user(_, let id): try user(call, id)
    case .userGroups: try userGroups(call)
    case .userGroup(_, let id): try userGroup(call, id)
    case .files: try files(call)
    case .file(_, let id): try file(call, id)
    case .login: try login(call)
    case .logout: try logout(call)
    case .me: try me(call)
    case .lookup: try lookup(call)
    case .tokens(_, let user): try endSessions(call, of: user)
    case .sessions: try sessions(call)
    case .session(_, let id): try endSession(call, id)
    case .restoreUser(_, let id): try restore(call, id)
    case .password(_, let user): try setPassword(call, of: user)
    case .identity(_, let user): try identity(call, of: user)
    case .invitations: try invite(call)
    case .usernameExists: try usernameExists(call)
    case .mail: Response(204)
    case .verifyAddress(_, let name): try verifyAddress(call, of: name)
    case .removeCollection: try removeCollection(call)
    case .customEndpoint(_, let name): try customEndpoint(call, name)
    case .register(_, let user): try register(call, user)
    case .unregister(_, let user): try unregister(call, user)
    case .subscribe(_, let name): try subscribe(call, name)
    case .unsubscribe(_, let name): try unsubscribe(call, name)
    case .streamACL(_, let stream): try streamACL(call, stream)
    case .streamPublish(_, let stream): try publish(call, stream)
    case .streamSubscribe(_, let stream): try subscribe(call, stream)
    case .streamUnsubscribe(_, let stream): try unsubscribe(call, stream)
    case .substreams(_, let name): try substreams(call, name)
    }
  }

  // MARK: The server itself

  /// Answers 200 if the data can be read.
  private func health() throws(ServerError) -> Response {
    try store.check()
    return Response.json(200, ["status": "ok"])
  }

  private func ping(_ call: AuthenticatedRequest) -> Response {
    Response.json(
      200,
      [
        "version": .string(Version.text), "kinvey": .string("hello \(call.app.key)"),
        "appName": .string(settings.name), "environmentName": .string(call.app.key),
      ])
  }

  /// Answers all polls; from now on none waits.
  package func endPolls() { live.close() }

  package func close() {
    live.close()
    indexBuilder.close()
    fileJanitor?.close()
    store.close()
  }
}
