internal import KVBase
internal import KVJSON
internal import KVQuery

/// `/appdata`.
extension Service {
  /// How many entities one request may insert, or write as a batch.
  static let maxInserts = 100

  func collection(_ call: AuthenticatedRequest, _ name: String) throws(ServerError) -> Response {
    try Self.check(collection: name)
    switch call.request.method {
    case .post: return try create(call, name)
    case .delete: return try deleteMatching(call, name)
    default:
      return try find(call, in: call.collection(name))
    }
  }

  func entity(_ call: AuthenticatedRequest, _ name: String, id: String) throws(ServerError)
    -> Response
  {
    try Self.check(collection: name)
    let key = call.collection(name)
    switch call.request.method {
    case .put: return try put(call, name, id: id)
    case .delete:
      _ = try viewer(call, name).rule(for: .delete)
      let condition = try Self.precondition(call)
      _ = try store.entities.perform(
        .delete(id: id, if: condition), in: key, for: call.principal)
      return Response.json(200, ["count": 1])
    default:
      let found = try store.entities.get(id, in: key, for: call.principal)
      var response = Response.json(200, found.body)
      response.headers += moment(found.start)
      response.headers.append(Self.revision(found.modified))
      return response
    }
  }

  func count(_ call: AuthenticatedRequest, _ name: String) throws(ServerError) -> Response {
    try Self.check(collection: name)
    let (count, start) = try store.entities.count(
      try QueryParameters.read(call).selection, in: call.collection(name), for: call.principal,
      within: call.budget)
    var response = Response.json(200, ["count": .int(Int64(count))])
    response.headers += moment(start)
    return response
  }

  /// The find of collections, users and groups.
  func find(
    _ call: AuthenticatedRequest, in key: CollectionKey
  ) throws(ServerError) -> Response {
    let query = try QueryParameters.read(call)
    let found = try store.entities.find(
      query, in: key, for: call.principal, within: call.budget)
    var response = try stream(
      EntityList(
        found.cursor, query.projection, limit: query.limit,
        namesDamaged: call.request.headers[.damaged]?.lowercased() == "named",
        reportDamage: reportDamage(in: key.name)), for: call.asker)
    response.headers += moment(found.start)
    if call.request.headers[.includeItemsCount]?.lowercased() == "true" {
      let count = try store.entities.count(
        query.selection, in: key, for: call.principal, within: call.budget
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
    _ = try viewer(call, name).rule(for: .create)
    if Self.isArray(call.body) { return try createMany(call, name) }
    let draft = try Self.draft(call.body)
    guard
      let written = try store.entities.perform(
        .create(draft), in: call.collection(name), for: call.principal)
    else { throw ServerError(.internalErrorRetry) }
    var response = Response.json(201, written.body)
    response.headers.append(("Location", location(call, "appdata", path: name, written.id)))
    response.headers.append(Self.revision(written.modified))
    return response
  }

  private func createMany(
    _ call: AuthenticatedRequest, _ name: String
  ) throws(ServerError) -> Response {
    guard call.apiVersion >= APIVersion.multiInsert else {
      throw ServerError(
        .featureUnavailable, "inserting several entities needs X-Kinvey-API-Version 5 or later")
    }
    let drafts = try Self.drafts(call.body, limit: Self.maxInserts)
    let writes = drafts.map { $0.map { EntityWrite.create($0) } }
    return MultiInsertAnswer.response(
      try store.entities.perform(writes, in: call.collection(name), for: call.principal))
  }

  private func put(_ call: AuthenticatedRequest, _ name: String, id: String) throws(ServerError)
    -> Response
  {
    _ = try viewer(call, name).rule(for: .update)
    let draft = try Self.draft(call.body, id: id)
    let condition = try Self.precondition(call)
    guard
      let written = try store.entities.perform(
        .put(draft, if: condition), in: call.collection(name), for: call.principal)
    else { throw ServerError(.internalErrorRetry) }
    var response = Response.json(written.isNew ? 201 : 200, written.body)
    response.headers.append(Self.revision(written.modified))
    if written.isNew {
      response.headers.append(("Location", location(call, "appdata", path: name, id)))
    }
    return response
  }

  private func deleteMatching(_ call: AuthenticatedRequest, _ name: String) throws(ServerError)
    -> Response
  {
    guard call["query"] != nil else {
      throw ServerError(.missingQuery, "to delete everything, say query={}")
    }
    let count = try store.entities.delete(
      try QueryParameters.read(call).selection, in: call.collection(name), for: call.principal,
      within: call.budget)
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

  /// Tells before the body of a request is looked at whether such an operation is possible at all.
  func viewer(_ call: AuthenticatedRequest, _ name: String) throws(ServerError) -> Viewer {
    Viewer(
      principal: call.principal,
      permissions: try store.collections.permissions(of: call.collection(name)))
  }

  /// The URL of what was created: `service` and `path` are around the key of the app.
  func location(_ call: AuthenticatedRequest, _ service: String, path: String...) -> String {
    let pieces = [service, call.app.key] + path
    let target = pieces.map { "/" + percentEncoded($0) }.joined()
    guard let host = call.request.headers[.host] else { return target }
    return (settings.usesTLS ? "https://" : "http://") + host + target
  }

  /// The header with the value that `If-Match` takes.
  static func revision(_ time: Timestamp) -> (name: String, value: String) {
    ("ETag", "\"\(time)\"")
  }

  static func precondition(_ call: AuthenticatedRequest) throws(ServerError) -> Precondition {
    try Precondition(
      ifMatch: call.request.headers[.ifMatch], ifNoneMatch: call.request.headers[.ifNoneMatch])
  }

  /// When a read began, and which data it read: what "changed since" is asked with.
  func moment(_ start: Timestamp) -> [(name: String, value: String)] {
    [("X-Kinvey-Request-Start", start.description), ("X-Kvstored-Data-Epoch", store.epoch)]
  }

  static func check(collection name: String) throws(ServerError) {
    guard isCollection(name) else {
      throw ServerError(
        .invalidIdentifier,
        "a collection's name has up to 128 letters, digits, -, _ and ., and starts with a letter or digit"
      )
    }
  }

  /// Collections that clients can name have names of 1 to 128 letters, digits, `-`, `_` and `.`, that start with a
  /// letter or a digit.
  static func isCollection(_ name: String) -> Bool {
    let isText =
      name.utf8.count <= 128
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
          UInt8(ascii: "."):
          true
        default: false
        }
      }
    return isText && (name.first?.isLetter == true || name.first?.isNumber == true)
  }
}
