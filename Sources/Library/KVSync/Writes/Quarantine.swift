/// What the backend has of an entity that has a pending write here.
package enum RemoteVersion: Sendable, Equatable {
  case entity([UInt8])
  /// The entity was deleted on the backend, or this user may not see it.
  case gone

  package var bytes: [UInt8]? {
    switch self {
    case .entity(let bytes): bytes
    case .gone: nil
    }
  }
}

/// A pending write with everything that is kept with it.
package struct PendingDetail: Sendable {
  package var write: PendingWrite
  /// The entity that it would send; nil for a deletion.
  package var entity: [UInt8]?
  /// The backend's version that it changes; nil if there was none, or it is unknown.
  package var base: [UInt8]?
  /// What the backend has now, as far as a refusal or a read has shown; nil: unknown.
  package var theirs: RemoteVersion?
  /// The versions that were sent before without an answer, and changed since, or sent without a queued write: the backend may
  /// have it.
  package var tried: [RemoteVersion]
  /// What a request that had no answer may have replaced, although no program has seen it; nil: nothing.
  package var replaced: RemoteVersion?

  package init(
    write: PendingWrite, entity: [UInt8]?, base: [UInt8]?, theirs: RemoteVersion? = nil,
    tried: [RemoteVersion] = [], replaced: RemoteVersion? = nil
  ) {
    self.write = write
    self.entity = entity
    self.base = base
    self.theirs = theirs
    self.tried = tried
    self.replaced = replaced
  }
}

/// A write that is to be set aside, and why.
package struct QuarantinedWrite: Sendable {
  package var write: PendingWrite
  package var error: StoreError
  /// What the backend has; nil: unknown.
  package var theirs: RemoteVersion?

  package init(write: PendingWrite, error: StoreError, theirs: RemoteVersion? = nil) {
    self.write = write
    self.error = error
    self.theirs = theirs
  }

  package var state: PendingWrite.State { error.kind == .conflict ? .conflict : .refused }
}

/// What becomes of a pending write whose conflict was decided.
package enum RebasedChange: Sendable, Equatable {
  /// The write is sent unchanged, over the version that was seen.
  case unchanged
  /// This entity is sent in its place, and becomes the local one.
  case replaced([UInt8])
  /// The same, where operators have made it of the version that was seen: they stay with the write.
  case operated([UInt8])
  /// The entity is deleted, here and there.
  case deleted
}
