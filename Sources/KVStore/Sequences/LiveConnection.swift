internal import KVSync

/// How the connection of a subscriber is: what `LiveEvent.connection` and `StreamEvent.connection` tell.
///
///     for await event in try people.live() {
///       if case .connection(.reconnected) = event { try await people.pull() }
///     }
public enum LiveConnection: String, Sendable {
  case connected
  /// Nothing follows.
  case disconnected
  case reconnected
  /// The connection broke; it is tried again.
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
