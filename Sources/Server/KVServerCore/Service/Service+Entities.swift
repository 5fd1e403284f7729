internal import KVBase
internal import KVJSON
internal import KVQuery

/// `/appdata`.
extension Service {
  /// How many entities one request may insert, or write as a batch.
  static let maxInserts = 100
  /// For how many days the tokens of writes are remembered.
  static let tokensHeader = (
    name: "X-Kvstored-Write-Tokens", value: String(WriteToken.minDays)
  )

  /// The version of the weights of orders by language: clients with the same ones leave `$collation` to the server.
  static let collationHeader = (
    name: "X-Kvstored-Collation", value: String(Query.collationVersion)
  )

  /// How many updates a PATCH may have.
  static let operatorsHeader = (
    name: "X-Kvstored-Operators", value: String(EntityUpdates.maxCount)
  )

  func collection(_ call: AuthenticatedRequest, _ name: String) throws(ServerError) -> Response {
    try Self.check(collection: name)
    switch call.request.method {
    case .post: return try create(call, name)
    case .delete: return try deleteMatching(call, name)
    default:
      return try fetch(call, in: name, reading: Self.reading) { (call) throws(ServerError) in
        try find(call, in: call.collection(name))
      }
    }
  }

  func entity(_ call: AuthenticatedRequest, _ name: String, id: String) throws(ServerError)
    -> Response
  {
    try Self.check(collection: name)
    switch call.request.method {
    case .put: return try put(call, name, id: id)
    case .patch: return try change(call, name, id: id)
    case .delete:
      _ = try earlyViewer(call, name)?.rule(for: .delete)
      let condition = try Self.precondition(call)
      let token = try Self.token(call)
      _ = try perform(.delete(id: id, if: condition, token: token), for: call, in: name)
      return namingData(Response.json(200, ["count": 1]))
    default:
      return try fetch(call, in: name, id: id) { (call) throws(ServerError) in
        try get(call, in: name, id: id)
      }
    }
  }

  private func get(
    _ call: AuthenticatedRequest, in name: String, id: String
  ) throws(ServerError) -> Response {
    let key = call.collection(name)
    if let filter = call.filter { try checkMatch(call, in: key, id: id, filter: filter) }
    var found = try store.entities.get(id, in: key, for: call.claim)
    if let change = call.afterFetch { found.body = try Self.changed(found.body, by: change) }
    guard found.body.count > 0 else { throw ServerError(.entityNotFound) }
    return response(found)
  }

  /// The answer to a get of one entity.
  func response(_ found: FoundEntity) -> Response {
    var response = Response.json(200, found.body)
    response.headers += moment(found.start)
    response.headers.append(Self.revision(found.modified))
    return response
  }

  /// What business logic makes of one entity: another one, or none.
  static func changed(
    _ body: Payload, by change: (Payload) throws(ServerError) -> [UInt8]
  ) throws(ServerError) -> Payload {
    let entity = try change(body)
    do throws(JSONError) {
      if !entity.isEmpty { _ = try EntityScanner.outline(of: entity) }
    } catch {
      throw LogicClient.misunderstanding("several entities in place of one")
    }
    return Payload(entity)
  }

  /// Throws unless an entity is one of those that a filter selects.
  private func checkMatch(
    _ call: AuthenticatedRequest, in key: CollectionKey, id: String, filter: String
  ) throws(ServerError) {
    let query: Query
    do throws(QueryError) {
      query = try Query(filter: "{\"$and\":[{\"_id\":\(JSONValue.string(id).text)},\(filter)]}")
    } catch {
      throw ServerError(error)
    }
    let count = try store.entities.count(
      query, in: key, for: call.claim, within: call.budget
    ).count
    guard count > 0 else { throw ServerError(.entityNotFound) }
  }

  func count(_ call: AuthenticatedRequest, _ name: String) throws(ServerError) -> Response {
    try Self.check(collection: name)
    return try fetch(
      call, in: name,
      reading: { (call) throws(ServerError) in
        Reading(query: try QueryParameters.read(call), counts: true)
      }
    ) { (call) throws(ServerError) in try count(call, in: name) }
  }

  private func count(
    _ call: AuthenticatedRequest, in name: String
  ) throws(ServerError) -> Response {
    let query = try QueryParameters.read(call).selection
    let key = call.collection(name)
    let (count, start) = try store.entities.count(
      query, in: key, for: call.claim, within: call.budget)
    var response = Response.json(200, ["count": .int(Int64(count))])
    response.headers += moment(start)
    response.headers += try explanation(call, query, in: key)
    return response
  }

