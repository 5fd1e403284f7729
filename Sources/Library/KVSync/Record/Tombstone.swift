package import KVJSON

/// The record of a deleted entity, so that late messages and requests do not restore it.
package struct Tombstone: Sendable {
  /// The last version that is known to have gone, or, where versions are times, the backend's time at which it was gone;
  /// nil: unknown.
  package var version: RecordVersion?
  /// The version that was here last, which programs have seen; nil: unknown. Not `version` where a message has said that
  /// a later one is gone or has left a filter.
  package var localVersion: RecordVersion?
  /// What was sent of it without an answer: the backend may still carry that out, and make the entity again.
  package var sent: [[UInt8]]

  package init(version: RecordVersion?, localVersion: RecordVersion?, sent: [[UInt8]]) {
    self.version = version
    self.localVersion = localVersion
    self.sent = sent
  }
}

extension Tombstone {
  /// Whether a version is known to have been made after the entity had gone. If it is not known what has gone, every
  /// version was.
  func isOlder(than other: RecordVersion?, _ order: VersionOrder) -> Bool {
    guard let version else { return true }
    guard let other else { return false }
    return order.isOlder(version, than: other)
  }
}
