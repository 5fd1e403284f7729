internal import KVJSON
package import KVSync

extension StoreError {
  /// What a host's failure of a whole request means: its status, and perhaps `{"message":…,"after":seconds}`.
  ///
  /// No answer (`network`, `timeout`) and "later" (`server`, `busy`) pass; the others are the backend's last word. What
  /// is no status of a backend is `proto`.
  package init(hostStatus status: Int32, _ json: [UInt8]) {
    let details = (try? JSONValue(parsing: json))?.objectValue
    let kind = Kind.allCases.first { $0.code == status }
    let message = details?["message"]?.stringValue
    switch kind {
    case .network: self.init(.network, message ?? "The backend cannot be reached.")
    case .timeout: self.init(.timeout, message ?? "The backend did not answer in time.")
    case .server, .busy, .internal, .cancelled:
      self = .later(message, after: details?["after"])
    case .invalid, .notFound, .conflict, .unauthorized, .forbidden, .unsupported, .tooLarge:
      self = .refused(kind ?? .invalid, message ?? "The backend refused this.")
    case .proto: self = .badAnswer(message ?? "The backend's answer is malformed.")
    default:
      self = .badAnswer("The backend failed with an unknown status: \(status).")
    }
  }

  /// The error of what the backend refuses for good.
  static func refused(_ kind: Kind, _ message: String) -> StoreError {
    var error = StoreError(kind, message)
    error.answer = ServerAnswer(status: 0, error: "Refused")
    switch kind {
    case .conflict: error.statedClass = .conflict
    case .unauthorized: error.statedClass = .sessionOver
    case .unsupported: error.statedClass = .unknown
    default: error.statedClass = .refused
    }
    return error
  }

  /// The error of what was neither carried out nor refused: it may succeed later.
  private static func later(_ message: String?, after: JSONValue?) -> StoreError {
    var error = StoreError(.server, message ?? "The backend asks to try again later.")
    let pause = after?.doubleValue.flatMap { $0 >= 0 ? min($0, 3_600) : nil }
    error.answer = ServerAnswer(status: 0, error: "Later", retryAfter: pause)
    error.statedClass = .passing
    return error
  }

  /// `{"message":…,"status":…}` of a refused write.
  static func refusal(_ details: AnswerObject) throws(StoreError) -> StoreError {
    let message = try details.text("message") ?? "The backend refused this."
    guard let status = try details.value("status") else { return .refused(.invalid, message) }
    let kinds: [Kind] = [.invalid, .notFound, .forbidden, .tooLarge]
    guard let kind = kinds.first(where: { Int64($0.code) == status.intValue }) else {
      throw .unfitMember("status", "a status for refused writes")
    }
    return .refused(kind, message)
  }

  /// `{"message":…,"after":seconds}` of a write that has to wait.
  static func postponement(_ details: AnswerObject) throws(StoreError) -> StoreError {
    let after = try details.value("after")
    guard after == nil || after?.doubleValue != nil else {
      throw .unfitMember("after", "a number of seconds")
    }
    return .later(try details.text("message"), after: after)
  }
}