  /// The find of collections, users and groups.
  func find(
    _ call: AuthenticatedRequest, in key: CollectionKey
  ) throws(ServerError) -> Response {
    let query = try QueryParameters.read(call)
    let found = try store.entities.find(
      query, in: key, for: call.claim, within: call.budget)
    var response = try stream(
      EntityList(
        found.cursor, call.afterFetch == nil ? query.projection : nil, limit: query.limit,
        namesDamaged: call.request.headers[.damaged]?.lowercased() == "named",
        transform: call.transform(query.projection),
        reportDamage: reportDamage(in: key.name)), for: call.asker)
    response.headers += moment(found.start)
    response.headers += try explanation(call, query, in: key)
    if call.wantsCount {
      let count = try store.entities.count(
        query.selection, in: key, for: call.claim, within: call.budget
      ).count
      response.headers.append(("X-Kinvey-Items-Count", String(count)))
    }
    return response
  }

  /// An answer that is sent whole if its first piece is all, and else piece by piece.
  func stream(_ list: EntityList, for asker: Asker) throws(ServerError) -> Response {
    guard let first = try list.nextPiece() else { throw ServerError(.internalErrorRetry) }
    var response = Response.json(200, first)
    if !list.isDone { response.body = .stream(Continued(first, list), for: asker) }
    return response
  }

  func reportDamage(in collection: String) -> @Sendable (String) -> Void {
    { [log] id in log.error("the entity \(id) of \(collection) is damaged and was left out") }
  }

  // MARK: Writing

  private func create(_ call: AuthenticatedRequest, _ name: String) throws(ServerError) -> Response
  {
    _ = try earlyViewer(call, name)?.rule(for: .create)
    if Self.isArray(call.body) { return try createMany(call, name) }
    var draft = try Self.draft(call.body)
    draft.token = try Self.token(call)
    guard let written = try perform(.create(draft), for: call, in: name)
    else { throw ServerError(.internalErrorRetry) }
    var response = Response.json(201, written.body)
    response.headers.append(("Location", location(call, "appdata", path: name, written.id)))
    response.headers.append(Self.revision(written.modified))
    return namingData(response)
  }

  private func createMany(
    _ call: AuthenticatedRequest, _ name: String
  ) throws(ServerError) -> Response {
    guard call.apiVersion >= APIVersion.multiInsert else {
      throw ServerError(
        .featureUnavailable, "inserting several entities needs X-Kinvey-API-Version 5 or later")
    }
    let drafts = try Self.drafts(call.body, limit: Self.maxInserts)
    let writes = try Self.tokened(drafts.map { $0.map { EntityWrite.create($0) } }, call)
    let results = try perform(writes, for: call, in: name)
    // Where the store has found out who asks, it says so of each: nothing was created.
    if call.proven == nil, case .failure(let error)? = results.first(where: { $0.isRefused }) {
      throw error
    }
    return namingData(MultiInsertAnswer.response(results))
  }

  private func put(_ call: AuthenticatedRequest, _ name: String, id: String) throws(ServerError)
    -> Response
  {
    _ = try earlyViewer(call, name)?.rule(for: .update)
    var draft = try Self.draft(call.body, id: id)
    draft.token = try Self.token(call)
    let condition = try Self.precondition(call)
    guard let written = try perform(.put(draft, if: condition), for: call, in: name)
    else { throw ServerError(.internalErrorRetry) }
    var response = Response.json(written.isNew ? 201 : 200, written.body)
    response.headers.append(Self.revision(written.modified))
    if written.isNew {
      response.headers.append(("Location", location(call, "appdata", path: name, id)))
    }
    return namingData(response)
  }

  /// Carries out operators on an entity.
  private func change(_ call: AuthenticatedRequest, _ name: String, id: String) throws(ServerError)
    -> Response
  {
    if let viewer = try earlyViewer(call, name) {
      _ = try viewer.rule(for: .update)
      _ = try viewer.rule(for: .read)
    }
    let condition = try Self.precondition(call)
    var change = try call.body.withBytes { (bytes) throws(ServerError) in
      try EntityChange(bytes, of: id, if: condition, maxBytes: settings.bodyBytes)
    }
    change.token = try Self.token(call)
    guard let written = try perform(.change(change), for: call, in: name)
    else { throw ServerError(.internalErrorRetry) }
    var response = Response.json(200, written.body)
    response.headers.append(Self.revision(written.modified))
    return namingData(response)
  }

