internal import KVSync

/// Why something could not be done: what every call of this library throws.
///
///     do {
///       try await people.insert(ann)
///     } catch {
///       guard error.code == .conflict else { throw error }
///       print("there is one already: \(error.message)")
///     }
public struct KVStoreError: Error, Sendable, Equatable {
  /// One case for each thing that a caller can do about it. Later versions may have more.
  public enum Code: String, Sendable, CaseIterable {
    /// The program is wrong: something was used after it was closed.
    case misuse
    /// What was given is wrong: an option, a query, an entity that does not fit its type.
    case invalid
    case notFound
    /// Something is there already, or not as a condition demands.
    case conflict
    /// Nobody is logged in.
    case noUser
    case unauthorized, forbidden
    /// Writes that wait would be lost.
    case pending
    /// The backend, or a local store, cannot do this.
    case unsupported
    /// The backend could not be reached.
    case network
    case timeout
    /// The task was cancelled, or the client was closed.
    case cancelled
    /// The backend failed.
    case server
    /// What came is not the backend's answer, or not what it should be.
    case unexpectedAnswer
    case tooLarge
    /// The disk, or the file system.
    case storage
    case corrupt, full, busy
    case `internal`
  }

  /// What the backend said, if it was the backend.
  public struct Answer: Sendable, Equatable {
    /// The status of HTTP.
    public let status: Int
    /// The backend's name for the error, such as `EntityNotFound`.
    public let error: String?
    public let description: String?
    public let debug: String?
    public let requestID: String?
    /// Seconds after which the backend wants to be asked again.
    public let retryAfter: Double?
  }

  public let code: Code
  /// One English sentence; never a token, a password or an entity.
  public let message: String
  public let answer: Answer?
  /// The entity concerned.
  public let id: String?
  /// Which of many that were given.
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
  /// Runs something of the library's own, whose errors become this one.
  static func mapping<Value>(
    _ body: () throws(StoreError) -> Value
  ) throws(KVStoreError) -> Value {
    do throws(StoreError) { return try body() } catch { throw KVStoreError(error) }
  }
}

extension StoreError {
  /// What a look-up gives; nil in the place of an error that says that there is nothing.
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
      }
  }
}
