/// The limits of what one client may use of a server.
package struct HTTPLimits: Sendable {
  /// The largest request body.
  package var bodyBytes = 16 << 20
  /// For the bodies of all requests together, while they arrive and are worked on.
  package var bodyMemory = 256 << 20
  /// How long a request may take to arrive, anew for each `progressBytes` of its body; and how long a connection may be idle.
  package var requestSeconds = 60
  /// So many bytes of a body are progress.
  static let progressBytes = 64 << 10
  /// How long the server may work on one request; waiting does not count.
  package var workSeconds = 30
  /// How long an answer may take to be taken.
  package var responseSeconds = 600
  /// Idle long polls count too; each takes some 11 KiB.
  package var connections = 20_000
  /// 0 for no limit; nil: a quarter of all, or, behind proxies, which have many on one address, no limit.
  package var connectionsPerAddress: Int?
  /// Connections beyond the others, for the administrator and the check of the server's health.
  static let spareConnections = 32
  /// How long such a connection may take for a request.
  static let spareSeconds = 5
  /// For the request line and the headers of one request; each connection has so much memory. Above 32
  /// KiB libmicrohttpd maps it, so that it goes back to the system with the connection.
  package var headerBytes = 36 << 10
  package init() {}
}
