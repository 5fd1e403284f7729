internal import KVBase
package import KVJSON
internal import KVQuery

/// Brings what the backend has sent into the local store: proves that it is what it should be, and keeps what is newer here.
struct Arrivals: Sendable {
  let collection: String
  let format: RecordFormat
  /// What every entity that the backend sends has to match; nil: anything.
  let validation: Matcher?
  let fence: ReadWriteFence
  /// The user that writes to the backend: see `CollectionEngine.writer`.
  let writer: @Sendable () throws(StoreError) -> String?
  /// Receives the records that a read has changed locally; nil costs less.
  var received: (@Sendable ([ReceivedRecord]) -> Void)?

  // MARK: Proof

  /// Proves that an answer is the entity of this id.
  func accepted(_ entity: [UInt8], as id: String?) throws(StoreError) -> EntityOutline {
    let outline: EntityOutline
    do throws(JSONError) { outline = try EntityScanner.outline(of: entity, format) } catch {
      throw .badAnswer(error)
    }
    guard let answered = outline.id, id.map(answered.hasSameBytes) ?? true else {
      throw .badAnswer("The backend answered with an entity that has another id.")
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
          "The backend sent an entity that does not match the option \"validation\".")
        error.id = outline.id
        throw error
      }
    }
  }

  // MARK: Storing

  /// Stores entities that a read brought; gives how many. What a write has settled since the read began
  /// is stored only where the read shows something newer still.
  func store(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline],
    in local: any EntityReader & Replica & Tombstones, of reading: ReadWriteFence.Reading
  ) throws(StoreError) -> Int {
    try validate(bytes, outlines)
    guard let received else { return try storeUntold(bytes, outlines, in: local, of: reading) }
    let new = try Arrival.changes(bytes, outlines, to: collection, in: local)
    let count = try storeUntold(bytes, outlines, in: local, of: reading)
    let isWhole = count == outlines.count
    var stored: [ReceivedRecord] = []
    for arrival in new
    where try isWhole ? true : arrival.isStored(bytes, in: collection, of: local) {
      stored.append(arrival.record)
    }
    if !stored.isEmpty { received(stored) }
    return count
  }

  private func storeUntold(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline],
    in local: any EntityReader & Replica & Tombstones, of reading: ReadWriteFence.Reading
  ) throws(StoreError) -> Int {
    try fence.storing(reading) {
      (mayBeOlder) throws(StoreError) in
      let outlines = try withoutLateWrites(bytes, outlines, local: local)
      guard let mayBeOlder else {
        return try local.store(bytes, outlines, in: collection, since: reading.mark)
      }
      var current: [EntityOutline] = []
      var withheld: [String] = []
      for outline in outlines {
        guard let id = outline.id, mayBeOlder(id) else {
          current.append(outline)
          continue
        }
        guard let ours = try local.entity(id, in: collection, writtenSince: nil),
          let theirs = outline.version(in: bytes), ours.isOlder(than: theirs, format)
        else {
          withheld.append(id)
          continue
        }
        current.append(outline)
      }
      var change = try local.store(bytes, current, in: collection, since: reading.mark)
      change.doubtful += withheld
      return change
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

  /// Deletes what a read says is gone, except for what was settled since it began, or stored since its mark, perhaps by
  /// another read with a later answer. `version`: which has gone, if that is known.
  func forget(
    _ ids: [String], in local: any EntityReader & Replica, of reading: ReadWriteFence.Reading,
    at version: RecordVersion? = nil
  ) throws(StoreError) -> Int {
    guard !ids.isEmpty else { return 0 }
    guard let received else { return try forgetUntold(ids, in: local, of: reading, at: version) }
    var here: [String] = []
    for id in ids where try local.has(id, in: collection) { here.append(id) }
    let count = try forgetUntold(ids, in: local, of: reading, at: version)
    var gone: [ReceivedRecord] = []
    for id in here where try !local.has(id, in: collection) {
      gone.append(ReceivedRecord(id, .delete))
    }
    if !gone.isEmpty { received(gone) }
    return count
  }

  private func forgetUntold(
    _ ids: [String], in local: any Replica, of reading: ReadWriteFence.Reading,
    at version: RecordVersion?
  ) throws(StoreError) -> Int {
    try fence.forgetting(ids, of: reading) { (unsettled) throws(StoreError) in
      try local.forget(unsettled, in: collection, at: version, since: reading.mark)
    }
  }

  // MARK: Late writes

  // Creates and updates that had no answer, whose entities were removed here, and that the backend carries out all the same:
  // after the deletion. An update without a condition makes the entity again there.

  /// What a read has brought, without such entities: their deletion is queued once more.
  func withoutLateWrites(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], local: any Tombstones
  ) throws(StoreError) -> [EntityOutline] {
    guard try local.expectsLateWrites(in: collection) else { return outlines }
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

  /// Queues the deletion of an entity if it is what was sent before it was removed here, and was not changed since.
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

/// A record of an answer that is not here as it came.
private struct Arrival {
  let outline: EntityOutline
  let record: ReceivedRecord

  /// Those of an answer, before it is stored.
  static func changes(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], to collection: String,
    in local: any EntityReader
  ) throws(StoreError) -> [Arrival] {
    var changes: [Arrival] = []
    for outline in outlines {
      guard let id = outline.id else { continue }
      var isSame = false
      let isHere = try local.lend(id, in: collection, writtenSince: nil) { stored in
        isSame = stored.elementsEqual(bytes[outline.range])
      }
      guard !isSame else { continue }
      changes.append(Arrival(outline: outline, record: .init(id, isHere ? .update : .create)))
    }
    return changes
  }

  /// Whether it is here now as it came.
  func isStored(
    _ bytes: UnsafeRawBufferPointer, in collection: String, of local: any EntityReader
  ) throws(StoreError) -> Bool {
    var isSame = false
    _ = try local.lend(record.id, in: collection, writtenSince: nil) { stored in
      isSame = stored.elementsEqual(bytes[outline.range])
    }
    return isSame
  }
}

extension EntityReader {
  fileprivate func has(_ id: String, in collection: String) throws(StoreError) -> Bool {
    try lend(id, in: collection, writtenSince: nil) { _ in }
  }
}

extension [UInt8] {
  /// Whether this entity is known to be of an older version.
  func isOlder(than other: RecordVersion, _ format: RecordFormat) -> Bool {
    format.version(of: self).map { format.isOlder($0, than: other) } ?? false
  }
}

extension StoreError {
  /// The error for an answer that is not valid.
  package static func badAnswer(_ message: String) -> StoreError {
    var error = StoreError(.proto, message)
    error.answer = ServerAnswer(status: 200)
    return error
  }

  package static var entityWithoutId: StoreError {
    badAnswer("The backend sent an entity without _id.")
  }

  package static func badAnswer(_ error: JSONError) -> StoreError {
    var answer = badAnswer("The backend's answer is not valid: \(error.message).")
    answer.position = error.position
    return error.reason == .noMemory ? StoreError(error) : answer
  }
}
