/// Why no complete answer came. An answer with an error status is not one of these.
package struct TransportError: Error, Sendable, Equatable {
  package enum Kind: String, Sendable, CaseIterable {
    /// The host's name, or the proxy's, has no address.
    case resolve
    /// The connection was refused, or is blocked.
    case connect
    /// The server's certificate is not to be trusted, or the certificates that are to be trusted cannot be read.
    case certificate
    /// The handshake failed.
    case tls
    /// The connection broke before the answer was complete.
    case reset
    /// The deadline has passed.
    case timeout
    /// The caller asked for it, or the transport was closed.
    case cancelled
    /// The answer has more bytes, or more headers, than was allowed.
    case tooLarge
    /// The answer is not HTTP, or a frame no WebSocket's.
    case malformed
    /// The server does not switch to WebSockets: `code` is the status that it gave instead.
    case notUpgraded
    /// The request can not be sent as it is: its URL, a header, its body.
    case invalid
    /// The transport belongs to the parent of this process.
    case forked
    /// The system has no memory, thread or descriptor left.
    case resources
  }

  package var kind: Kind
  /// One sentence; it names hosts, never a URL, a header or a body.
  package var message: String
  /// The `CURLcode`; 0 if libcurl was not the one to notice. With `notUpgraded`, a status of HTTP.
  package var code: Int

  package init(_ kind: Kind, _ message: String, code: Int = 0) {
    self.kind = kind
    self.message = message
    self.code = code
  }

  package static let timedOut = TransportError(.timeout, "The time limit of the call has passed.")
  package static let cancelled = TransportError(.cancelled, "The call was cancelled.")
  package static let closed = TransportError(.cancelled, "The client was closed.")
  package static let forked = TransportError(
    .forked, "The client was opened by the parent process. A child process must open its own.")
}

/// What ends an exchange whose answer is handed over in pieces.
package enum ExchangeFailure<Receiver: Error>: Error {
  case transport(TransportError)
  /// The receiver threw this; the transfer was stopped.
  case receiver(Receiver)
}
