internal import KVBase
internal import KVJSON

/// `/blob`: what is said about files. It is stored as entities of a collection that clients cannot name, so that access lists,
/// queries and limits are those of entities.
extension Service {
  /// For how many seconds an address for sending a file is good, and one for reading it, by default and at the most.
  static let uploadSeconds: Int64 = 7 * 86_400
  private static let downloadSeconds: Int64 = 3600
  private static let longestSeconds: Int64 = 7 * 86_400

  func files(_ call: AuthenticatedRequest) throws(ServerError) -> Response {
    if call.request.method == .post { return try writeFile(call, id: nil) }
    let link = try downloadLink(call)
    var call = call
    call.afterFetch = { (entities) throws(ServerError) in
      Self.joined(
        try Self.each(of: entities) { (bytes) throws(ServerError) in
          JSONValue.object(link(try Self.object(Payload(bytes)))).bytes
        })
    }
    return try find(call, in: .files(of: call.app.number))
  }

  func file(_ call: AuthenticatedRequest, _ id: String) throws(ServerError) -> Response {
    let directory = try fileDirectory()
    let key = CollectionKey.files(of: call.app.number)
    switch call.request.method {
    case .put: return try writeFile(call, id: id)
    case .delete:
      let stored = try storedFile(id, in: call.app)
      try Self.asBlob { () throws(ServerError) in
        _ = try store.entities.perform(
          .delete(id: id, if: .none, token: nil), in: key, for: call.claim)
      }
      for name in stored?.names.all ?? [] { directory.remove(name) }
      return Response.json(200, ["count": 1])
    default:
      let found = try Self.asBlob { () throws(ServerError) in
        try store.entities.get(id, in: key, for: call.claim)
      }
      return Response.json(200, .object(try downloadLink(call)(try Self.object(found.body))))
    }
  }

  func fileDirectory() throws(ServerError) -> FileDirectory {
    guard let directory = settings.files else {
      throw ServerError(.missingConfiguration, "files need the server's option --files")
    }
    return directory
  }

  // MARK: Writing

  /// How often a write is repeated that another one has overtaken.
  private static let maxAttempts = 5

  private func writeFile(
    _ call: AuthenticatedRequest, id: String?
  ) throws(ServerError) -> Response {
    let directory = try fileDirectory()
    let seal = try Self.fileSeal(of: call.app)
    let wanted = try FileMetadata(try Self.object(call.body), maxBytes: settings.fileBytes)
    let name = FileDirectory.newName()
    let written = try write(wanted, call, id: id, bytes: name, in: directory)
    let end = Timestamp.now().milliseconds / 1000 + Self.uploadSeconds
    var ticket: JSONObject = [FileMetadata.nameMember: .string(name), "_id": .string(written.id)]
    for member in ["size", "sha256"] { ticket[member] = wanted.members[member] }
    var file = Self.visible(try Self.object(Payload(written.body)))
    file["_uploadURL"] = .string(address(call, seal.seal("upload", ticket, until: end)))
    file["_requiredHeaders"] = .object(JSONObject())
    file["_expiresAt"] = .string(Timestamp(milliseconds: end * 1000).description)
    return Response.json(written.isNew ? 201 : 200, .object(file))
  }

  /// Stores what is said about a file whose bytes will have a new name. The bytes that it has stay until those have come.
  private func write(
    _ wanted: FileMetadata, _ call: AuthenticatedRequest, id: String?, bytes name: String,
    in directory: FileDirectory
  ) throws(ServerError) -> WrittenEntity {
    var attempts = 1
    while true {
      let stored = try id.flatMap { (id) throws(ServerError) in try storedFile(id, in: call.app) }
      let former = stored?.names.readable(in: directory)
      var replacements: [(name: String, json: [UInt8]?)] = FileMetadata.answered.map { ($0, nil) }
      replacements += wanted.members.members.map { ($0.name, $0.value.bytes) }
      replacements.append((FileMetadata.nameMember, JSONValue.string(name).bytes))
      replacements.append((FileMetadata.formerMember, former.map { JSONValue.string($0).bytes }))
      let draft = try Self.draft(call.body, id: id, replacing: replacements)
      // A POST never takes over a file that is there.
      let write: EntityWrite =
        id == nil
        ? .create(draft)
        : .put(draft, if: stored.map { .revision($0.modified) } ?? .isMissing)
      do throws(ServerError) {
        let key = CollectionKey.files(of: call.app.number)
        guard let written = try store.entities.perform(write, in: key, for: call.claim) else {
          throw ServerError(.internalErrorRetry)
        }
        for name in stored?.names.all ?? [] where name != former { directory.remove(name) }
        return written
      } catch {
        let isOvertaken = error.code == .staleRequest || error.code == .entityNotFound
        guard id != nil, isOvertaken, attempts < Self.maxAttempts else { throw error }
        attempts += 1
      }
    }
  }

