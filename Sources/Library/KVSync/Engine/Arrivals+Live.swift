internal import KVBase
internal import KVJSON
internal import KVQuery

/// Messages of live data.
extension Arrivals {
  /// Brings the local store up to what a live message says: never over a pending write, never older over newer.
  /// `matching`: what is not here yet comes in only if it matches; nil: in any case. `keepsOthers` false: what is here and
  /// does not match leaves.
  func apply(
    _ change: LiveChange, matching: Matcher?, keepsOthers: Bool = true, in local: any LocalStore
  ) throws(StoreError) {
    switch change {
    case .saved(let entity, let id, _):
      try store(entity, id, matching: matching, keepsOthers: keepsOthers, in: local)
    case .deleted(let id, let moment):
      try forget(id, at: moment.map { RecordVersion($0) }, in: local)
    case .tooLarge, .said: break
    }
  }

  private func store(
    _ entity: [UInt8], _ id: String, matching: Matcher?, keepsOthers: Bool,
    in local: any LocalStore
  ) throws(StoreError) {
    let outline: EntityOutline
    do throws(JSONError) { outline = try EntityScanner.outline(of: entity, format) } catch {
      throw .badAnswer(error)
    }
    try fence.settling(id) { () throws(StoreError) -> ReadWriteFence.Message in
      // Without a version it is unknown which is newer: what is here stays, and what has gone stays away.
      let theirs = outline.version(in: entity)
      let isWanted = try matching?.admits(entity) ?? true
      if let ours = try local.entity(id, in: collection, writtenSince: nil) {
        // What has no version here was never the backend's: it waits to be sent, or was given up.
        guard let theirs, format.version(of: ours).map({ format.isOlder($0, than: theirs) }) ?? true
        else { return .old }
        // The version of one with a pending write is noted below.
        if !isWanted, !keepsOthers, try local.pending(id, in: collection) == nil {
          _ = try local.release([id], in: collection, at: theirs) { _ in true }
          return .settled
        }
      } else {
        if let tombstone = try local.tombstone(of: id, in: collection) {
          guard tombstone.isOlder(than: theirs, format.versionOrder) else { return .old }
          if try remove(entity, id, ifLateBy: tombstone, local: local) { return .old }
        }
        if !isWanted { return .leftOut }
      }
      // What is here may be of data that the backend had before.
      try local.keepLost([(id, .entity(entity))], in: collection, from: .latest)
      let stored = try entity.withBorrowedBytes { (bytes) throws(StoreError) in
        try local.store(bytes, [outline], in: collection)
      }
      // A message may come after a read that has seen what became of the entity since: should the messages about that
      // be missed, the next read of changes has to go back that far.
      if stored > 0, let moment = Self.moment(of: entity, theirs, format) {
        try local.reviseRequests(in: collection, to: moment)
      }
      return stored > 0 ? .settled : .old
    }
  }

  /// When the backend stored a record, in the notation of the moments of reads; nil: it does not say.
  private static func moment(
    of entity: [UInt8], _ version: RecordVersion?, _ format: RecordFormat
  ) -> String? {
    if format.versionsAreTimes { return version?.text }
    guard let name = format.changeTime,
      let time = (try? JSONValue(parsing: entity))?[name]?.intValue
    else { return nil }
    return String(time)
  }

  private func forget(
    _ id: String, at version: RecordVersion?, in local: any LocalStore
  ) throws(StoreError) {
    try fence.settling(id) { () throws(StoreError) -> ReadWriteFence.Message in
      // It may have been made again meanwhile.
      if let version, let ours = try local.entity(id, in: collection, writtenSince: nil),
        !ours.isOlder(than: version, format)
      {
        return .old
      }
      try local.keepLost([(id, .gone)], in: collection, from: .latest)
      _ = try local.forget([id], in: collection, at: version)
      return .settled
    }
  }
}

extension Matcher {
  /// Whether an entity matches. What cannot be evaluated is a failure of the query's.
  func admits(_ entity: [UInt8]) throws(StoreError) -> Bool {
    do throws(QueryError) { return try matches(entity) } catch {
      throw StoreError(error)
    }
  }
}
