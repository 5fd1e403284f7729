/// How a transport reaches its servers. The defaults are safe ones.
package struct TransportOptions: Sendable, Equatable {
  /// The certificate authorities to trust, as a PEM file, in place of the system's.
  package var caFile: String?
  /// The same, for a machine where the system has none: nil or a PEM file.
  package var caFallback: String?
  /// The proxy, such as `http://127.0.0.1:3128`. Nil: what the environment says (`https_proxy`, `no_proxy`), as for
  /// every program that uses libcurl; empty: none.
  package var proxy: String?
  /// Connections to one host at the most; further exchanges wait for one.
  package var connections: Int
  /// Seconds until a connection has to stand, however late the deadline of the call is.
  package var connectSeconds: Double
  /// HTTP/2 where a server offers it over TLS. Without it an exchange that is given up takes its connection along: the
  /// next one does not meet a connection that has gone dead.
  package var usesHTTP2: Bool
  /// Seconds without a byte after which the system asks whether the other end is still there. It asks nine times with a fifth of
  /// that between, then the connection has broken.
  package var probeSeconds: Int

  package init(
    caFile: String? = nil, caFallback: String? = nil, proxy: String? = nil, connections: Int = 6,
    connectSeconds: Double = 30, usesHTTP2: Bool = true, probeSeconds: Int = 60
  ) {
    self.caFile = caFile
    self.caFallback = caFallback
    self.proxy = proxy
    self.connections = connections
    self.connectSeconds = connectSeconds
    self.usesHTTP2 = usesHTTP2
    self.probeSeconds = probeSeconds
  }
}