  /// The metadata of a file, without a look at its access list; nil: no file has this id.
  func storedFile(
    _ id: String, in app: App
  ) throws(ServerError) -> (metadata: JSONObject, names: FileNames, modified: Timestamp)? {
    do throws(ServerError) {
      let found = try store.entities.get(
        id, in: .files(of: app.number), for: .principal(.master))
      let metadata = try Self.object(found.body)
      return FileNames(metadata).map { (metadata, $0, found.modified) }
    } catch {
      if error.code == .entityNotFound || error.code == .collectionNotFound { return nil }
      throw error
    }
  }

  /// Throws errors of the collection as errors of files.
  private static func asBlob<Result>(
    _ body: () throws(ServerError) -> Result
  ) throws(ServerError) -> Result {
    do throws(ServerError) { return try body() } catch {
      let isMissing = error.code == .entityNotFound || error.code == .collectionNotFound
      throw isMissing ? ServerError(.blobNotFound) : error
    }
  }

  /// What clients see of a file.
  private static func visible(_ stored: JSONObject) -> JSONObject {
    var file = stored
    file[FileMetadata.nameMember] = nil
    file[FileMetadata.formerMember] = nil
    return file
  }

  // MARK: Addresses

  /// Adds the address of its bytes to what is said about a file.
  private func downloadLink(
    _ call: AuthenticatedRequest
  ) throws(ServerError) -> @Sendable (JSONObject) -> JSONObject {
    let directory = try fileDirectory()
    let seal = try Self.fileSeal(of: call.app)
    var seconds = Self.downloadSeconds
    if let text = call["ttl_in_seconds"] {
      guard let number = Int64(text), (1...Self.longestSeconds).contains(number) else {
        throw ServerError(
          .parameterValueOutOfRange, "ttl_in_seconds must be from 1 to \(Self.longestSeconds)")
      }
      seconds = number
    }
    let end = Timestamp.now().milliseconds / 1000 + seconds
    return { [self] stored in
      var file = Self.visible(stored)
      guard let names = FileNames(stored) else { return file }
      let isPublic = stored["_public"]?.boolValue == true
      var ticket: JSONObject = [
        FileMetadata.nameMember: .string(names.readable(in: directory)),
        "mimeType": stored["mimeType"] ?? .null, "_filename": stored["_filename"] ?? .null,
      ]
      // It does not end by itself, so it is looked up each time whether the file is still public.
      if isPublic { ticket["_public"] = stored["_id"] }
      let text = seal.seal("download", ticket, until: isPublic ? nil : end)
      file["_downloadURL"] = .string(address(call, text))
      if !isPublic {
        file["_expiresAt"] = .string(Timestamp(milliseconds: end * 1000).description)
      }
      return file
    }
  }

  /// The address that a sealed text stands in, at the server's public address, or at the host that the client has used.
  private func address(_ call: AuthenticatedRequest, _ ticket: String) -> String {
    let host = call.request.headers[.host] ?? "localhost"
    let start = settings.publicURL ?? "\(settings.hasTLS ? "https" : "http")://\(host)"
    return "\(start)/blob/\(percentEncoded(call.app.key))/_bytes/\(ticket)"
  }

  /// What addresses are sealed with: a secret that all servers of the app have.
  private static func fileSeal(of app: App) throws(ServerError) -> Seal {
    guard let secret = app.seals.first else {
      throw ServerError(.missingConfiguration, "files need a seal of the app")
    }
    return Seal(secret: secret, app: app.key)
  }
}
