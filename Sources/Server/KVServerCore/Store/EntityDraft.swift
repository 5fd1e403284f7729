package import KVBase
package import KVJSON

/// An entity on its way into the database: what the client sent, without what only the server may say.
package struct EntityDraft: Sendable {
  package var id: String
  /// Whether the client has chosen the id; else it is the server's choice.
  package let hasClientID: Bool
  /// `{"_id":"…",…` without `_acl`, `_kmd` and the closing brace.
  private var stem: [UInt8]
  /// The `_acl` that the client sent; nil: none.
  package var acl: ACL?
  /// By which a repeated write is recognised; nil: by nothing.
  package var token: WriteToken?
  /// Members of `_kmd` besides the times.
  package var metadata = JSONObject()
  /// The lost version as which the entity that this one was made of was sent again; nil: it was not.
  private var formerResent: Timestamp?

  /// Takes an entity out of a request. `id`: where the request's path says which entity it is.
  package init(
    _ bytes: UnsafeRawBufferPointer, _ outline: EntityOutline, id wanted: String? = nil,
    replacing replacements: [(name: String, json: [UInt8]?)] = []
  ) throws(ServerError) {
    if let wanted, let own = outline.id, !own.hasSameBytes(as: wanted) {
      throw ServerError(.invalidIdentifier, "_id differs from the id in the path")
    }
    hasClientID = wanted != nil || outline.id != nil
    id = wanted ?? outline.id ?? Identifier.object()
    try EntityID.check(id)
    let known = try Self.known(bytes, outline)
    try Self.checkLocation(known.location)
    if let resent = known.resent { metadata["resent"] = .string(resent.description) }
    formerResent = known.formerResent
    if let range = outline.permissions {
      acl = try ACL(parsing: UnsafeRawBufferPointer(rebasing: bytes[range]))
    }
    do {
      stem = try EntityEditing.rewriting(
        bytes, outline, id: id, replacing: [("_acl", nil), ("_kmd", nil)] + replacements)
    } catch {
      throw ServerError(error)
    }
    stem.removeLast()
  }

  /// Takes an entity as it is stored, to be written again.
  package init(
    stored bytes: UnsafeRawBufferPointer, _ outline: EntityOutline, id: String
  ) throws(JSONError) {
    self.id = id
    hasClientID = true
    stem = try EntityEditing.rewriting(
      bytes, outline, id: id, replacing: [("_acl", nil), ("_kmd", nil)])
    stem.removeLast()
  }

  /// The entity that was sent, with its `_id` and without the members that only the server writes.
  package var json: [UInt8] {
    guard let acl else { return stem + [UInt8(ascii: "}")] }
    return stem + Array(",\"_acl\":".utf8) + acl.json + [UInt8(ascii: "}")]
  }

  /// The entity as it is stored: `_acl` and `_kmd` are its last members.
  package func body(_ acl: ACL, created: Timestamp, modified: Timestamp) -> [UInt8] {
    var times = JSONObjectWriter(reservingCapacity: 72)
    times.add("ect", .string(created.description))
    times.add("lmt", .string(modified.description))
    for member in metadata.members { times.add(member.name, member.value) }
    // A restored server's clock may be behind that of the server which was lost. What was made of a version that was sent again is
    // later than that all the same.
    if metadata["resent"] == nil, let formerResent, formerResent >= modified {
      let later = Timestamp(milliseconds: formerResent.milliseconds + 1)
      times.add("resent", .string(later.description))
    }
    var body = JSONObjectWriter(continuing: stem, reservingCapacity: 192)
    body.add("_acl", json: acl.json)
    body.add("_kmd", json: times.finish())
    return body.finish()
  }

  /// Refuses a `_geoloc` that is not [longitude, latitude].
  private static func checkLocation(_ location: JSONValue?) throws(ServerError) {
    guard let location, !isLocation(location) else { return }
    throw ServerError(
      .parameterValueOutOfRange, "_geoloc must be [longitude, latitude] within -180…180 and -90…90")
  }

  /// What some members say: `_geoloc`, and in `_kmd` which lost version it is that a client sends again, or has changed after it was
  /// sent again.
  private static func known(
    _ bytes: UnsafeRawBufferPointer, _ outline: EntityOutline
  ) throws(ServerError) -> (location: JSONValue?, resent: Timestamp?, formerResent: Timestamp?) {
    do throws(JSONError) {
      var location: JSONValue?
      var (resent, formerResent): (Timestamp?, Timestamp?)
      var members = try MemberCursor(ByteScanner(bytes), at: outline.range.lowerBound)
      while let member = try members.next() {
        if location == nil, members.isName(member.name, "_geoloc") {
          location = try JSONValue(parsing: UnsafeRawBufferPointer(rebasing: bytes[member.value]))
        } else if members.isName(member.name, "_kmd") {
          resent = try time("resend", of: bytes, in: member.value)
          formerResent = try time("resent", of: bytes, in: member.value)
        }
      }
      return (location, resent, formerResent)
    } catch {
      throw ServerError(error)
    }
  }

  private static func time(
    _ name: StaticString, of bytes: UnsafeRawBufferPointer, in metadata: Range<Int>
  ) throws(JSONError) -> Timestamp? {
    guard bytes[metadata.lowerBound] == UInt8(ascii: "{") else { return nil }
    let scanner = ByteScanner(bytes)
    var members = try MemberCursor(scanner, at: metadata.lowerBound)
    while let member = try members.next() {
      guard members.isName(member.name, name), member.value.count > 2,
        bytes[member.value.lowerBound] == UInt8(ascii: "\"")
      else { continue }
      return Timestamp(scanner.text(member.value.lowerBound + 1..<member.value.upperBound - 1))
    }
    return nil
  }

  private static func isLocation(_ value: JSONValue) -> Bool {
    if value.isNull { return true }
    guard let pair = value.arrayValue, pair.count == 2, let longitude = pair[0].doubleValue,
      let latitude = pair[1].doubleValue
    else { return false }
    return Swift.abs(longitude) <= 180 && Swift.abs(latitude) <= 90
  }
}

extension ServerError {
  /// The error for JSON that a client sent and that cannot be used.
  package init(_ error: JSONError) {
    switch error.reason {
    case .truncated, .syntax, .tooDeep:
      self.init(.jsonParseError, "\(error.message) (byte \(error.position))")
    case .tooLarge: self.init(.payloadTooLarge, error.message)
    case .notAnEntity(let text): self.init(.inputValidationFailed, text)
    case .numberOutOfRange: self.init(.parameterValueOutOfRange, error.message)
    case .noMemory: self.init(.internalErrorRetry, error.message)
    }
  }
}
