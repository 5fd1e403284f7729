internal import KVServerCore

/// What went wrong in PostgreSQL, or on the way there.
struct PostgresError: Error {
  enum Kind {
    /// The connection broke: nothing was committed by what was running.
    case unreachable
    /// No server takes a connection.
    case refused
    /// The connection broke during a commit: whether it happened has to be looked up.
    case commitUnknown
    /// Two transactions were in each other's way; the same again may work.
    case conflict
    /// The server is a standby, stops, starts or has no room for a connection: another one may take the work.
    case unavailable
    case full
    /// The request that this was done for has ended.
    case stopped
    /// A filter gave up.
    case evaluation
    case other
  }

  let kind: Kind
  let message: String
  /// The five characters of the SQL standard; empty if it does not come from the server.
  let state: String

  init(_ kind: Kind, _ message: String, state: String = "") {
    self.kind = kind
    self.message = message
    self.state = state
  }

  /// What the server says.
  init(state: String, message: String) {
    self.init(Self.kind(of: state), message, state: state)
  }

  private static func kind(of state: String) -> Kind {
    switch state {
    case "40001", "40P01": .conflict
    case "57P01", "57P02", "57P03", "53300", "25006", "55P03": .unavailable
    case "57014": .stopped
    case "53100": .full
    default: state.hasPrefix("08") ? .unreachable : .other
    }
  }

  /// Whether the connection it happened on is of no use any more.
  var endsConnection: Bool {
    switch kind {
    case .unreachable, .refused, .commitUnknown, .unavailable, .stopped: true
    case .conflict, .full, .evaluation, .other: false
    }
  }
}

extension ServerError {
  /// What a client may know of it: 503 with `Retry-After` while there is no server.
  init(_ error: PostgresError) {
    let cause = "PostgreSQL: \(error.state) \(error.message)"
    switch error.kind {
    case .unreachable, .refused, .unavailable, .commitUnknown: self.init(.stopping, cause: cause)
    case .evaluation: self.init(.invalidQuerySyntax, error.message)
    case .conflict, .full, .stopped: self.init(.internalErrorRetry, cause: cause)
    case .other: self.init(.internalErrorStop, cause: cause)
    }
  }
}
