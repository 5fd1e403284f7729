internal import KVBase
internal import KVHTTP
internal import KVJSON
internal import KVSync
internal import KVTransport

/// What a failed answer means: the backend's error catalogue, mapped to our kinds.
enum KinveyErrors {
  /// Longer bodies are no error texts of the backend.
  static let maxBytes = 64 << 10

  /// The error of an answer with an error status. `secrets` are taken out of the backend's words, should it
  /// repeat what we sent.
  static func error(_ head: HTTPHead, _ body: [UInt8], hiding secrets: [String]) -> StoreError {
    do throws(StoreError) {
      let words = try words(of: body)
      return error(
        head, words.flatMap { Provenance.isError(head, $0) ? $0 : nil }, hiding: secrets)
    } catch {
      return error
    }
  }

  /// `words`: of an error in the backend's form; nil: the error is not the backend's.
  private static func error(
    _ head: HTTPHead, _ words: JSONObject?, hiding secrets: [String]
  ) -> StoreError {
    let answer = answer(head, words, hiding: secrets)
    var error = StoreError(kind(of: answer), message(for: answer))
    error.answer = answer
    error.statedClass = failureClass(of: error.kind, answer)
    error.wasCarriedOut = answer.error == "EntityGone"
    error.changedNothing =
      answer.error != nil && (400..<500).contains(answer.status) && !error.wasCarriedOut
    return error
  }

  private static func words(of body: [UInt8]) throws(StoreError) -> JSONObject? {
    body.count <= maxBytes ? try JSONValue.ifValid(body)?.objectValue : nil
  }

  /// The error of the authorization server, in OAuth's form (RFC 6749 §5.2).
  static func authorization(
    _ head: HTTPHead, _ body: [UInt8], hiding secrets: [String]
  ) -> StoreError {
    var words: JSONObject?
    do throws(StoreError) { words = try self.words(of: body) } catch { return error }
    words = words.flatMap { Provenance.isAuthorizationError(head, $0) ? $0 : nil }
    if let description = words?["error_description"] { words?["description"] = description }
    var error = error(head, words, hiding: secrets)
    let isRefused = [
      "invalid_grant", "invalid_client", "invalid_token", "unauthorized_client", "access_denied",
    ].contains(error.answer?.error)
    if isRefused { (error.kind, error.statedClass) = (.unauthorized, .sessionOver) }
    return error
  }

  /// The error of one item of a multi-insert, whose answer was found to be the backend's.
  static func error(ofItem words: JSONObject, _ head: HTTPHead, hiding secrets: [String])
    -> StoreError
  {
    var error = error(head, words, hiding: secrets)
    if let answer = error.answer { error.message = message(forItem: answer) }
    return error
  }

  /// An answer that claims success and is none.
  static func unusable(_ head: HTTPHead, _ message: String) -> StoreError {
    var error = StoreError(.proto, message)
    error.answer = answer(head, nil, hiding: [])
    return error
  }

  /// An answer that claims success and is not the JSON it should be. `message` says what it is not, without a full stop.
  static func unusable(_ head: HTTPHead, _ message: String, cause: JSONError) -> StoreError {
    var error = StoreError(.proto, "\(message): \(cause.message).", cause: cause)
    if error.kind == .proto { error.answer = answer(head, nil, hiding: []) }
    return error
  }

  // MARK: Words

  private static func answer(
    _ head: HTTPHead, _ words: JSONObject?, hiding secrets: [String]
  ) -> StoreError.ServerAnswer {
    func text(_ name: String) -> String? {
      words?[name]?.stringValue.map { secrets.reduce($0, hide) }
    }
    return StoreError.ServerAnswer(
      status: head.status, error: text("error"), description: text("description"),
      debug: text("debug"), requestId: head["X-Kinvey-Request-Id"],
      retryAfter: head.retryAfter)
  }

  private static func hide(_ text: String, _ secret: String) -> String {
    guard !secret.isEmpty, !isWord(secret) else { return text }
    var out = ""
    var rest = text[...]
    while let found = rest.firstRange(ofText: secret) {
      out += rest[..<found.lowerBound] + "…"
      rest = rest[found.upperBound...]
    }
    return out + rest
  }

  /// Whether a secret is an ordinary word: taking it out of sentences would show it, and hide what they say.
  private static func isWord(_ secret: String) -> Bool {
    secret.utf8.count < 16 && secret.utf8.allSatisfy { ($0 | 0x20) &- 0x61 < 26 }
  }

