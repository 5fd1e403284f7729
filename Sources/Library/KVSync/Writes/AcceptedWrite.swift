package import KVJSON

/// A write that the backend has carried out, with what it has since.
package struct AcceptedWrite: Sendable, Equatable {
  package var write: PendingWrite
  /// The backend's entity; nil: there is none, or the answer does not say.
  package var stored: [UInt8]?
  /// The version that a deletion made; nil: the answer does not say.
  package var deletion: RecordVersion?
  /// Whether the backend had another version, and merged the write with it.
  package var isMerged = false
  /// Whether an earlier attempt may have made that version.
  package var followsFailure = false
  /// The token of the operators that the backend has carried out; nil: it has the whole entity.
  package var operatorsToken: String?
  /// Which data the backend had when it answered; nil: the answer does not say.
  package var data: BackendData?

  package init(
    _ write: PendingWrite, stored: [UInt8]?, deletion: RecordVersion? = nil
  ) {
    self.write = write
    self.stored = stored
    self.deletion = deletion
  }
}
