package import KVBase
internal import KVHTTP
package import KVSync
package import KVTransport

/// What requests and WebSockets of an API go over: a `Transport`, or what a test has in its place. Safe from any thread.
package protocol AppSyncTransport: Sendable {
  /// Sends a request within the limits of a call. Throws what it means to the call that no answer came.
  func exchange(_ request: HTTPRequest, for call: Call) throws(StoreError) -> HTTPResponse

  /// Opens a WebSocket: see `Transport.open`.
  func socket(
    _ request: WebSocketRequest, until deadline: Deadline, cancellation: Cancellation
  ) throws(TransportError) -> any MessageSocket
}

/// A WebSocket for texts: see `WebSocket`. Safe from any thread.
package protocol MessageSocket: Sendable {
  func receive(until deadline: Deadline, cancellation: Cancellation) throws(TransportError)
    -> [UInt8]
  func send(_ text: [UInt8]) throws(TransportError)
  func close()
}

extension WebSocket: MessageSocket {}

extension Transport: AppSyncTransport {
  package func socket(
    _ request: WebSocketRequest, until deadline: Deadline, cancellation: Cancellation
  ) throws(TransportError) -> any MessageSocket {
    try open(request, until: deadline, cancellation: cancellation)
  }
}
