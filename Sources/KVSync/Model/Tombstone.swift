/// What is remembered of an entity that has gone, so that messages and requests that come late do not bring it back.
package struct Tombstone: Sendable {
  /// The backend's time at which it was gone, or `_kmd.lmt` of the last version that is known to have gone; nil: unknown.
  package var version: String?
  /// What was sent to create it, without an answer: the backend may still carry that out.
  package var sent: [[UInt8]]

  package init(version: String?, sent: [[UInt8]]) {
    self.version = version
    self.sent = sent
  }
}

extension Tombstone {
  /// Whether what is of this time, in the backend's notation, was made after the entity had gone. If it is not known
  /// what has gone, everything was.
  func isOlder(than moment: (some Sequence<UInt8>)?) -> Bool {
    guard let version else { return true }
    guard let moment else { return false }
    return version.utf8.lexicographicallyPrecedes(moment)
  }
}
