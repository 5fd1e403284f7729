internal import KVCallback
internal import KVJSON
internal import KVSync

/// What a `CustomBackend` is asked for.
///
///     extension BackendRequest {
///       var collection: String {
///         get throws {
///           struct Named: Decodable { var collection: String }
///           return try decoded(as: Named.self).collection
///         }
///       }
///     }
public struct BackendRequest: Sendable {
  /// What there is to be done.
  public enum Operation: Sendable, Hashable, CaseIterable {
    /// A page of a collection.
    case fetch
    /// Some records by their ids.
    case fetchIDs
    /// What has changed since a token.
    case changes
    /// A batch of writes.
    case write
    /// What others change from now on.
    case live
  }

  public let operation: Operation
  /// A JSON object; `docs/backends.md` says what is in it.
  public let json: String

  /// The request as a value of a type of the program's own. Throws `.invalid` if it does not fit.
  public func decoded<Value: Decodable>(as type: Value.Type) throws(KVStoreError) -> Value {
    try JSONDecoding.decode(type, from: Array(json.utf8))
  }
}

extension BackendRequest.Operation {
  init(_ operation: BackendOperation) {
    self =
      switch operation {
      case .fetch: .fetch
      case .fetchIDs: .fetchIDs
      case .changes: .changes
      case .write: .write
      case .live: .live
      }
  }
}

/// What a `CustomBackend` answers: the JSON object that belongs to the request.
///
///     struct Page: Encodable { var records: [Person] }
///     let all = try BackendAnswer(Page(records: many))
///     let none = BackendAnswer(json: #"{"records":[]}"#)
public struct BackendAnswer: Sendable {
  public let json: String

  public init(json: String) { self.json = json }

  /// A value of the program's own as JSON. Throws `.invalid` for what JSON cannot say.
  public init(_ value: some Encodable) throws(KVStoreError) {
    json = try JSONEncoding.value(of: value).text
  }
}

/// Why a `CustomBackend` does not carry out a request.
///
///     throw BackendFailure(.network, "The service does not answer.")
///
/// With `.network` and `.timeout` nobody has answered, with `.server` and `.busy` not now: both pass, and are tried again. Other
/// codes are the backend's last word.
public struct BackendFailure: Error {
  public let code: KVStoreError.Code
  public let message: String
  /// Seconds after which to try again; nil: any.
  public let after: Double?

  public init(_ code: KVStoreError.Code, _ message: String, after: Double? = nil) {
    self.code = code
    self.message = message
    self.after = after
  }

  var storeError: StoreError {
    var details: JSONObject = ["message": .string(message)]
    details["after"] = after.map { .double($0) }
    let kind = StoreError.Kind.allCases.first { KVStoreError.Code($0) == code } ?? .server
    return StoreError(hostStatus: kind.code, JSONValue.object(details).bytes)
  }
}
