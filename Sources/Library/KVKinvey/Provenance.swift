internal import KVBase
internal import KVJSON
internal import KVSync
internal import KVTransport

/// Distinguishes the backend's own answers from those of something in between: the login page of a network, a proxy, a load
/// balancer.
///
/// An answer is the backend's if it has the documented form. Where a form says too little – an empty body – the
/// headers count that the backend sends with every answer. Only the backend's answers are a success or a refusal.
/// All others are errors whose `isFromStranger` is true: as good as a connection that broke.
enum Provenance {
  /// Whether the answer has a header that only the backend sends, with every answer.
  static func isMarked(_ head: HTTPHead) -> Bool {
    head["X-Kinvey-Request-Id"] != nil || head["X-Kinvey-API-Version"] != nil
  }

  /// `{"error":"EntityNotFound","description":"…","debug":"…"}`.
  static func isError(_ head: HTTPHead, _ words: JSONObject) -> Bool {
    guard words["error"]?.stringValue?.isEmpty == false else { return false }
    return isMarked(head)
      || words["description"]?.stringValue != nil && words["debug"]?.stringValue != nil
  }

  /// `{"error":"invalid_grant",…}`, with the statuses and codes of RFC 6749 §5.2.
  static func isAuthorizationError(_ head: HTTPHead, _ words: JSONObject) -> Bool {
    guard let code = words["error"]?.stringValue else { return false }
    return isError(head, words)
      || [400, 401].contains(head.status)
        && authorizationCodes.contains { $0.hasSameBytes(as: code) }
  }

  private static let authorizationCodes = [
    "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client",
    "unsupported_grant_type", "invalid_scope", "invalid_token", "access_denied",
  ]

  /// Whether a text may be a session's token: one that a header can carry.
  static func isToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 8192 && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }
}

/// What the backend answers, each form with its proof. All fail with `proto`.
extension HTTPResponse {
  /// Proves that the backend has done as it was told and has nothing more to say: status 204, or `{}`, or anything
  /// that has its headers.
  func acknowledged() throws(StoreError) {
    if Provenance.isMarked(head) || head.status == 204 { return }
    guard try JSONValue.ifValid(body)?.objectValue?.isEmpty == true else {
      throw KinveyErrors.unusable(head, "The answer does not come from the backend.")
    }
  }

  /// The body as small JSON.
  func json() throws(StoreError) -> JSONValue {
    do throws(JSONError) {
      return try JSONValue(parsing: body)
    } catch {
      throw KinveyErrors.unusable(
        head, "The backend's answer is not JSON", cause: error)
    }
  }

  /// The body as an object that has this member, or any object that has the backend's headers.
  func object(with member: String) throws(StoreError) -> JSONValue {
    let json = try json()
    guard let object = json.objectValue, object[member] != nil || Provenance.isMarked(head) else {
      throw KinveyErrors.unusable(head, "The backend's answer has no member \"\(member)\".")
    }
    return json
  }

  /// The `count` of the body.
  func count() throws(StoreError) -> Int {
    guard let count = try json()["count"]?.intValue, let number = Int(exactly: count), number >= 0
    else { throw KinveyErrors.unusable(head, "The backend's answer has no count.") }
    return number
  }

  /// How many were deleted: the `count` of the body, or one if there is nothing to be said.
  func deletedCount() throws(StoreError) -> Int { head.status == 204 ? 1 : try count() }

  /// The body as one small entity.
  func entity() throws(StoreError) -> JSONObject {
    guard let entity = try json().objectValue, entity["_id"]?.stringValue?.isEmpty == false else {
      throw KinveyErrors.unusable(head, "The backend's answer is not an entity with an _id.")
    }
    return entity
  }

  /// The body as a list of small entities.
  func entities() throws(StoreError) -> [JSONObject] {
    let list = try json().arrayValue
    let entities = list?.compactMap(\.objectValue) ?? []
    guard let list, entities.count == list.count,
      entities.allSatisfy({ $0["_id"]?.stringValue?.isEmpty == false })
    else { throw KinveyErrors.unusable(head, "The backend's answer is not a list of entities.") }
    return entities
  }

  /// The id of the one entity that the body is.
  func entityId() throws(StoreError) -> String {
    do throws(JSONError) {
      if let id = try EntityScanner.outline(of: body).id { return id }
    } catch {
      throw KinveyErrors.unusable(
        head, "The backend's answer is not an entity", cause: error)
    }
    throw KinveyErrors.unusable(head, "The backend's answer is an entity without _id.")
  }
}

/// What PubNub answers. Its answers have no headers of their own.
extension HTTPResponse {
  /// `[17102791234567890]`: the time.
  func isPubNubTime() throws(StoreError) -> Bool {
    guard head.isSuccess, let list = try JSONValue.ifValid(body)?.arrayValue else { return false }
    return list.count == 1 && list[0].intValue != nil
  }

  /// `[1,"Sent","17102791234567890"]`: a message was published.
  func isPubNubSent() throws(StoreError) -> Bool {
    guard head.isSuccess, let list = try JSONValue.ifValid(body)?.arrayValue else { return false }
    return list.count == 3 && list[0].intValue == 1 && list[2].stringValue != nil
  }

  /// `{"status":403,"error":true,"service":"Access Manager","payload":{"channels":[…]},…}`: the payload of a
  /// refusal; nil: it is none.
  func pubNubRefusal() throws(StoreError) -> JSONValue? {
    guard head.status == 403, body.count <= KinveyErrors.maxBytes,
      let answer = try JSONValue.ifValid(body),
      answer["error"]?.boolValue == true, answer["status"]?.intValue == 403
    else { return nil }
    let payload = answer["payload"] ?? [:]
    let names = payload["channels"] ?? payload["channel-groups"]
    return names?.arrayValue != nil || answer["service"]?.stringValue == "Access Manager"
      ? payload : nil
  }
}
