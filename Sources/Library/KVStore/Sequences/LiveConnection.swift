internal import KVSync

/// The state of a live connection: see `LiveEvent.connection` and `StreamEvent.connection`.
///
///     for await event in try people.live() {
///       if case .connection(.reconnected) = event { try await people.pull() }
///     }
public enum LiveConnection: String, Sendable {
  /// The connection was made.
  case connected
  /// The connection is closed for good.
  case disconnected
  /// The connection was made again after a loss.
  case reconnected
  /// The connection was lost; the library connects again.
  case unexpectedDisconnect

  init(_ status: LiveStatus) {
    self =
      switch status {
      case .connected: .connected
      case .disconnected: .disconnected
      case .reconnected: .reconnected
      case .unexpectedDisconnect: .unexpectedDisconnect
      }
  }
}
