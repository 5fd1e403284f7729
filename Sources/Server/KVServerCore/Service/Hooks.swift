internal import KVBase
internal import KVJSON
internal import KVQuery

/// Asks the operator's service about one request to a collection. The administrator's requests have no hooks: the service
/// itself makes such requests, and would ask itself for ever.
struct Hooks: Sendable {
  private let client: LogicClient
  private let request: Request
  private let head: JSONObject
  private let collection: String
  /// The most bytes that an entity may have.
  private let entityBytes: Int

  /// Nil: no service is asked.
  init?(_ call: AuthenticatedRequest, _ collection: String, of service: Service) {
    guard let client = service.logic(for: call), !call.isAdministrator else { return nil }
    self.client = client
    self.collection = collection
    entityBytes = service.settings.bodyBytes
    request = call.request
    var head = call.logicHead
    head["collection"] = .string(collection)
    self.head = head
  }

  // MARK: Saving and deleting

  /// The writes without changes by operators, if a service decides about what readers see: a change could move what is hidden to a
  /// member that is not, and its errors would tell of it.
  func visible(
    _ writes: [Result<EntityWrite, ServerError>]
  ) -> [Result<EntityWrite, ServerError>] {
    guard Self.hidesEntities(client.logic, of: collection) else { return writes }
    return writes.map { write in
      if case .success(.change) = write {
        .failure(Self.passesBy("changes by operators", "fetch"))
      } else {
        write
      }
    }
  }

  /// Whether the service is asked about entities that are saved.
  var asksAboutSaves: Bool { isWanted(.beforeSave) }

  /// Asks about writes before they are carried out. Entities may come back changed; what is refused is a failure.
  func before(
    _ writes: [Result<EntityWrite, ServerError>]
  ) throws(ServerError) -> [Result<EntityWrite, ServerError>] {
    var writes = writes
    try ask(.beforeSave, about: &writes, as: "entities") { $0.draft?.json }
    try ask(.beforeDelete, about: &writes, as: "ids") {
      $0.isDelete ? JSONValue.string($0.id).bytes : nil
    }
    return writes
  }

  /// `json` gives what the service is told of a write; nil: the hook is not for it.
  private func ask(
    _ hook: Hook, about writes: inout [Result<EntityWrite, ServerError>], as name: String,
    json: (EntityWrite) -> [UInt8]?
  ) throws(ServerError) {
    guard isWanted(hook) else { return }
    let concerned = writes.indices.compactMap { index in
      (try? writes[index].get()).flatMap(json).map { (index: index, json: $0) }
    }
    guard !concerned.isEmpty,
      let reply = try send(hook, { $0.add(name, json: concerned.map(\.json).jsonArray) })
    else { return }
    if hook == .beforeSave, let changed = try reply.list("entities") {
      guard changed.count == concerned.count else {
        throw LogicClient.misunderstanding("\(changed.count) entities, not \(concerned.count)")
      }
      for (entity, json) in zip(concerned, changed) where !json.elementsEqual("null".utf8) {
        guard json.count <= entityBytes else {
          throw LogicClient.misunderstanding(
            "an entity of \(json.count) bytes; --max-body allows \(entityBytes)")
        }
        writes[entity.index] = try writes[entity.index].get().replacing(by: Payload(json))
      }
    }
    for refusal in try reply.refusals() {
      guard concerned.indices.contains(refusal.index) else {
        throw LogicClient.misunderstanding("an error has the index \(refusal.index)")
      }
      writes[concerned[refusal.index].index] = .failure(refusal.error)
    }
  }

  /// Tells the service what was written and deleted.
  func after(
    _ writes: [Result<EntityWrite, ServerError>], _ results: [Result<WrittenEntity?, ServerError>]
  ) {
    guard isWanted(.afterSave) || isWanted(.afterDelete) else { return }
    var saved: [[UInt8]] = []
    var deleted: [[UInt8]] = []
    for (write, result) in zip(writes, results) {
      guard case .success(let written) = result, let write = try? write.get() else { continue }
      if let written {
        saved.append(written.body)
      } else {
        deleted.append(JSONValue.string(write.id).bytes)
      }
    }
    if !saved.isEmpty { report(.afterSave) { $0.add("entities", json: saved.jsonArray) } }
    if !deleted.isEmpty { report(.afterDelete) { $0.add("ids", json: deleted.jsonArray) } }
  }

