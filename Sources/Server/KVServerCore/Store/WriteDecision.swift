package import KVBase

/// The stored entity with the id of a write, as far as its viewer may see it.
package enum StoredEntity: Sendable {
  case missing
  /// There is one that the viewer may not write to.
  case forbidden
  case found(StoredVersion)
}

/// The stored version of an entity that is about to be replaced or deleted.
package struct StoredVersion: Sendable {
  package let creator: String
  package let created: Timestamp
  package let modified: Timestamp
  /// Empty where only a deletion is asked about.
  package let body: [UInt8]
  /// Whether the body is what was stored.
  package let isIntact: Bool

  package init(
    creator: String = "", created: Timestamp = .distantPast, modified: Timestamp,
    body: [UInt8] = [], isIntact: Bool = true
  ) {
    self.creator = creator
    self.created = created
    self.modified = modified
    self.body = body
    self.isIntact = isIntact
  }
}

/// An entity as it is to be stored.
package struct EntityRecord: Sendable {
  package let id: String
  package let acl: ACL
  package let created: Timestamp
  package let modified: Timestamp
  package let body: [UInt8]

  /// What a write that has stored it gives.
  package func written(isNew: Bool) -> WrittenEntity {
    WrittenEntity(id: id, body: body, acl: acl, modified: modified, isNew: isNew)
  }
}

/// Gives the times of the writes of one transaction: each is later than what it follows.
package protocol WriteTimes {
  func creation() -> Timestamp
  func change(after previous: Timestamp) -> Timestamp
  func deletion(after previous: Timestamp) -> Timestamp
}

/// What a write does to the rows of a store, decided from what is stored.
package enum WriteStep: Sendable {
  /// Refused with `ServerError.alreadyExists` if there is one by then.
  case insert(EntityRecord)
  /// `changesAccess`: the client has sent an access list.
  case update(EntityRecord, changesAccess: Bool)
  case delete(at: Timestamp)
}

extension EntityWrite {
  /// Decides what the write does. `stored` does not matter to a create, which looks when it inserts.
  package func step(
    over stored: StoredEntity, for viewer: Viewer, at times: some WriteTimes
  ) throws(ServerError) -> WriteStep {
    switch (self, stored) {
    case (.create(let draft), _):
      return .insert(draft.record(createdBy: viewer, at: times.creation()))
    case (_, .forbidden): throw .forbidden(id)
    case (.put(let draft, let condition), .missing):
      try condition.check(nil)
      _ = try viewer.rule(for: .create)
      try viewer.requireChoiceOfID()
      return .insert(draft.record(createdBy: viewer, at: times.creation()))
    case (.put(let draft, let condition), .found(let version)):
      try condition.check(version.modified)
      let record = draft.record(
        replacing: version, for: viewer, at: times.change(after: version.modified))
      return .update(record, changesAccess: draft.acl != nil)
    case (.delete, .missing), (.change, .missing): throw ServerError(.entityNotFound)
    case (.change(let change), .found(let version)):
      try change.condition.check(version.modified)
      return try change.step(
        over: version, for: viewer, at: times.change(after: version.modified))
    case (.delete(_, let condition, _), .found(let version)):
      try condition.check(version.modified)
      return .delete(at: times.deletion(after: version.modified))
    }
  }
}

extension WriteStep {
  /// What is remembered of it.
  package var done: DoneWrite {
    switch self {
    case .insert(let record): DoneWrite(.created, at: record.modified)
    case .update(let record, _): DoneWrite(.replaced, at: record.modified)
    case .delete(let time): DoneWrite(.deleted, at: time)
    }
  }
}

extension DoneWrite {
  /// The answer to the same write, sent again: as to the first, with what has become of the entity since. `stored`: what there
  /// is of it. What the write itself has stored is shown to its sender, and anything else only if they may read it.
  package func answer(
    _ id: String, stored: StoredVersion?, mayRead: Bool, in collection: String
  ) -> Result<WrittenEntity?, ServerError> {
    guard kind != .deleted else { return .success(nil) }
    guard let stored, mayRead || stored.modified == at else { return .failure(.writtenBefore) }
    guard stored.isIntact else { return .failure(.damaged(id, in: collection)) }
    return .success(
      WrittenEntity(
        id: id, body: stored.body, acl: ACL(of: stored.body), modified: stored.modified,
        isNew: kind == .created, isOfOthers: stored.modified != at))
  }
}

extension Viewer {
  /// The permission to read a stored entity; nil: this viewer may read none.
  package var accessToRead: RowAccess? {
    guard let rule = try? rule(for: .read) else { return nil }
    return RowAccess(rule: rule, user: user)
  }

  /// The permission that a write of the stored entity needs; nil: nothing, a create looks when it inserts.
  package func access(for write: EntityWrite) -> Result<RowAccess?, ServerError> {
    Result { () throws(ServerError) in
      let rule = try rule(for: write.operation)
      if case .create = write { return nil }
      let writing = RowAccess(rule: rule, isWriting: true, user: user)
      guard write.reads else { return writing }
      return writing.also(try self.rule(for: .read))
    }
  }
}

extension EntityDraft {
  /// A new entity. Its creator is who creates it, unless the administrator names one.
  package func record(createdBy viewer: Viewer, at now: Timestamp) -> EntityRecord {
    var acl = acl ?? ACL()
    if viewer.principal != .master || acl.creator.isEmpty { acl.creator = viewer.owner }
    return record(acl, created: now, modified: now)
  }

  /// The next version of an entity. It keeps its access list unless the client has sent one; only the administrator may
  /// give it to another user.
  package func record(
    replacing stored: StoredVersion, for viewer: Viewer, at modified: Timestamp
  ) -> EntityRecord {
    // A damaged body must not let anybody in.
    var acl = acl ?? (stored.isIntact ? ACL(of: stored.body) : ACL())
    if viewer.principal != .master || acl.creator.isEmpty { acl.creator = stored.creator }
    return record(acl, created: stored.created, modified: modified)
  }

  package func record(_ acl: ACL, created: Timestamp, modified: Timestamp) -> EntityRecord {
    EntityRecord(
      id: id, acl: acl, created: created, modified: modified,
      body: body(acl, created: created, modified: modified))
  }
}

extension ServerError {
  package static func forbidden(_ id: String) -> ServerError {
    ServerError(.insufficientCredentials, "the entity's _acl does not allow this")
  }

  /// The error for a write that is sent again, and of which nothing may be shown now.
  static let writtenBefore = ServerError(.entityGone, "an earlier request has written it")

  package static let alreadyExists = ServerError(
    .internalErrorRetry, "An entity with that _id already exists in this collection")

  /// The error for a write to the id of a group that was deleted.
  package static let formerGroup = ServerError(
    .entityNotFound, "the group was deleted, and its _id is not given again")

  /// The error for an entity whose stored body is not what was stored.
  package static func damaged(_ id: String, in collection: String) -> ServerError {
    ServerError(
      .internalErrorStop, "the entity \(id) is damaged in the server's database",
      cause: "the entity \(id) of \(collection) is damaged")
  }
}
