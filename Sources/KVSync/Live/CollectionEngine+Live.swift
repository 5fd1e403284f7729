internal import KVJSON

extension CollectionEngine {
  /// Brings the local store up to what a live message says: never over a pending write, never older over newer.
  package func take(_ change: LiveChange) throws(StoreError) {
    let local = try localStore(for: "take in live data")
    switch change {
    case .saved(let entity, let id, _): try store(entity, id, in: local)
    case .deleted(let id, let moment): try forget(id, at: moment, in: local)
    case .tooLarge, .said: break
    }
  }

  private func store(
    _ entity: [UInt8], _ id: String, in local: any LocalStore
  ) throws(StoreError) {
    let outline: EntityOutline
    do throws(JSONError) { outline = try EntityScanner.outline(of: entity) } catch {
      throw .badAnswer(error)
    }
    try inFlight.settlements.reading { (reading) throws(StoreError) in
      try inFlight.settlements.storing(reading) { (_) throws(StoreError) in
        // Without a time nobody knows which is newer: what is here stays.
        if let ours = try local.entity(id, in: collection, writtenSince: nil) {
          guard let theirs = outline.lastModified, ours.isOlder(than: entity[theirs]) else {
            return
          }
        }
        _ = try entity.withUnsafeBytes { bytes in
          Result { () throws(StoreError) in
            try local.store(bytes, [outline], in: collection)
          }
        }.get()
      }
    }
  }

  private func forget(
    _ id: String, at moment: String?, in local: any LocalStore
  ) throws(StoreError) {
    try inFlight.settlements.reading { (reading) throws(StoreError) in
      try inFlight.settlements.storing(reading) { (_) throws(StoreError) in
        // It may have been made again meanwhile.
        if let moment, let ours = try local.entity(id, in: collection, writtenSince: nil),
          !ours.isOlder(than: Array(moment.utf8)[...])
        {
          return
        }
        _ = try local.forget([id], in: collection)
      }
    }
  }
}
