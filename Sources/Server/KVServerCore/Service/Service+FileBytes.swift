internal import KVBase
internal import KVJSON

/// The bytes of files, for those who have a sealed address: no other credentials are asked for.
extension Service {
  /// What an address says.
  struct FileTicket {
    var app: App
    var name: String
    var members: JSONObject

    /// How many bytes are to come.
    var size: Int { members["size"]?.intValue.map { Int($0) } ?? 0 }
  }

  func fileBytes(
    _ request: Request, of key: String, ticket text: String
  ) throws(ServerError) -> Response {
    var response =
      request.method == .put
      ? try endUpload(request, ticket("upload", text, of: key))
      : try download(request, ticket("download", text, of: key))
    response.headers.append(("X-Kinvey-Request-Id", request.id))
    return response
  }

  /// Opens an address. It is good for one thing, sending or reading, for the bytes of one name, and until it ends.
  private func ticket(
    _ kind: String, _ text: String, of key: String
  ) throws(ServerError) -> FileTicket {
    guard let app = apps.find(key)?.app else { throw ServerError(.appNotFound) }
    let now = Timestamp.now().milliseconds / 1000
    for secret in app.seals {
      guard let members = Seal(secret: secret, app: key).open(kind, text, at: now),
        let name = members[FileMetadata.nameMember]?.stringValue
      else { continue }
      return FileTicket(app: app, name: name, members: members)
    }
    throw ServerError(
      .insufficientCredentials, "this address is not good, or not any more: ask for another one")
  }

  // MARK: Sending

  /// Looks at the head of a request that sends bytes. What the disk and the store say of it, a worker finds out.
  func checkUpload(
    _ head: Request, of key: String, ticket text: String
  ) throws(ServerError) -> HeadCheck {
    let ticket = try ticket("upload", text, of: key)
    guard let bytes = try contentRange(head, of: ticket).bytes else {
      throw ServerError(.badRequest, "a request that asks where an upload stopped has no body")
    }
    if let announced = head.headers[.contentLength].flatMap({ Int($0) }), announced != bytes.count {
      throw ServerError(.badRequest, "Content-Range does not have the length of the body")
    }
    return .later(for: .address(head.client)) { [self] in
      do throws(ServerError) {
        switch try startUpload(ticket, at: bytes.lowerBound) {
        case .upload(let upload):
          return .streamed(upload, maxBodyBytes: bytes.count, for: .address(head.client))
        case .complete: return .refused(Response(200))
        case .gap(let received): return .refused(Self.incomplete(received))
        }
      } catch {
        return .refused(refusal(error, head))
      }
    }
  }

  private func startUpload(
    _ ticket: FileTicket, at position: Int
  ) throws(ServerError) -> FileDirectory.Start {
    _ = try wantedNames(ticket)
    return try fileDirectory().start(ticket.name, at: position)
  }

  /// The names of the file's bytes. Throws if the file was removed, or has been announced anew.
  private func wantedNames(_ ticket: FileTicket) throws(ServerError) -> FileNames {
    guard let id = ticket.members["_id"]?.stringValue,
      let names = try storedFile(id, in: ticket.app)?.names, names.bytes == ticket.name
    else { throw ServerError(.blobNotFound, "the file was removed, or announced anew") }
    return names
  }

  private func endUpload(
    _ request: Request, _ ticket: FileTicket
  ) throws(ServerError) -> Response {
    let directory = try fileDirectory()
    guard let upload = request.sink as? FileUpload else {
      _ = try contentRange(request, of: ticket)
      let received = directory.received(ticket.name)
      switch try startUpload(ticket, at: received) {
      case .complete: return Response(200)
      case .gap(let received): return Self.incomplete(received)
      case .upload(let upload):
        return received < ticket.size ? Self.incomplete(received) : try complete(ticket, upload)
      }
    }
    defer { upload.end() }
    guard request.body.withBytes({ upload.take($0) }) else {
      throw ServerError(.internalErrorRetry, cause: "an upload cannot be written")
    }
    if upload.position < ticket.size {
      try directory.keep(ticket.name, upload)
      return Self.incomplete(upload.position)
    }
    return try complete(ticket, upload)
  }

  private func complete(
    _ ticket: FileTicket, _ upload: FileUpload
  ) throws(ServerError) -> Response {
    let directory = try fileDirectory()
    // The file may have been removed while the bytes came. A removal from now on finds the bytes.
    let names = try wantedNames(ticket)
    try directory.complete(ticket.name, upload, sha256: ticket.members["sha256"]?.stringValue)
    if let former = names.former { directory.remove(former) }
    return Response.json(201, ["size": .int(Int64(ticket.size))])
  }

  private static func incomplete(_ received: Int) -> Response {
    Response(308, headers: received > 0 ? [("Range", "bytes=0-\(received - 1)")] : [])
  }

  /// What a request says that it sends; without the header, all of the file.
  private func contentRange(
    _ request: Request, of ticket: FileTicket
  ) throws(ServerError) -> ContentRange {
    let whole = ticket.size > 0 ? "0-\(ticket.size - 1)" : "*"
    let text = request.headers[.contentRange] ?? "bytes \(whole)/\(ticket.size)"
    guard let range = ContentRange(text), range.size == ticket.size else {
      throw ServerError(
        .parameterValueOutOfRange, "Content-Range must be of the \(ticket.size) bytes of this file")
    }
    return range
  }

  // MARK: Reading

  private func download(
    _ request: Request, _ ticket: FileTicket
  ) throws(ServerError) -> Response {
    if let id = ticket.members["_public"]?.stringValue { try checkIsPublic(id, ticket) }
    guard let bytes = try fileDirectory().open(ticket.name) else {
      throw ServerError(.blobNotFound, "the bytes of this file are not there")
    }
    let tag = "\"\(ticket.name)\""
    var headers = [(name: "ETag", value: tag), (name: "Accept-Ranges", value: "bytes")]
    if let known = request.headers[.ifNoneMatch], Self.names(known, tag) {
      return Response(304, headers: headers)
    }
    let type = ticket.members["mimeType"]?.stringValue ?? "application/octet-stream"
    let name = ticket.members["_filename"]?.stringValue ?? "file"
    headers.append(("Content-Type", type))
    headers.append(("Content-Disposition", "attachment; filename*=UTF-8''\(percentEncoded(name))"))
    // Even where a browser shows it, it may do nothing.
    headers.append(("Content-Security-Policy", "sandbox; default-src 'none'"))
    let condition = request.headers[.ifRange]
    let wanted = condition == nil || condition == tag ? request.headers[.range] : nil
    var status = 200
    switch ByteRange(wanted, size: bytes.size) {
    case .all: break
    case .part(let range):
      status = 206
      headers.append(
        ("Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(bytes.size)"))
      bytes.restrict(to: range)
    case .outside: return Response(416, headers: [("Content-Range", "bytes */\(bytes.size)")])
    }
    return Response(status, .stream(bytes, for: .address(request.client)), headers: headers)
  }

  /// Whether the header `If-None-Match` names a tag.
  private static func names(_ tags: String, _ tag: String) -> Bool {
    tags == "*"
      || tags.split(whereSeparator: { $0 == "," || $0 == " " })
        .contains { $0 == tag || $0 == "W/\(tag)" }
  }

  /// Throws if a file is not public any more, or was removed.
  private func checkIsPublic(_ id: String, _ ticket: FileTicket) throws(ServerError) {
    guard let stored = try storedFile(id, in: ticket.app), stored.names.all.contains(ticket.name),
      stored.metadata["_public"]?.boolValue == true
    else { throw ServerError(.blobNotFound, "this file is not public any more") }
  }
}