  /// The results as a client may see them: what others have stored since is not the answer to a write that is sent again, but
  /// something that is read, with the hooks of a get.
  func shown(
    _ results: [Result<WrittenEntity?, ServerError>]
  ) -> [Result<WrittenEntity?, ServerError>] {
    guard Self.hidesEntities(client.logic, of: collection) else { return results }
    return results.map { result in
      result.flatMap { written in
        guard let written, written.isOfOthers else { return .success(written) }
        return Result { () throws(ServerError) in try shown(written) }
      }
    }
  }

  private func shown(_ written: WrittenEntity) throws(ServerError) -> WrittenEntity {
    var written = written
    switch try beforeFetch(id: written.id, query: nil, changedSince: nil) {
    case .proceed: break
    case .narrowed(let filter):
      guard try Self.matches(written.body, filter) else { throw .writtenBefore }
    case .answered: throw .writtenBefore
    }
    if let afterFetch {
      written.body = try Service.changed(Payload(written.body), by: afterFetch).withBytes {
        Array($0)
      }
    }
    guard !written.body.isEmpty else { throw .writtenBefore }
    return written
  }

  private static func matches(_ body: [UInt8], _ filter: String) throws(ServerError) -> Bool {
    do throws(QueryError) {
      let matcher = try Query(filter: filter).matcher(within: .unlimited)
      return try body.withBorrowedBytes { (bytes) throws(QueryError) in
        try matcher?.matches(bytes) ?? true
      }
    } catch {
      throw ServerError(error)
    }
  }

  /// Asks what is to be deleted of what a query selects, which is no more than a fetch would give: how many entities are deleted
  /// tells of them as a count does. Nil: the query as it is.
  func beforeFetch(toDelete query: String) throws(ServerError) -> String? {
    switch try beforeFetch(id: nil, query: query, changedSince: nil, deletes: true) {
    case .proceed: return nil
    case .narrowed(let query): return query
    case .answered: throw Self.passesBy("deletions by a query", "before-fetch")
    }
  }

  /// Asks before entities are deleted by a query.
  func beforeDelete(matching query: String) throws(ServerError) {
    let reply = try send(.beforeDelete) { $0.add("query", .string(query)) }
    // They would be about single entities, which the service was not told.
    guard try reply?.refusals().isEmpty ?? true else {
      throw LogicClient.misunderstanding("errors about a deletion by a query")
    }
  }

  /// Tells the service how many entities a query has deleted.
  func afterDelete(matching query: String, count: Int) {
    report(.afterDelete) {
      $0.add("query", .string(query))
      $0.add("count", .int(Int64(count)))
    }
  }

  // MARK: Fetching

  /// The decision of a hook about a fetch.
  enum Fetch {
    case proceed
    /// The entities that may be fetched, and that the client asks for.
    case narrowed(query: String)
    /// The service has answered the request itself.
    case answered(Response)
  }

  /// Asks before entities are read. `id` nil: `query` selects them. `since`: only what has changed since then is read.
  /// `deletes`: what is found is not sent, but deleted.
  func beforeFetch(
    id: String?, query: String?, changedSince since: String?, deletes: Bool = false
  ) throws(ServerError) -> Fetch {
    let reply = try send(.beforeFetch) {
      if let id { $0.add("id", .string(id)) }
      if let query { $0.add("query", .string(query)) }
      if deletes { $0.add("delete", true) }
      if let since {
        $0.add("delta", true)
        $0.add("since", .string(since))
      }
    }
    guard let reply else { return .proceed }
    // A null is an answer like others: who gave it does not want anything to be read.
    if let body = reply.written("response") {
      // Most services answer all reads alike. Clients read everything after this error.
      guard since == nil || Self.isDelta(body) else {
        throw ServerError(
          .missingConfiguration,
          "business logic has answered without changed and deleted: read everything")
      }
      return .answered(Response.json(200, body))
    }
    guard let query = try reply.object("query") else { return .proceed }
    return .narrowed(query: String(decoding: query, as: UTF8.self))
  }

  /// Whether an answer has the lists of a `_deltaset`.
  private static func isDelta(_ body: [UInt8]) -> Bool {
    guard let object = try? JSONValue(parsing: body).objectValue else { return false }
    return object["changed"]?.arrayValue != nil && object["deleted"]?.arrayValue != nil
  }

