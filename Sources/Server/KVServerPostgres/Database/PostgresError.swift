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
    /// The server is a standby, stops, starts, or has no room for a connection or its work: another one may take it.
    case unavailable
    case full
    /// The request that this was done for has ended.
    case stopped
    /// A write in the name of a session that is none.
    case noSession
    /// A filter gave up.
    case evaluation
    case other
  }

  let kind: Kind
  let message: String
  /// The five characters of the SQL standard; empty if it does not come from the server.
  let state: String
  /// Whether an answer has failed to come for as long as one may take.
  let isSilence: Bool

  init(_ kind: Kind, _ message: String, state: String = "", isSilence: Bool = false) {
    self.kind = kind
    self.message = message
    self.state = state
    self.isSilence = isSilence
  }

  /// What the server says.
  init(state: String, message: String) {
    self.init(Self.kind(of: state), message, state: state)
  }

  private static func kind(of state: String) -> Kind {
    switch state {
    // 42P01: an index was dropped after the transaction had looked for it.
    case "40001", "40P01", "42P01": .conflict
    case "53200", "53300", "25006", "25P03", "55P03": .unavailable
    // A prepared statement is gone, or of another version of the tables: a new connection has none.
    case "26000", "0A000": .unreachable
    case "57014": .stopped
    case "53100": .full
    default: state.hasPrefix("08") ? .unreachable : state.hasPrefix("57P") ? .unavailable : .other
    }
  }

  /// Whether the connection it happened on is of no use any more.
  var endsConnection: Bool {
    switch kind {
    case .unreachable, .refused, .commitUnknown, .unavailable, .stopped: true
    case .conflict, .full, .noSession, .evaluation, .other: false
    }
  }

  /// Whether what comes next would fail alike: those who wait behind it need not wait for that to be found out once more.
  var isOutage: Bool { endsConnection && kind != .stopped }
}

extension ServerError {
  /// What a client may know of it: 503 with `Retry-After` for everything that passes, a full disk included.
  init(_ error: PostgresError) {
    let cause = "PostgreSQL: \(error.state) \(error.message)"
    switch error.kind {
    case .unreachable, .refused, .unavailable, .commitUnknown, .conflict, .full:
      self.init(.stopping, cause: cause)
    case .evaluation: self.init(.invalidQuerySyntax, error.message)
    case .noSession: self = .noSession
    case .stopped: self.init(.internalErrorRetry, cause: cause)
    case .other: self.init(.internalErrorStop, cause: cause)
    }
  }
}
