/// Why an operation could not do what was asked: what every room above the backend and the local
/// database speaks. The facade maps `kind` to a `kv_status`, one to one.
package struct StoreError: Error, Sendable, Equatable {
  /// One case for each thing a caller can do about it.
  package enum Kind: Sendable, Equatable, CaseIterable {
    case misuse, invalid, notFound, conflict, noUser, unauthorized, forbidden, pending, unsupported
    case network, timeout, cancelled, server, proto, tooLarge
    case storage, corrupt, full, busy, `internal`, certificate, key
  }

  package var kind: Kind
  /// One English sentence; never a token, a password or a body.
  package var message: String
  /// The backend's answer, if the error is the backend's.
  package var answer: ServerAnswer?
  /// The index in the caller's input, for one of many.
  package var index: Int?
  /// The entity concerned.
  package var id: String?
  /// The byte offset in a text that could not be parsed.
  package var position: Int?
  /// The extended result code of SQLite, or the code of libcurl.
  package var code: Int?
  /// The failure class, if the backend's room knows it; nil: `kind` tells.
  package var statedClass: FailureClass?
  /// Whether the backend itself said that it has not carried the request out; nil: the class of the failure tells.
  package var changedNothing: Bool?
  /// For a refusal or a conflict: whether an earlier attempt at the same request, which failed otherwise, may have been
  /// carried out.
  package var followsFailure = false
  /// Whether an earlier attempt of the write was carried out, and what it has written has been deleted since.
  package var wasCarriedOut = false

  package init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  /// The backend's own words.
  package struct ServerAnswer: Sendable, Equatable {
    /// That of HTTP; 0: the backend or store is the program's own, and has none.
    package var status: Int
    package var error: String?
    package var description: String?
    package var debug: String?
    package var requestId: String?
    /// From `Retry-After`, in seconds.
    package var retryAfter: Double?

    package init(
      status: Int, error: String? = nil, description: String? = nil, debug: String? = nil,
      requestId: String? = nil, retryAfter: Double? = nil
    ) {
      self.status = status
      self.error = error
      self.description = description
      self.debug = debug
      self.requestId = requestId
      self.retryAfter = retryAfter
    }
  }

  /// Whether no answer came at all: what makes an Auto store fall back to local data
  /// (any failure without an HTTP answer is "offline").
  package var isOffline: Bool { answer == nil && (kind == .network || kind == .timeout) }

  /// Whether what came is not known to be the backend's: the login page of a network, the words of a proxy. It says
  /// nothing about what was asked.
  package var isFromStranger: Bool { kind == .proto || (answer != nil && answer?.error == nil) }
}
