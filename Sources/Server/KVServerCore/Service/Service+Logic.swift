internal import KVBase
internal import KVJSON
internal import KVQuery

/// Business logic: what the operator's own service says about requests.
extension Service {
  /// The service of an app; nil: it has none.
  func logic(for call: AuthenticatedRequest) -> LogicClient? {
    logic(of: call.app).map { LogicClient(logic: $0, metrics: logicMetrics, log: log) }
  }

  func logic(of app: App) -> (any BusinessLogic)? { settings.logic.find(app.key) }

  /// Carries out writes, with the hooks around them.
  ///
  /// `check` looks at them once more, as they are after the hooks.
  func perform(
    _ writes: [Result<EntityWrite, ServerError>], for call: AuthenticatedRequest, in name: String,
    check: ([Result<EntityWrite, ServerError>]) -> [Result<EntityWrite, ServerError>] = { $0 }
  ) throws(ServerError) -> [Result<WrittenEntity?, ServerError>] {
    let key = call.collection(name)
    try countCollection(key, writes, for: call)
    guard let hooks = Hooks(call, name, of: self) else {
      return try store.entities.perform(check(writes), in: key, for: call.claim)
    }
    let writes = hooks.visible(writes)
    var (results, stale) = try perform(writes, in: key, for: call, hooks, check: check)
    for index in stale {
      guard let write = try? writes[index].get(), write.isUnconditional else { continue }
      // What the service was asked about has been changed by others since: it is asked again.
      results[index] = .failure(ServerError(.stopping, "others change the entity all the time"))
      for _ in 1...Self.maxAttempts {
        let again = try perform([.success(write)], in: key, for: call, hooks, check: check)
        guard again.stale.isEmpty else { continue }
        results[index] = again.results[0]
        break
      }
    }
    return hooks.shown(results)
  }

  /// How often business logic is asked about a change by operators that others are faster than.
  private static let maxAttempts = 8

  private func perform(
    _ writes: [Result<EntityWrite, ServerError>], in key: CollectionKey,
    for call: AuthenticatedRequest, _ hooks: Hooks,
    check: ([Result<EntityWrite, ServerError>]) -> [Result<EntityWrite, ServerError>]
  ) throws(ServerError) -> (results: [Result<WrittenEntity?, ServerError>], stale: [Int]) {
    let allowed = check(try hooks.before(known(writes, for: call, in: key, hooks)))
    let results = try store.entities.perform(allowed, in: key, for: call.claim)
    hooks.after(allowed, results)
    // Not those that the service has refused.
    let stale = results.indices.filter { (try? allowed[$0].get()) != nil && results[$0].isStale }
    return (results, stale)
  }

  /// The writes with changes by operators as what they make of the entities now, if business logic is asked about saves: it
  /// decides about entities.
  private func known(
    _ writes: [Result<EntityWrite, ServerError>], for call: AuthenticatedRequest,
    in key: CollectionKey, _ hooks: Hooks
  ) -> [Result<EntityWrite, ServerError>] {
    guard hooks.asksAboutSaves else { return writes }
    return writes.map { write in
      guard case .success(.change(let change)) = write,
        let found = try? store.entities.get(change.id, in: key, for: call.claim)
      else { return write }
      return Result { () throws(ServerError) in
        // A damaged entity has no bytes.
        guard found.body.count > 0 else { return .change(change) }
        try change.condition.check(found.modified)
        let draft = try change.draft(of: found.body.withBytes { Array($0) }, at: found.start)
        return .put(draft, if: .revision(found.modified))
      }
    }
  }

  /// Counts a collection that these writes make. The administrator makes as many as they like.
  private func countCollection(
    _ key: CollectionKey, _ writes: [Result<EntityWrite, ServerError>],
    for call: AuthenticatedRequest
  ) throws(ServerError) {
    guard !call.isAdministrator, writes.contains(where: { (try? $0.get())?.mayCreate == true })
    else {
      return
    }
    // A store that is not local has not looked the session up.
    let user =
      switch call.claim {
      case .principal(.user(let id)): id
      case .principal: ""
      case .session(let token): token
      }
    try use.make(key, by: user) { () throws(ServerError) in
      try store.collections.exists(key)
    } count: { () throws(ServerError) in
      try store.collections.count(app: key.app)
    }
  }

  /// Carries out one write, with the hooks around it. Nil: the entity was deleted.
  func perform(
    _ write: EntityWrite, for call: AuthenticatedRequest, in name: String
  ) throws(ServerError) -> WrittenEntity? {
    let results = try perform([.success(write)], for: call, in: name)
    guard let result = results.first else { throw ServerError(.internalErrorRetry) }
    return try result.get()
  }

