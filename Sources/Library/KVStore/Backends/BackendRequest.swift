internal import KVCallback
internal import KVJSON
internal import KVSync

/// A request to a `CustomBackend`.
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
  /// The kind of a request.
  public enum Operation: Sendable, Hashable, CaseIterable {
    /// A page of a collection.
    case fetch
    /// Some records by their ids.
    case fetchIDs
    /// The changes since a token.
    case changes
    /// A batch of writes.
    case write
    /// The changes by other clients from now on.
    case live
    /// Where a `CustomStore` keeps its data, and what identifies it.
    case load
    /// Changes that a `CustomStore` makes all at once.
    case save
    /// The ids of the objects that relationships of a `CustomStore` lead to.
    case relationship
    /// The ids of new records of a `CustomStore`.
    case obtainIDs
  }

  /// The kind of the request.
  public let operation: Operation
  /// The request as a JSON object: see `docs/backends.md`.
  public let json: String

  /// The request as a value of a type. Throws `.invalid` if it does not fit.
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
      case .load: .load
      case .save: .save
      case .relationship: .relationship
      case .obtainIDs: .obtainIDs
      }
  }
}

/// An answer of a `CustomBackend`: the JSON object that belongs to the request.
///
///     struct Page: Encodable { var records: [Person] }
///     let all = try BackendAnswer(Page(records: many))
///     let none = BackendAnswer(json: #"{"records":[]}"#)
public struct BackendAnswer: Sendable {
  /// The answer as JSON.
  public let json: String

  /// Creates an answer from JSON, which is not checked yet.
  public init(json: String) { self.json = json }

  /// Encodes a value as JSON. Throws `.invalid` if JSON cannot represent it.
  public init(_ value: some Encodable) throws(KVStoreError) {
    json = try JSONEncoding.value(of: value).text
  }
}

/// The error of a request that a `CustomBackend` did not carry out.
///
///     throw BackendFailure(.network, "The service does not answer.")
///
/// With `.network` and `.timeout` there was no answer, and with `.server` and `.busy` the backend cannot answer at
/// present. These requests are sent again. With any other code the backend refuses the request for good.
public struct BackendFailure: Error {
  /// The kind of the error.
  public let code: KVStoreError.Code
  /// The error message: one sentence in English.
  public let message: String
  /// The seconds after which to try again; nil: any time.
  public let after: Double?

  /// Creates an error.
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
