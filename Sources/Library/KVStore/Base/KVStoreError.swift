internal import KVSync

/// The error that every call of this library throws.
///
///     do {
///       try await people.insert(ann)
///     } catch {
///       guard error.code == .conflict else { throw error }
///       print("there is one already: \(error.message)")
///     }
public struct KVStoreError: Error, Sendable, Equatable {
  /// The kind of an error. There is one case for each way in which a caller can react. Later versions may add cases.
  public enum Code: String, Sendable, CaseIterable {
    /// A programming error: something was used after it was closed.
    case misuse
    /// An argument is not valid: an option, a query, or an entity that does not fit its type.
    case invalid
    /// There is no such entity, user or collection.
    case notFound
    /// The entity exists already, or does not meet a condition.
    case conflict
    /// No user is logged in.
    case noUser
    /// The credentials are wrong, or the session has ended.
    case unauthorized
    /// The user may not do this.
    case forbidden
    /// Pending writes would be lost.
    case pending
    /// The backend, or a store of this type, does not support the call.
    case unsupported
    /// The backend did not answer.
    case network
    /// The time limit of the call has passed.
    case timeout
    /// The task was cancelled, or the client was closed.
    case cancelled
    /// The backend answered with an error.
    case server
    /// The answer of the backend is not valid.
    case unexpectedAnswer
    /// A body exceeds a limit of the client or of the backend.
    case tooLarge
    /// The disk or the file system failed.
    case storage
    /// The data file is damaged, or is not a file of this library.
    case corrupt
    /// The disk is full.
    case full
    /// Another process has locked the data for too long.
    case busy
    /// A defect of the library. Please report it.
    case `internal`
    /// The certificate of the backend is not trusted, or `caFile` cannot be read.
    case certificate
    /// The local data is encrypted with another key, or is not encrypted though a key was given.
    case key
  }

  /// The answer of the backend, for errors that come from it.
  public struct Answer: Sendable, Equatable {
    /// The status code of HTTP; 0: the backend or store is the program's own, and has none.
    public let status: Int
    /// The backend's name of the error, such as `EntityNotFound`.
    public let error: String?
    /// The backend's description of the error.
    public let description: String?
    /// The backend's details for developers.
    public let debug: String?
    /// The id of the request, for the backend's support.
    public let requestID: String?
    /// The seconds after which the backend wants the next request.
    public let retryAfter: Double?
  }

  /// The kind of the error.
  public let code: Code
  /// One sentence in English. It never has a token, a password or an entity.
  public let message: String
  /// The answer of the backend, if the error comes from it.
  public let answer: Answer?
  /// The id of the entity.
  public let id: String?
  /// The index in the input, for calls that take several entities.
  public let index: Int?
  /// The byte offset in a text that could not be parsed.
  public let position: Int?

  init(_ code: Code, _ message: String, id: String? = nil) {
    self.code = code
    self.message = message
    self.id = id
    (answer, index, position) = (nil, nil, nil)
  }

  init(_ error: StoreError) {
    code = Code(error.kind)
    message = error.message
    answer = error.answer.map(Answer.init)
    id = error.id
    index = error.index
    position = error.position
  }
}

extension KVStoreError {
  /// Runs code of the library and converts its errors.
  static func mapping<Value>(
    _ body: () throws(StoreError) -> Value
  ) throws(KVStoreError) -> Value {
    do throws(StoreError) { return try body() } catch { throw KVStoreError(error) }
  }
}

extension StoreError {
  /// Returns nil if an error with this code is thrown.
  static func nilIf<Value>(
    _ kind: Kind, _ body: () throws(StoreError) -> Value
  ) throws(StoreError) -> Value? {
    do throws(StoreError) { return try body() } catch {
      guard error.kind == kind else { throw error }
      return nil
    }
  }
}

extension KVStoreError: CustomStringConvertible {
  /// The message and the kind of the error.
  public var description: String { "\(message) (\(code.rawValue))" }
}

extension KVStoreError.Answer {
  init(_ answer: StoreError.ServerAnswer) {
    self.init(
      status: answer.status, error: answer.error, description: answer.description,
      debug: answer.debug, requestID: answer.requestId, retryAfter: answer.retryAfter)
  }
}

extension KVStoreError.Code {
  init(_ kind: StoreError.Kind) {
    self =
      switch kind {
      case .misuse: .misuse
      case .invalid: .invalid
      case .notFound: .notFound
      case .conflict: .conflict
      case .noUser: .noUser
      case .unauthorized: .unauthorized
      case .forbidden: .forbidden
      case .pending: .pending
      case .unsupported: .unsupported
      case .network: .network
      case .timeout: .timeout
      case .cancelled: .cancelled
      case .server: .server
      case .proto: .unexpectedAnswer
      case .tooLarge: .tooLarge
      case .storage: .storage
      case .corrupt: .corrupt
      case .full: .full
      case .busy: .busy
      case .internal: .internal
      case .certificate: .certificate
      case .key: .key
      }
  }
}
