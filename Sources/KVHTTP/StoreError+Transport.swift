package import KVSync
package import KVTransport

extension StoreError {
  /// No answer came.
  package init(_ error: TransportError) {
    self.init(Self.kind(of: error.kind), error.message)
    code = error.code == 0 ? nil : error.code
  }

  private static func kind(of kind: TransportError.Kind) -> Kind {
    switch kind {
    case .resolve, .connect, .tls, .reset: .network
    case .timeout: .timeout
    case .cancelled: .cancelled
    case .tooLarge: .tooLarge
    case .malformed: .proto
    case .invalid: .invalid
    case .forked: .misuse
    case .resources: .storage
    }
  }
}