  /// What the service makes of entities that are about to be sent; nil: it leaves all as they are. Both are JSON, with
  /// commas between.
  var afterFetch: (@Sendable (Payload) throws(ServerError) -> [UInt8])? {
    guard isWanted(.afterFetch) else { return nil }
    return { (entities) throws(ServerError) in
      let original = entities.withBytes { Array($0) }
      guard !original.isEmpty else { return original }
      let reply = try send(.afterFetch) { message in
        message.add("entities", json: [UInt8(ascii: "[")] + original + [UInt8(ascii: "]")])
      }
      guard let changed = try reply?.list("entities") else { return original }
      guard changed.allSatisfy({ $0.first == UInt8(ascii: "{") }) else {
        throw LogicClient.misunderstanding("entities that are no objects")
      }
      return Array(changed.joined(separator: [UInt8(ascii: ",")]))
    }
  }

  // MARK: Other ways to read

  /// Throws if the client's way to read would tell what `after-fetch` hides: a count, a filter, an order or a group tells of
  /// entities as they are stored. The settings say by which members that may be.
  func check(_ reading: Reading) throws(ServerError) {
    guard isWanted(.afterFetch) else { return }
    let queryable = client.queryable(in: collection)
    if reading.counts, queryable == nil {
      throw Self.passesBy("counts and groups", "after-fetch")
    }
    let allowed = (queryable ?? []).map { Path($0) } + Self.alwaysQueryable
    func isAllowed(_ path: Path) -> Bool { allowed.contains { path.isIn($0) } }
    guard reading.query.namesOnly(isAllowed), reading.paths.allSatisfy(isAllowed) else {
      throw Self.passesBy(
        "filters, orders and groups by members that are not queryable", "after-fetch")
    }
  }

  /// Throws if a request asks how its query is answered.
  func checkExplanation() throws(ServerError) {
    if Self.hidesEntities(client.logic, of: collection) {
      throw Self.passesBy("explanations of queries", "fetch")
    }
  }

  /// What is in every entity and in answers to writes.
  private static let alwaysQueryable = [Path("_id"), Path("_kmd")]

  /// Whether a service decides about what readers of a collection see.
  static func hidesEntities(_ logic: any BusinessLogic, of collection: String) -> Bool {
    logic.isWanted(.beforeFetch, on: collection) || logic.isWanted(.afterFetch, on: collection)
  }

  /// The error for a way to read that no hook could see.
  static func passesBy(_ what: String, _ hook: String) -> ServerError {
    ServerError(
      .featureUnavailable,
      "business logic has \(hook) hooks for this collection, and \(what) would go past them")
  }

  // MARK: Parts

  /// Nil: the service has nothing to say, or is not asked.
  private func send(
    _ hook: Hook, _ fill: (inout JSONObjectWriter) -> Void
  ) throws(ServerError) -> LogicReply? {
    guard isWanted(hook) else { return nil }
    var head = head
    head["event"] = .string(hook.rawValue)
    var message = JSONObjectWriter(head)
    fill(&message)
    return try client.ask(hook.rawValue, message.finish(), for: request)
  }

  private func isWanted(_ hook: Hook) -> Bool { client.isWanted(hook, on: collection) }

  /// The same for what has happened already: it stays, whatever the service says; a failure is in the log.
  private func report(_ hook: Hook, _ fill: (inout JSONObjectWriter) -> Void) {
    _ = try? send(hook, fill)
  }
}

/// What a request reads of a collection, as the client has asked for it.
struct Reading {
  var query = Query()
  /// The members that groups are made by, and whose numbers they have.
  var paths: [Path] = []
  /// Whether the answer tells how many entities there are.
  var counts = false
}

extension EntityWrite {
  /// The entity to write; nil for a deletion.
  fileprivate var draft: EntityDraft? {
    switch self {
    case .create(let draft), .put(let draft, if: _): draft
    case .delete, .change: nil
    }
  }

  /// The same write of another entity, which the operator's service gave. An id that the client chose stays: the client
  /// would not find the entity under another one, and its next attempt would make a second entity.
  fileprivate func replacing(by json: Payload) -> Result<EntityWrite, ServerError> {
    guard let sent = draft else { return .success(self) }
    return Result { () throws(ServerError) in
      let changed: EntityDraft
      do throws(ServerError) { changed = try Service.draft(json, instead: sent.id) } catch {
        throw LogicClient.misunderstanding("an entity that cannot be saved: \(error.debug)")
      }
      guard changed.id.hasSameBytes(as: sent.id) || !sent.hasClientID else {
        throw ServerError(
          .logicRefused, "business logic may not replace the _id \(sent.id), which the client chose"
        )
      }
      switch self {
      case .create: return EntityWrite.create(changed).with(token)
      case .put(_, if: let condition):
        return EntityWrite.put(changed, if: condition).with(token)
      case .delete, .change: return self
      }
    }
  }
}