  /// Reads entities, with the hooks around that. `filter`: the client's, if it does not stand in the URL. `since`: only what has
  /// changed since then is read. `reading` gives what the client asks for; nil: one entity.
  func fetch(
    _ call: AuthenticatedRequest, in name: String, id: String? = nil, filter: String? = nil,
    changedSince since: String? = nil,
    reading: ((AuthenticatedRequest) throws(ServerError) -> Reading)? = nil,
    read: (AuthenticatedRequest) throws(ServerError) -> Response
  ) throws(ServerError) -> Response {
    guard let hooks = Hooks(call, name, of: self) else { return try read(call) }
    let asked = call
    var call = call
    switch try hooks.beforeFetch(id: id, query: filter ?? call["query"], changedSince: since) {
    case .answered(let response): return response
    case .narrowed(let query): call.filter = query
    case .proceed: break
    }
    if let reading { try hooks.check(try reading(asked)) }
    if call.explains { try hooks.checkExplanation() }
    call.afterFetch = hooks.afterFetch
    return try read(call)
  }

  /// What the parameters of a URL ask for.
  static func reading(_ call: AuthenticatedRequest) throws(ServerError) -> Reading {
    Reading(query: try QueryParameters.read(call), counts: call.wantsCount)
  }

  /// Whether live data of a collection would go past a hook that decides what readers see.
  static func isSilent(_ collection: String, _ logic: (any BusinessLogic)?) -> Bool {
    // Streams have topics that are no collections.
    guard let logic, CollectionName.fault(in: collection) == nil else { return false }
    return Hooks.hidesEntities(logic, of: collection)
  }

  /// Calls a custom endpoint of the operator's service.
  func customEndpoint(_ call: AuthenticatedRequest, _ name: String) throws(ServerError) -> Response
  {
    guard let client = logic(for: call), client.logic.hasEndpoint(name) else {
      throw ServerError(.endpointNotFound)
    }
    var head = call.logicHead
    head["event"] = "custom"
    head["endpoint"] = .string(name)
    var message = JSONObjectWriter(head)
    if !call.body.isBlank {
      let body = call.body.withBytes { Array($0) }
      do { _ = try JSONValue(parsing: body) } catch { throw ServerError(error) }
      message.add("body", json: body)
    }
    let answer = try client.send("custom", message.finish(), for: call.request)
    guard (200..<500).contains(answer.status) else {
      client.metrics.add("custom", .failed)
      log.error("business logic, \(name), request \(call.request.id): status \(answer.status)")
      throw ServerError(.logicFailed, "business logic failed")
    }
    client.metrics.add("custom", answer.status < 400 ? .accepted : .refused)
    return Self.response(answer)
  }

  /// The answer of an endpoint as the client gets it. Without a type of its own, its body is taken for JSON.
  private static func response(_ answer: LogicAnswer) -> Response {
    var response =
      answer.body.isEmpty ? Response(answer.status) : Response.json(answer.status, answer.body)
    if let type = answer.contentType {
      response.headers = answer.body.isEmpty ? [] : [("Content-Type", type)]
    }
    if let location = answer.location { response.headers.append(("Location", location)) }
    return response
  }
}

extension EntityWrite {
  /// Whether a change by operators has no condition of its client's.
  fileprivate var isUnconditional: Bool {
    if case .change(let change) = self { change.condition == .none } else { false }
  }
}

extension Result<WrittenEntity?, ServerError> {
  fileprivate var isStale: Bool {
    if case .failure(let error) = self { error.code == .staleRequest } else { false }
  }
}

extension AuthenticatedRequest {
  /// Whether the answer has the number of all entities that match.
  var wantsCount: Bool { request.headers[.includeItemsCount]?.lowercased() == "true" }

  /// Whether the answer says how the query was answered.
  var explains: Bool { request.headers[.explain]?.lowercased() == "true" }

  /// What business logic makes of the entities of an answer, and the members of those that the client asks for: a hook that
  /// decides by a member sees it also where the client does not want it.
  func transform(
    _ projection: Projection?
  ) -> (@Sendable (Payload) throws(ServerError) -> [UInt8])? {
    guard let afterFetch, let projection else { return afterFetch }
    return { (entities) throws(ServerError) in
      let changed = Payload(try afterFetch(entities))
      return Service.joined(try Service.each(of: changed) { projection.apply(to: $0) })
    }
  }

  /// What the operator's service is told of every request.
  var logicHead: JSONObject {
    var head: JSONObject = ["app": .string(app.key), "requestId": .string(request.id)]
    switch proven {
    case .user(let id)?:
      head["role"] = "user"
      head["user"] = .string(id)
    case .app?: head["role"] = "app"
    case .master?: head["role"] = "master"
    // Sessions of apps with business logic are looked up first.
    case nil: break
    }
    return head
  }
}
