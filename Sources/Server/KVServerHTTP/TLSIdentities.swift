internal import KVBase
/// The identity that new connections get. Safe from any thread.
///
/// Handshakes that are under way may still read an earlier one, and nothing says when they have ended: each is kept as
/// long as the server. That is some kilobytes for each time the certificate is loaded again.
package final class TLSIdentities: Sendable {
  private let identities: Monitor<[TLSIdentity]>
  /// The same for all connections.
  let rules: TLSRules

  package init(_ first: TLSIdentity, _ rules: TLSRules) {
    identities = Monitor([first])
    self.rules = rules
  }

  var current: TLSIdentity? { identities.withLock { $0.last } }

  package func replace(by identity: TLSIdentity) { identities.withLock { $0.append(identity) } }
}