  private static func message(for answer: StoreError.ServerAnswer) -> String {
    guard let error = answer.error else {
      return message(forStranger: answer.status)
    }
    return sentence(
      "The backend answered with status \(answer.status), \(error)", answer.description)
  }

  private static func sentence(_ what: String, _ description: String?) -> String {
    guard let description, !description.isEmpty else { return what + "." }
    return "\(what): \(description.prefix(300))"
  }

  /// The status is that of the whole batch, and says nothing about one entity of it.
  private static func message(forItem answer: StoreError.ServerAnswer) -> String {
    let what = "The backend refused this entity of a batch"
    guard let error = answer.error else { return "\(what) without a description of the error." }
    return sentence("\(what), \(error)", answer.description)
  }

  private static func message(forStranger status: Int) -> String {
    switch status {
    case 413: "The body of the request is larger than the backend accepts (status 413)."
    case 414:
      "The URL of the request, with its query, is longer than the backend accepts (status 414)."
    case 431: "The head of the request is longer than the backend accepts (status 431)."
    default: "The backend answered with status \(status), without a description of the error."
    }
  }

  // MARK: Kinds

  /// What another attempt may come to. A gateway that says it may do it another time is believed, too.
  private static func failureClass(
    of kind: StoreError.Kind, _ answer: StoreError.ServerAnswer
  ) -> FailureClass {
    switch (answer.status, kind) {
    case (429, _), (502...504, _): return .passing
    case (500, .server): return answer.error == "KinveyInternalErrorRetry" ? .passing : .unknown
    default: break
    }
    return switch kind {
    case .conflict: .conflict
    case .invalid, .forbidden, .tooLarge: .refused
    case .notFound:
      // Of the entity: not of everything that there is.
      ["AppNotFound", "UserNotFound"].contains(answer.error) ? .unknown : .refused
    case .unauthorized: .sessionOver
    default: .unknown
    }
  }

  private static func kind(of answer: StoreError.ServerAnswer) -> StoreError.Kind {
    guard let error = answer.error else { return kind(ofStranger: answer.status) }
    switch error {
    case "EntityNotFound", "CollectionNotFound", "AppNotFound", "UserNotFound", "BlobNotFound",
      "DataLinkEntityNotFound", "EntityGone":
      return .notFound
    case "UserAlreadyExists", "StaleRequest", "DuplicateEndUsers": return .conflict
    case "InvalidCredentials": return .unauthorized
    case "InsufficientCredentials", "WritesToCollectionDisallowed",
      "IndirectCollectionAccessDisallowed":
      return .forbidden
    case "FeatureUnavailable", "MissingConfiguration", "APIVersionNotAvailable",
      "APIVersionNotImplemented", "MethodNotAllowed", "CORSDisabled":
      return .unsupported
    case "ParameterValueOutOfRange", "InvalidQuerySyntax", "MissingQuery", "JSONParseError",
      "MissingRequestHeader", "IncompleteRequestBody", "MissingRequestParameter",
      "InvalidIdentifier", "BadRequest", "InputValidationFailed":
      return .invalid
    case "ResultSetSizeExceeded": return .tooLarge
    case "KinveyInternalErrorRetry": return isDuplicate(answer) ? .conflict : .server
    case "KinveyInternalErrorStop", "AppProblem", "BLRuntimeError", "BLSyntaxError",
      "BLTimeoutError", "BLViolationError", "BLInternalError":
      return .server
    default: return kind(ofUnknownCode: answer.status)
    }
  }

  /// The hosted service has no code for an `_id` that is taken: it shows in the text only, either in its
  /// own words or in those of its database.
  private static func isDuplicate(_ answer: StoreError.ServerAnswer) -> Bool {
    let text = "\(answer.debug ?? "") \(answer.description ?? "")".lowercased()
    return ["already exists", "duplicate", "e11000"].contains { text.firstRange(ofText: $0) != nil }
  }

  /// An error in the backend's form with a code that the catalogue does not have.
  private static func kind(ofUnknownCode status: Int) -> StoreError.Kind {
    switch status {
    case 400, 422: .invalid
    case 401: .unauthorized
    case 403: .forbidden
    case 404, 410: .notFound
    case 405, 501: .unsupported
    case 409, 412: .conflict
    case 413, 414, 431: .tooLarge
    default: .server
    }
  }

  /// An error that is not in the backend's form: something else answered, a proxy or a portal. Its 404
  /// says nothing about our entity.
  private static func kind(ofStranger status: Int) -> StoreError.Kind {
    switch status {
    case 413, 414, 431: .tooLarge
    case 500...599, 429: .server
    default: .proto
    }
  }
}
