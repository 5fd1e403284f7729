internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVSQLite

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
      return try find(call, in: collections.find(name, of: call.app.number)) { viewer(call, name) }
    }
  }

  func entity(_ call: AuthenticatedRequest, _ name: String, id: String) throws(ServerError)
    -> Response
  {
    try Self.check(collection: name)
    let found = collections.find(name, of: call.app.number)
    switch call.request.method {
    case .put: return try put(call, name, id: id)
    case .delete:
      let viewer = viewer(call, name)
      _ = try viewer.rule(for: .delete)
      let condition = try Self.precondition(call)
      guard let found else { throw Entities.missing(id) }
      _ = try entities.perform(.delete(id: id, if: condition), in: found, for: viewer)
      return Response.json(200, ["count": 1])
    default:
      // Threads that carry connections come here: nothing is stored.
      let start = entities.clock.readStart()
      let (body, modified) = try entities.get(id, in: found, for: viewer(call, name))
      var response = Response.json(200, body)
      response.headers += moment(start)
      response.headers.append(Self.revision(modified))
      return response
    }
  }

  func count(_ call: AuthenticatedRequest, _ name: String) throws(ServerError) -> Response {
    try Self.check(collection: name)
    let start = entities.readStart()
    let count = try entities.count(
      try QueryParameters.read(call).selection, in: collections.find(name, of: call.app.number),
      for: viewer(call, name), within: call.budget)
    var response = Response.json(200, ["count": .int(Int64(count))])
    response.headers += moment(start)
    return response
  }

  /// The find of collections and of users. The rule is looked up after the time is taken, so that a rule which changes
  /// meanwhile has changed since then.
  func find(
    _ call: AuthenticatedRequest, in collection: EntityCollection?, by viewer: () -> Viewer
  ) throws(ServerError) -> Response {
    let query = try QueryParameters.read(call)
    let start = entities.readStart()
    let viewer = viewer()
    var response: Response
    if let collection {
      response = try stream(
        try Finding(
          query, in: collection, of: entities.database, for: viewer, within: call.budget),
        for: call.asker)
    } else {
      _ = try viewer.rule(for: .read)
      response = Response.json(200, .array([]))
    }
    response.headers += moment(start)
    if call.request.headers[.includeItemsCount]?.lowercased() == "true" {
      let count = try entities.count(
        query.selection, in: collection, for: viewer, within: call.budget)
      response.headers.append(("X-Kinvey-Items-Count", String(count)))
    }
    return response
  }

  /// An answer that is sent whole if its first piece is all, and else piece by piece.
  func stream(_ finding: Finding, for asker: Asker) throws(ServerError) -> Response {
    let name = finding.collection.name
    finding.reportDamage = { [log] id in
      log.error("the entity \(id) of \(name) is damaged and was left out")
    }
    guard let first = try finding.nextPiece() else { throw ServerError(.internalErrorRetry) }
    var response = Response.json(200, first)
    if !finding.isDone { response.body = .stream(Continued(first, finding), for: asker) }
    return response
  }

  // MARK: Writing

  private func create(_ call: AuthenticatedRequest, _ name: String) throws(ServerError) -> Response
  {
    let viewer = viewer(call, name)
    _ = try viewer.rule(for: .create)
    if Self.isArray(call.body) { return try createMany(call, name, for: viewer) }
    let draft = try Self.draft(call.body)
    guard
      let written = try entities.perform(
        .create(draft), in: try make(name, call), for: viewer)
    else { throw ServerError(.internalErrorRetry) }
    var response = Response.json(201, written.body)
    response.headers.append(("Location", location(call, "appdata", name, written.id)))
    response.headers.append(Self.revision(written.modified))
    return response
  }

  private func createMany(
    _ call: AuthenticatedRequest, _ name: String, for viewer: Viewer
  ) throws(ServerError) -> Response {
    guard call.apiVersion >= APIVersion.multiInsert else {
      throw ServerError(
        .featureUnavailable, "inserting several entities needs X-Kinvey-API-Version 5 or later")
    }
    let drafts = try Self.drafts(call.body, limit: Self.maxInserts)
    let collection = try make(name, call)
    let writes = drafts.map { $0.map { EntityWrite.create($0) } }
    return MultiInsertAnswer.response(try entities.perform(writes, in: collection, for: viewer))
  }

  private func put(_ call: AuthenticatedRequest, _ name: String, id: String) throws(ServerError)
    -> Response
  {
    let viewer = viewer(call, name)
    _ = try viewer.rule(for: .update)
    let draft = try Self.draft(call.body, id: id)
    let condition = try Self.precondition(call)
    guard
      let written = try entities.perform(
        .put(draft, if: condition), in: try make(name, call), for: viewer)
    else { throw ServerError(.internalErrorRetry) }
    var response = Response.json(written.isNew ? 201 : 200, written.body)
    response.headers.append(Self.revision(written.modified))
    if written.isNew { response.headers.append(("Location", location(call, "appdata", name, id))) }
    return response
  }

  private func deleteMatching(_ call: AuthenticatedRequest, _ name: String) throws(ServerError)
    -> Response
  {
    guard call["query"] != nil else {
      throw ServerError(.missingQuery, "to delete everything, say query={}")
    }
    let count = try entities.delete(
      try QueryParameters.read(call).selection, in: collections.find(name, of: call.app.number),
      for: viewer(call, name), within: call.budget)
    return Response.json(200, ["count": .int(Int64(count))])
  }

  // MARK: Permissions

  /// Reads or sets who may do what in a collection.
  func permissions(_ call: AuthenticatedRequest, _ name: String) throws(ServerError) -> Response {
    try Self.check(collection: name)
    try call.requireMaster()
    var permissions = collections.permissions(of: name, of: call.app.number)
    if call.request.method == .put {
      try permissions.apply(try Self.object(call.body))
      let wanted = permissions
      _ = try make(name, call)
      try histories.set(wanted, of: name, app: call.app.number)
    }
    return Response.json(200, permissions.json)
  }

  // MARK: Parts

  func viewer(_ call: AuthenticatedRequest, _ name: String) -> Viewer {
    Viewer(
      principal: call.principal,
      permissions: collections.permissions(of: name, of: call.app.number))
  }

  /// The collection, made if there is none.
  func make(_ name: String, _ call: AuthenticatedRequest) throws(ServerError) -> EntityCollection {
    if let found = collections.find(name, of: call.app.number) { return found }
    let made = try Entities.storage { () throws(SQLiteError) in
      try collections.make(name, of: call.app.number)
    }
    try histories.applySettings(made)
    return made
  }

  /// The URL of what was created: `service` and `path` are around the key of the app.
  func location(_ call: AuthenticatedRequest, _ service: String, _ path: String...) -> String {
    let pieces = [service, call.app.key] + path
    let target = pieces.map { "/" + percentEncoded($0) }.joined()
    guard let host = call.request.headers[.host] else { return target }
    return (settings.usesTLS ? "https://" : "http://") + host + target
  }

  /// The header with the value that `If-Match` takes.
  private static func revision(_ time: Timestamp) -> (name: String, value: String) {
    ("ETag", "\"\(time)\"")
  }

  private static func precondition(_ call: AuthenticatedRequest) throws(ServerError) -> Precondition
  {
    try Precondition(
      ifMatch: call.request.headers[.ifMatch], ifNoneMatch: call.request.headers[.ifNoneMatch])
  }

  /// When a read began, and which data it read: what "changed since" is asked with.
  func moment(_ start: Timestamp) -> [(name: String, value: String)] {
    [("X-Kinvey-Request-Start", start.description), ("X-Kvstored-Data-Epoch", epoch.text)]
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
