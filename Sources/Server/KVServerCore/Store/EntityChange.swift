internal import KVBase
internal import KVJSON
internal import KVQuery

/// A change of an entity by operators, all or nothing: what it makes of the stored entity is decided in the transaction that stores
/// it. An extension.
package struct EntityChange: Sendable {
  package let id: String
  private let updates: EntityUpdates
  let condition: Precondition
  /// The most bytes that the entity may have afterwards.
  private let maxBytes: Int
  /// By which a repeated write is recognised; nil: by nothing.
  package var token: WriteToken?

  /// Reads an update, or an array of updates that follow each other, as a client sends it.
  package init(
    _ bytes: UnsafeRawBufferPointer, of id: String, if condition: Precondition, maxBytes: Int
  ) throws(ServerError) {
    try EntityID.check(id)
    guard bytes.count <= EntityUpdates.maxBytes else {
      throw ServerError(
        .payloadTooLarge, "operators may have \(EntityUpdates.maxBytes) bytes of JSON")
    }
    let json: JSONValue
    do throws(JSONError) { json = try JSONValue(parsing: bytes) } catch { throw ServerError(error) }
    do throws(QueryError) {
      updates = try EntityUpdates(json.arrayValue == nil ? .array([json]) : json)
    } catch {
      throw ServerError(updating: error)
    }
    guard !updates.isEmpty else { throw ServerError(.badRequest, "the array is empty") }
    guard updates.isBounded else {
      throw ServerError(
        .badRequest,
        "the conditions of a $pull must be short comparisons, and paths must not lead far beyond the ends of arrays"
      )
    }
    (self.id, self.condition, self.maxBytes) = (id, condition, maxBytes)
  }

  /// What it makes of a stored body.
  func draft(of body: [UInt8], at now: Timestamp) throws(ServerError) -> EntityDraft {
    let changed: [UInt8]
    do throws(QueryError) { changed = try updates.apply(to: body, now: now) ?? body } catch {
      throw ServerError(updating: error)
    }
    guard changed.count <= maxBytes else {
      throw ServerError(
        .payloadTooLarge, "the entity would have \(changed.count) bytes; \(maxBytes) are allowed")
    }
    var draft = try changed.withBorrowedBytes { (bytes) throws(ServerError) in
      let outline: EntityOutline
      do throws(JSONError) { outline = try EntityScanner.outline(of: bytes, isInput: true) } catch {
        throw ServerError(error)
      }
      return try EntityDraft(bytes, outline, id: id)
    }
    draft.token = token
    return draft
  }

  /// The next version of an entity.
  func step(
    over stored: StoredVersion, for viewer: Viewer, at now: Timestamp
  ) throws(ServerError) -> WriteStep {
    guard stored.isIntact else { throw .damagedEntity(id) }
    let draft = try draft(of: stored.body, at: now)
    let record = draft.record(replacing: stored, for: viewer, at: now)
    return .update(record, changesAccess: record.acl.json != ACL(of: stored.body).json)
  }
}

extension ServerError {
  /// The error for operators that are none, or that do not fit the entity.
  fileprivate init(updating error: QueryError) {
    let position = error.position.map { " (byte \($0))" } ?? ""
    let code: Code =
      switch error.kind {
      case .json: .jsonParseError
      case .noMemory: .internalErrorRetry
      case .syntax, .budget, .exhausted, .unsupported: .badRequest
      }
    self.init(code, error.message + position)
  }

  fileprivate static func damagedEntity(_ id: String) -> ServerError {
    ServerError(.internalErrorStop, "the entity \(id) is damaged in the server's database")
  }
}
