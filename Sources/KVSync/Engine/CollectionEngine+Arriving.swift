internal import KVBase
package import KVJSON
internal import KVQuery

/// What comes from the backend, on its way into the local store.
extension CollectionEngine {
  // MARK: Proof

  /// Proves that an answer is the entity of this id.
  func accepted(_ entity: [UInt8], as id: String?) throws(StoreError) -> EntityOutline {
    let outline: EntityOutline
    do throws(JSONError) { outline = try EntityScanner.outline(of: entity, format) } catch {
      throw .badAnswer(error)
    }
    guard let answered = outline.id, id.map(answered.hasSameBytes) ?? true else {
      throw .badAnswer("The backend answered with an entity of another id.")
    }
    return outline
  }

  func validate(_ bytes: [UInt8], _ outlines: [EntityOutline]) throws(StoreError) {
    try bytes.withBorrowedBytes { (bytes) throws(StoreError) in try validate(bytes, outlines) }
  }

  /// Proves that entities of the backend are what the store's `validation` says. Every one is looked at: that
  /// costs less than storing it. The first that is not ends the read; nothing of this batch is stored.
  func validate(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline]
  ) throws(StoreError) {
    guard let validation else { return }
    for outline in outlines {
      let entity = UnsafeRawBufferPointer(rebasing: bytes[outline.range])
      let isValid: Bool
      do throws(QueryError) { isValid = try validation.matches(entity) } catch {
        throw StoreError(error)
      }
      guard isValid else {
        var error = StoreError.badAnswer(
          "The backend sent an entity that the option \"validation\" does not let in.")
        error.id = outline.id
        throw error
      }
    }
  }

  // MARK: Storing

  /// Stores entities that a read brought; gives how many. What a write has settled since the read began
  /// is stored only where the read shows something newer still, and what another read has brought meanwhile unless this one
  /// shows something older.
  func store(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline],
    in local: any EntityReader & Replica & Tombstones, of reading: ReadWriteFence.Reading
  ) throws(StoreError) -> Int {
    try validate(bytes, outlines)
    return try sendGate.fence.storing(reading) {
      (isSettled, isOverlapped) throws(StoreError) in
      var outlines = try withoutLateCreates(bytes, outlines, local: local)
      if isOverlapped, let mark = reading.mark {
        outlines = try withoutOutdated(bytes, outlines, local: local, since: mark)
      }
      guard let isSettled else { return try local.store(bytes, outlines, in: collection) }
      var current: [EntityOutline] = []
      for outline in outlines {
        guard let id = outline.id, isSettled(id) else {
          current.append(outline)
          continue
        }
        guard let ours = try local.entity(id, in: collection, writtenSince: nil),
          let theirs = outline.version(in: bytes), ours.isOlder(than: theirs, format)
        else { continue }
        current.append(outline)
      }
      return try local.store(bytes, current, in: collection)
    }
  }

  func store(
    _ entity: [UInt8], _ outline: EntityOutline,
    in local: any EntityReader & Replica & Tombstones, of reading: ReadWriteFence.Reading
  ) throws(StoreError) {
    let result = entity.withUnsafeBytes { bytes in
      Result { () throws(StoreError) in try store(bytes, [outline], in: local, of: reading) }
    }
    _ = try result.get()
  }

  /// What a read has brought but for entities of which another read has brought a newer version since a mark.
  private func withoutOutdated(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline],
    local: any EntityReader & Replica, since mark: RefreshMark
  ) throws(StoreError) -> [EntityOutline] {
    let written = try local.written(outlines.compactMap(\.id), since: mark, in: collection)
    guard !written.isEmpty else { return outlines }
    let later = Set(written.map { RecordID($0) })
    var current: [EntityOutline] = []
    for outline in outlines {
      if let id = outline.id, later.contains(RecordID(id)), let theirs = outline.version(in: bytes),
        let ours = try local.entity(id, in: collection, writtenSince: nil),
        let version = format.version(of: ours), format.isOlder(theirs, than: version)
      {
        continue
      }
      current.append(outline)
    }
    return current
  }

  /// Deletes what a read says is gone, except for what was settled since it began, or stored since its mark, perhaps by
  /// another read with a later answer. `version`: which has gone, if that is known.
  func forget(
    _ ids: [String], in local: any Replica, of reading: ReadWriteFence.Reading,
    since mark: RefreshMark? = nil, at version: RecordVersion? = nil
  ) throws(StoreError) -> Int {
    try forget(ids, in: local, of: reading, at: version) { (unsettled) throws(StoreError) in
      try mark.map { (mark) throws(StoreError) in
        try local.written(unsettled, since: mark, in: collection)
      } ?? []
    }
  }

  /// The same; `later` says which of these were stored since the read began.
  func forget(
    _ ids: [String], in local: any Replica, of reading: ReadWriteFence.Reading,
    at version: RecordVersion? = nil, except later: ([String]) throws(StoreError) -> [String]
  ) throws(StoreError) -> Int {
    guard !ids.isEmpty else { return 0 }
    var count = 0
    try sendGate.fence.forgetting(ids, of: reading) { (unsettled) throws(StoreError) in
      let later = try later(unsettled)
      let kept = Set(later.map { RecordID($0) })
      let gone = kept.isEmpty ? unsettled : unsettled.filter { !kept.contains(RecordID($0)) }
      count = try local.forget(gone, in: collection, at: version)
      return later
    }
    return count
  }

  // MARK: Late creates

  // Creates that had no answer, whose entities were removed here, and that the backend carries out all the same: behind
  // the deletion, which has found nothing.

  /// What a read has brought but for such entities: their deletion is queued once more.
  func withoutLateCreates(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], local: any Tombstones
  ) throws(StoreError) -> [EntityOutline] {
    guard try local.expectsLateCreates(in: collection) else { return outlines }
    var others: [EntityOutline] = []
    for outline in outlines {
      if let id = outline.id, let tombstone = try local.tombstone(of: id, in: collection),
        try remove(
          [UInt8](bytes[outline.range], or: StoreError.noMemory), id, ifLateBy: tombstone,
          local: local)
      {
        continue
      }
      others.append(outline)
    }
    return others
  }

  /// Queues the deletion of an entity if it is what was sent before it was removed here, and nobody has changed it since.
  func remove(
    _ entity: [UInt8], _ id: String, ifLateBy tombstone: Tombstone, local: any Tombstones
  ) throws(StoreError) -> Bool {
    guard !tombstone.sent.isEmpty else { return false }
    let theirs = try BackendEntity(entity, format)
    guard theirs.isMade(by: try writer()) else { return false }
    for sent in tombstone.sent where try theirs.isSameContent(as: sent) {
      return try local.removeArrived(entity, id, in: collection)
    }
    return false
  }
}

extension [UInt8] {
  /// Whether this entity is known to be of an older version.
  func isOlder(than other: RecordVersion, _ format: RecordFormat) -> Bool {
    format.version(of: self).map { format.isOlder($0, than: other) } ?? false
  }
}

extension StoreError {
  /// What came is no valid answer.
  package static func badAnswer(_ message: String) -> StoreError {
    var error = StoreError(.proto, message)
    error.answer = ServerAnswer(status: 200)
    return error
  }

  package static var entityWithoutId: StoreError {
    badAnswer("The backend sent an entity without _id.")
  }

  package static func badAnswer(_ error: JSONError) -> StoreError {
    var answer = badAnswer("The backend's answer is not what it should be: \(error.message).")
    answer.position = error.position
    return error.reason == .noMemory ? StoreError(error) : answer
  }
}
