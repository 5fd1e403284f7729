internal import KVBase
internal import KVHTTP
internal import KVJSON
internal import KVSync
internal import KVTransport

/// What a failed answer means: the error catalogue of AppSync, mapped to our kinds.
enum AppSyncErrors {
  /// How much of the backend's words goes into a message, in characters.
  private static let maxWords = 300

  /// The error of an answer with an error status.
  static func error(_ head: HTTPHead, _ body: [UInt8]) -> StoreError {
    let words = (try? JSONValue(parsing: body))?["errors"]?.arrayValue?.first?.objectValue
    let type = words.flatMap(errorType)
    // Some configurations say with status 400 who may not ask.
    let status = type == "UnauthorizedException" ? 401 : head.status
    var error = StoreError(
      kind(of: status),
      text("The backend answered with status \(head.status)", type: type, words))
    error.answer = StoreError.ServerAnswer(
      status: head.status, error: type, description: words?["message"]?.stringValue,
      retryAfter: head.retryAfter)
    error.statedClass = failureClass(of: status)
    error.changedNothing = words != nil && (400..<500).contains(head.status)
    return error
  }

  /// The error that an element of `errors` in an answer with status 200 stands for.
  static func error(_ words: JSONObject) -> StoreError {
    let type = errorType(words)
    let (kind, failureClass) = meaning(of: type)
    var error = StoreError(kind, text("The backend refused this", type: type, words))
    error.answer = StoreError.ServerAnswer(
      status: 200, error: type ?? "ValidationError", description: words["message"]?.stringValue)
    error.statedClass = failureClass
    error.changedNothing = failureClass == .refused || failureClass == .conflict
    return error
  }

  /// The error of a refused connection or subscription over the WebSocket.
  static func realtimeError(_ words: JSONObject) -> StoreError {
    let type = errorType(words)
    let code = words["errorCode"]?.intValue
    var (kind, failureClass) = meaning(of: type)
    switch (type, code) {
    case (_, 401): (kind, failureClass) = (.unauthorized, .sessionOver)
    case ("LimitExceededError", _), (_, 429): (kind, failureClass) = (.server, .passing)
    case (_, 403): (kind, failureClass) = (.forbidden, .refused)
    default: break
    }
    var error = StoreError(kind, text("The backend refused the subscription", type: type, words))
    error.statedClass = failureClass
    return error
  }

  /// The type without what a data source puts in front of it.
  static func errorType(_ words: JSONObject) -> String? {
    guard let type = words["errorType"]?.stringValue else { return nil }
    let prefix = "DynamoDB:"
    return type.hasPrefix(prefix) ? String(type.dropFirst(prefix.utf8.count)) : type
  }

  // MARK: Meanings

  private static func meaning(of type: String?) -> (StoreError.Kind, FailureClass) {
    switch type {
    case "ConflictUnhandled", "ConditionalCheckFailedException": (.conflict, .conflict)
    case "UnauthorizedException": (.unauthorized, .sessionOver)
    case "ConflictError", "MaxConflicts", "DeltaSyncWriteError", "InternalFailure",
      "InternalFailureException":
      (.server, .unknown)
    case let type? where type[...].firstRange(ofText: "Unauthorized") != nil: (.forbidden, .refused)
    // A document or an input that does not fit, a resolver's own words: another time would end the same way.
    default: (.invalid, .refused)
    }
  }

  private static func kind(of status: Int) -> StoreError.Kind {
    switch status {
    case 400: .invalid
    case 401: .unauthorized
    case 403: .forbidden
    case 413, 431: .tooLarge
    case 429, 500...599: .server
    default: .proto
    }
  }

  private static func failureClass(of status: Int) -> FailureClass {
    switch status {
    case 400, 413, 431: .refused
    // Who asks is refused, not what is asked: nothing is to be given up for that.
    case 401, 403: .sessionOver
    case 429, 500...599: .passing
    default: .unknown
    }
  }

  private static func text(
    _ start: String, type: String?, _ words: JSONObject?
  ) -> String {
    let named = type.map { "\(start), \($0)" } ?? start
    guard let message = words?["message"]?.stringValue, !message.isEmpty else { return named + "." }
    return "\(named): \(message.prefix(maxWords))"
  }
}