  private func deleteMatching(_ call: AuthenticatedRequest, _ name: String) throws(ServerError)
    -> Response
  {
    guard var query = call["query"] else {
      throw ServerError(.missingQuery, "a query is required; query={} deletes everything")
    }
    var selection = try QueryParameters.read(call).selection
    let hooks = Hooks(call, name, of: self)
    let narrowed = try hooks?.beforeFetch(toDelete: query)
    // How many entities a filter deletes tells of their members as a count does.
    try hooks?.check(Reading(query: selection))
    if let narrowed {
      var call = call
      call.filter = narrowed
      query = narrowed
      selection = try QueryParameters.read(call).selection
    }
    try hooks?.beforeDelete(matching: query)
    let count = try store.entities.delete(
      selection, in: call.collection(name), for: call.claim,
      within: call.budget)
    hooks?.afterDelete(matching: query, count: count)
    return Response.json(200, ["count": .int(Int64(count))])
  }

  // MARK: Permissions

  /// Reads or sets who may do what in a collection.
  func permissions(_ call: AuthenticatedRequest, _ name: String) throws(ServerError) -> Response {
    try Self.check(collection: name)
    try call.requireMaster()
    let key = call.collection(name)
    var permissions = try store.collections.permissions(of: key)
    if call.request.method == .put {
      try permissions.apply(try Self.object(call.body))
      try store.collections.set(permissions, of: key)
    }
    return Response.json(200, permissions.json)
  }

  // MARK: Parts

  /// Tells before the body of a request is looked at whether such an operation is possible at all. Nil: that would take the
  /// store as long as the operation, which finds it out itself.
  func earlyViewer(
    _ call: AuthenticatedRequest, _ name: String
  ) throws(ServerError) -> Viewer? {
    switch call.proven {
    // No permissions are for them.
    case .app?, .master?: Viewer(principal: try call.principal(), permissions: Permissions())
    case .user?, nil:
      try store.isLocal || logic(of: call.app) != nil ? viewer(call, name) : nil
    }
  }

  func viewer(_ call: AuthenticatedRequest, _ name: String) throws(ServerError) -> Viewer {
    Viewer(
      principal: try store.sessions.principal(of: call.claim, in: call.app.number),
      permissions: try store.collections.permissions(of: call.collection(name)))
  }

  /// The address of what was created: `service` and `path` are around the key of the app. Without a host, so that nothing of what a
  /// request says about itself comes back as an address.
  func location(_ call: AuthenticatedRequest, _ service: String, path: String...) -> String {
    let pieces = [service, call.app.key] + path
    return pieces.map { "/" + percentEncoded($0) }.joined()
  }

  /// The header with the value that `If-Match` takes.
  static func revision(_ time: Timestamp) -> (name: String, value: String) {
    ("ETag", "\"\(time)\"")
  }

  static func precondition(_ call: AuthenticatedRequest) throws(ServerError) -> Precondition {
    try Precondition(
      ifMatch: call.request.headers[.ifMatch], ifNoneMatch: call.request.headers[.ifNoneMatch])
  }

  /// The token of a request that writes one entity.
  static func token(_ call: AuthenticatedRequest) throws(ServerError) -> WriteToken? {
    try WriteToken.read(call.request.headers[.writeToken], count: 1)[0]
  }

  /// The writes of a request with the tokens that its header has for them.
  static func tokened(
    _ writes: [Result<EntityWrite, ServerError>], _ call: AuthenticatedRequest
  ) throws(ServerError) -> [Result<EntityWrite, ServerError>] {
    guard let header = call.request.headers[.writeToken] else { return writes }
    let tokens = try WriteToken.read(header, count: writes.count)
    return zip(writes, tokens).map { write, token in write.map { $0.with(token) } }
  }

  /// When a read began, and which data it read: what "changed since" is asked with.
  func moment(_ start: Timestamp) -> [(name: String, value: String)] {
    [("X-Kinvey-Request-Start", start.description)] + data
  }

  /// The answer to a write, with the data that the store has: a client that only writes notices a restore as well.
  func namingData(_ response: Response) -> Response {
    var response = response
    response.headers += data
    return response
  }

  /// Which data the store has.
  private var data: [(name: String, value: String)] {
    let epoch = ("X-Kvstored-Data-Epoch", store.epoch)
    guard let restored = store.restored else { return [epoch] }
    return [
      epoch, ("X-Kvstored-Data-Restored", Timestamp(milliseconds: restored).description),
    ]
  }

  static func check(collection name: String) throws(ServerError) {
    if let fault = CollectionName.fault(in: name) { throw ServerError(.invalidIdentifier, fault) }
  }
}

extension Result<WrittenEntity?, ServerError> {
  fileprivate var isRefused: Bool {
    if case .failure(let error) = self { error.code == .insufficientCredentials } else { false }
  }
}
