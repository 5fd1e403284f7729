package import KVSync
package import KVTransport

extension StoreError {
  /// No answer came.
  package init(_ error: TransportError) {
    self.init(Self.kind(of: error), error.message)
    code = error.code == 0 ? nil : error.code
  }

  private static func kind(of error: TransportError) -> Kind {
    switch error.kind {
    case .resolve, .connect, .tls, .reset: .network
    case .certificate: .certificate
    case .timeout: .timeout
    case .cancelled: .cancelled
    case .tooLarge: .tooLarge
    case .malformed: .proto
    case .notUpgraded: kind(ofStatus: error.code)
    case .invalid: .invalid
    case .forked: .misuse
    case .resources: .storage
    }
  }

  /// What it means that a server gave a status in place of a WebSocket.
  private static func kind(ofStatus status: Int) -> Kind {
    switch status {
    case 401: .unauthorized
    case 403: .forbidden
    case 429, 500...599: .server
    default: .proto
    }
  }
}
