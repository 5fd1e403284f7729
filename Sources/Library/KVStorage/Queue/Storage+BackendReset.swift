internal import KVBase
internal import KVJSON
internal import KVSQLite
package import KVSync

/// Which data of the backend's a collection is of, and what is kept of data that the backend has no more.
extension Storage {
  package func noteEpoch(
    _ moment: BackendMoment, in collection: String, from mark: RefreshMark
  ) throws(StoreError) -> Bool {
    guard let data = moment.data else { return false }
    let keeps = resetRule.withLock { $0.policy } != .accept
    return try note(data, in: collection, readSince: mark.generation) > 0 && keeps
  }

  package func note(_ data: BackendData, in collection: String) throws(StoreError) {
    _ = try note(data, in: collection, readSince: nil)
  }

  /// Gives the generation whose older rows are of other data; 0: none is. `readSince`: the generation when the read began that
  /// says so; nil: it is the newest that is known.
  private func note(
    _ data: BackendData, in collection: String, readSince generation: Int64?
  ) throws(StoreError) -> Int64 {
    let known = try read(from: collection) { (db, table) throws(SQLiteError) in
      try Self.known(table, on: db)
    }
    if let known, data.isSame(as: known.data) { return known.renewed }
    return try write(to: collection) { (db, change) throws(SQLiteError) in
      let known = try Self.known(change.table, on: db)
      if let known, data.isSame(as: known.data) { return known.renewed }
      var renewed = known?.renewed ?? 0
      // Of a collection of which nothing is noted, what is here may be of data that were there before a copy was put back.
      if known?.data != nil || data.restored != nil {
        // A read that began before that has seen older data.
        if let generation, generation < renewed { return renewed }
        // What was confirmed since the read began may have been so by the former data, too.
        renewed = try catalog.raiseGeneration(of: collection, on: db)
        try db.run(
          """
          UPDATE pending SET confirmed = \(bind: PendingWrite.ofOtherData)
          WHERE collection = \(bind: change.table.number) AND base NOT NULL AND confirmed IS NULL
          """)
      }
      try db.run(
        """
        UPDATE collections SET epoch = \(bind: data.epoch), renewed = \(bind: renewed),
          restored = \(bind: data.restored)
        WHERE number = \(bind: change.table.number)
        """)
      return renewed
    }
  }

  package func noteDeletions(_ ids: [String], in collection: String) throws(StoreError) {
    try write(to: collection, makingRoom: true) { (db, change) throws(SQLiteError) in
      for id in ids {
        try db.run(
          "UPDATE gone SET confirmed = ifnull(local_version, version) WHERE \(change.table.isEntity(id))"
        )
      }
    }
  }

  package func keepLost(
    _ lost: [(id: String, theirs: RemoteVersion)], in collection: String, from mark: RefreshMark
  ) throws(StoreError) {
    let rule = resetRule.withLock { $0 }
    guard rule.policy != .accept, try hasRenewed(collection) else { return }
    let found = try write(to: collection) { (db, change) throws(SQLiteError) in
      guard var kept = try LostVersions(change, rule.policy, since: mark, on: db) else {
        return [LostVersion]()
      }
      for one in lost { _ = try kept.keep(one.id, meeting: one.theirs, on: db) }
      return kept.found
    }
    rule.tell(found, of: collection)
  }

  package func fate(
    ofChange base: [UInt8], meeting theirs: RemoteVersion, in collection: String
  ) throws(StoreError) -> LostBaseFate? {
    let policy = resetRule.withLock { $0.policy }
    guard policy != .accept else { return nil }
    return try read(from: collection) { (db, table) throws(SQLiteError) -> LostBaseFate? in
      let format = table.format
      guard format.versionOrder != .unordered, let ours = format.version(of: base) else {
        return nil
      }
      // It does not say that it went back, but answers to writes are never behind.
      if format.versionsOnlyRise {
        guard let version = theirs.bytes.flatMap({ format.version(of: $0) }),
          format.isOlder(version, than: ours)
        else { return nil }
        return policy == .resend ? .sentAgain : .setAside
      }
      let restored = try Self.known(table, on: db)?.data?.restored
      let copied = format.versionsAreTimes ? restored.map { RecordVersion($0) } : nil
      guard copied.map({ format.isOlder($0, than: ours) }) ?? true else { return nil }
      guard let bytes = theirs.bytes else { return policy == .resend ? .sentAgain : .setAside }
      guard let version = format.version(of: bytes), version != ours else { return nil }
      // It is there again, whatever the backend made of it; or a later one is.
      if let resent = format.resent(of: bytes) {
        let original = format.originalVersion(of: base, ours)
        if resent == original { return .sentAgain }
        if !format.isOlder(resent, than: original) { return nil }
      }
      guard copied != nil || format.isOlder(version, than: ours) else { return nil }
      let isAfterCopy = copied.map { format.isOlder($0, than: version) } ?? false
      return policy == .resend && !isAfterCopy ? .sentAgain : .setAside
    } ?? nil
  }

  /// Whether the backend has had other data, as far as is noted.
  private func hasRenewed(_ collection: String) throws(StoreError) -> Bool {
    try read(from: collection) { (db, table) throws(SQLiteError) in
      try Self.known(table, on: db)?.renewed ?? 0 > 0
    } ?? false
  }

  private static func known(
    _ table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> (data: BackendData?, renewed: Int64)? {
    let statement = try db.statement(
      "SELECT epoch, renewed, restored FROM collections WHERE number = \(bind: table.number)")
    guard try statement.step() else { return nil }
    let restored = statement.text(2)
    let data = statement.text(0).map { BackendData(epoch: $0, restored: restored) }
    return (data, statement.int64(1))
  }
}
