internal import KVBase
internal import KVJSON
internal import KVSQLite
internal import KVSync

/// Keeps what the backend has confirmed and has no more, inside one transaction: a row of the queue guards it from what a
/// read brings.
///
///     policy    state                    sent
///     keep      3, set aside             once the application says so
///     resend    0, waiting               by the next push
///
/// What another user made and the backend lacks is set aside under both: sent by this user it would become this one's. In both
/// cases on the condition that the backend has what the read has shown. Of what was written after the copy was put
/// back nothing is replaced without the application: what meets it is set aside under both policies.
///
/// Of several devices that have kept different versions the latest wins: what is sent again names its version, and the backend
/// stores it with that (`RecordFormat.resent`). A later one replaces it, an earlier one gives way.
struct LostVersions {
  private let change: Storage.Change
  private let policy: BackendResetPolicy
  private let mark: RefreshMark
  /// What the collection knows of the backend's data.
  private let known: Known
  /// Whether rows may be here that were written before the read.
  private let mayHaveOlder: Bool
  private let mayHaveDeleted: Bool
  private let mayHaveKept: Bool
  private(set) var found: [LostVersion] = []

  private struct Known {
    /// Rows of an older generation are of other data; 0: none is.
    var renewed: Int64 = 0
    var purged: Int64 = 0
    /// See `BackendMoment.restored`.
    var restored: RecordVersion?
  }

  /// Nil: nothing can be kept, because the application does not want it, nothing is here, it is not known when the read began,
  /// or the backend's versions have no order in which it could go back.
  init?(
    _ change: Storage.Change, _ policy: BackendResetPolicy, since mark: RefreshMark?,
    on db: borrowing Connection
  ) throws(SQLiteError) {
    let format = change.table.format
    guard policy != .accept, let mark, format.versionOrder != .unordered,
      !format.versionsOnlyRise
    else { return nil }
    self.change = change
    self.policy = policy
    self.mark = mark
    var known = Known()
    let collection = try db.statement(
      "SELECT renewed, purged, restored FROM collections WHERE number = \(bind: change.table.number)"
    )
    if try collection.step() {
      (known.renewed, known.purged) = (collection.int64(0), collection.int64(1))
      if format.versionsAreTimes { known.restored = collection.text(2).map { RecordVersion($0) } }
    }
    collection.reset()
    self.known = known
    mayHaveOlder = try Storage.mayHaveOlder(change.table, mark, on: db)
    let isCopy = known.renewed > 0 && known.restored != nil
    mayHaveDeleted =
      if isCopy { true } else {
        try Self.hasRow("gone", "confirmed NOT NULL", of: change.table, on: db)
      }
    mayHaveKept = try Self.hasRow("pending", "state = 3", of: change.table, on: db)
    guard mayHaveOlder || mayHaveDeleted || mayHaveKept else { return nil }
  }

  /// Keeps what is known of an entity if the backend has lost it, as a record shows; false: the record may be stored.
  mutating func keep(
    _ outline: EntityOutline, _ id: String, in bytes: UnsafeRawBufferPointer,
    on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    let body = UnsafeRawBufferPointer(rebasing: bytes[outline.range])
    let theirs = outline.version(in: bytes)
    if mayHaveKept { try release(id, ifSettledBy: body, theirs, on: db) }
    guard let theirs else { return false }
    if mayHaveOlder, let isLost = try keepOlder(id, than: body, theirs, on: db) { return isLost }
    guard mayHaveDeleted, let deleted = try confirmedDeletion(of: id, on: db) else { return false }
    let remote = try Self.copy(body)
    let shown = change.table.format.originalVersion(of: remote, theirs)
    guard !change.table.format.isOlder(deleted, than: shown) else { return false }
    return try keep(
      LostVersion(id: id, isDeletion: true, version: deleted, remoteVersion: theirs),
      .entity(remote), asks: isAfterCopy(theirs) == true && shown == theirs, on: db)
  }

  /// Nil: the entity is not here, or a write of it is pending.
  private mutating func keepOlder(
    _ id: String, than body: UnsafeRawBufferPointer, _ theirs: RecordVersion,
    on db: borrowing Connection
  ) throws(SQLiteError) -> Bool? {
    let format = change.table.format
    let row = try db.statement(change.table.confirmedBefore)
    try bindConfirmed(id, row)
    defer { row.reset() }
    guard try row.step() else { return nil }
    // Nothing is copied of what has not changed, or is newer, as nearly everything is.
    let stored = row.bytes(0)
    if stored.count == body.count, stored.elementsEqual(body) { return false }
    guard let outline = try? EntityScanner.outline(of: stored, format),
      let version = outline.version(in: stored)
    else { return false }
    let isOfOtherData = row.int64(1) < known.renewed
    guard format.isOlder(theirs, than: version) || isOfOtherData && isAfterCopy(version) == true
    else { return false }
    let ours = Confirmed(body: try row.copy(0), version: version, isOfOtherData: isOfOtherData)
    row.reset()
    return try keep(id, ours, meeting: .entity(try Self.copy(body)), on: db)
  }

  /// Keeps what is known of an entity if the backend has lost it, as an answer about this entity shows; false: that may be stored.
  mutating func keep(
    _ id: String, meeting theirs: RemoteVersion, on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    guard let bytes = theirs.bytes,
      let outline = try? EntityScanner.outline(of: bytes, change.table.format)
    else { return try keepLost(id, theirs, on: db) }
    return try bytes.withBorrowedBytes { (bytes) throws(SQLiteError) in
      try keep(outline, id, in: bytes, on: db)
    }
  }

  /// Keeps an entity that was confirmed when the backend had other data, if the backend has lost it.
  mutating func keepLost(
    _ id: String, _ theirs: RemoteVersion, on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    let row = try db.statement(change.table.confirmedBefore)
    try bindConfirmed(id, row)
    defer { row.reset() }
    guard try row.step(), row.int64(1) < known.renewed else { return false }
    let body = try row.copy(0)
    row.reset()
    guard let version = change.table.format.version(of: body) else { return false }
    return try keep(
      id, Confirmed(body: body, version: version, isOfOtherData: true), meeting: theirs, on: db)
  }

  /// What is known of an entity that the backend has confirmed.
  private struct Confirmed {
    let body: [UInt8]
    let version: RecordVersion
    /// Whether the backend has had other data since.
    let isOfOtherData: Bool
  }

  /// Whether a version was made after the copy that was put back; nil: it is not known when that was.
  private func isAfterCopy(_ version: RecordVersion) -> Bool? {
    known.restored.map { change.table.format.isOlder($0, than: version) }
  }

  /// Keeps a version if the backend has lost it:
  ///
  /// - it has an older one, or an older one that was sent again;
  /// - it has none, and did not delete it before the copy was made that was put back;
  /// - it has a newer one of other content, which was made of an older one, since the copy had not this version.
  private mutating func keep(
    _ id: String, _ ours: Confirmed, meeting theirs: RemoteVersion, on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    let format = change.table.format
    let remote = theirs.bytes.flatMap { format.version(of: $0) }
    guard remote != ours.version else { return false }
    let original = format.originalVersion(of: ours.body, ours.version)
    let lost = LostVersion(id: id, version: original, remoteVersion: remote)
    guard let bytes = theirs.bytes, let remote else {
      guard ours.isOfOtherData, isAfterCopy(ours.version) != false else { return false }
      return try keep(lost, theirs, asks: try isOfOthers(ours.body, on: db), on: db)
    }
    let isOfLostTime = ours.isOfOtherData && isAfterCopy(ours.version) == true
    if isOfLostTime, let resent = format.resent(of: bytes) {
      guard format.isOlder(resent, than: original) else { return false }
      return try keep(lost, theirs, asks: false, on: db)
    }
    let isOlder = format.isOlder(remote, than: ours.version)
    guard isOlder || isOfLostTime, !haveSameContent(bytes, ours.body, in: format) else {
      return false
    }
    // A clock that was wrong may have given a later write an earlier time.
    let isNewer = !isOlder || ours.isOfOtherData && isAfterCopy(remote) == true
    return try keep(lost, theirs, asks: isNewer, on: db)
  }

  // MARK: Steps

  /// `asks`: it waits for the application, whatever the policy, because the backend's was made after the copy was put back, or because
  /// it is another user's.
  private mutating func keep(
    _ lost: LostVersion, _ theirs: RemoteVersion, asks: Bool, on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    var lost = lost
    lost.isQueued = policy == .resend && !asks
    let isSetAside = !lost.isQueued
    let theirs = theirs.bytes.map { String(decoding: $0, as: UTF8.self) }
    let remote = isSetAside ? theirs ?? "null" : nil
    let operation: PendingWrite.Operation = lost.isDeletion ? .delete : .update
    let state: PendingWrite.State = isSetAside ? .backendWentBack : .waiting
    try db.run(
      """
      INSERT INTO pending (collection, id, operation, revision, created, changed, conditional, confirmed, state,
        remote, error, base, base_checksum)
      VALUES (\(bind: change.table.number), \(bind: lost.id), \(bind: operation.number),
        \(bind: Identifier.revision()), \(bind: change.now), \(bind: change.now), 1, \(bind: lost.version.text),
        \(bind: state.number), \(bind: remote), \(bind: StoreError.wentBack(lost).json),
        \(bind: theirs), kv_checksum(\(bind: theirs)))
      ON CONFLICT DO NOTHING
      """)
    guard db.changes > 0 else { return false }
    found.append(lost)
    return true
  }

  /// Lets go of an entity that was kept if the backend has the same again, a later version that was sent again, or what
  /// others have made of it since, without having had other data meanwhile. The same content that was sent again as an earlier
  /// version does not settle it: the versions in between would come before this one.
  private func release(
    _ id: String, ifSettledBy body: UnsafeRawBufferPointer, _ theirs: RecordVersion?,
    on db: borrowing Connection
  ) throws(SQLiteError) {
    let table = change.table
    let format = table.format
    let kept = try db.statement(
      """
      SELECT e.body, e.gen FROM pending AS p JOIN \(sql: table.entities) AS e ON e.id = p.id
      WHERE p.collection = \(bind: table.number) AND p.id = \(bind: id) AND p.state = 3 AND p.operation <> 3
      """)
    guard try kept.step() else { return }
    let (ours, isOfOtherData) = (try kept.copy(0), kept.int64(1) < known.renewed)
    kept.reset()
    let bytes = try Self.copy(body)
    guard let theirs, let version = format.version(of: ours) else { return }
    let isSettled =
      if let resent = format.resent(of: bytes) {
        !format.isOlder(resent, than: format.originalVersion(of: ours, version))
      } else {
        theirs == version || format.isOlder(version, than: theirs) && !isOfOtherData
          || haveSameContent(bytes, ours, in: format)
      }
    guard isSettled else { return }
    try db.run("DELETE FROM pending WHERE \(table.isEntity(id)) AND state = 3")
  }

  private func isOfOthers(
    _ body: [UInt8], on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    guard case .user(let owner) = try Ownership.owner(on: db) else { return false }
    return isMade(body, byOtherThan: owner.text, in: change.table.format)
  }

  private func bindConfirmed(_ id: String, _ row: borrowing Statement) throws(SQLiteError) {
    try row.bind(id, at: .id)
    try row.bind(known.purged, at: .generation)
    try row.bind(mark.generation, at: .mark)
  }

  /// The version that a deletion of this device is known to have removed before the read began, or a deletion of others, which
  /// the backend is known to have lost.
  private func confirmedDeletion(
    of id: String, on db: borrowing Connection
  ) throws(SQLiteError) -> RecordVersion? {
    let row = try db.statement(change.table.confirmedDeletion)
    try row.bind(id, at: .id)
    try row.bind(mark.tombstone, at: .mark)
    defer { row.reset() }
    guard try row.step() else { return nil }
    let ours = row.text(0).map { RecordVersion($0) }
    guard known.renewed > 0, let others = row.text(1).map({ RecordVersion($0) }),
      isAfterCopy(others) == true
    else { return ours }
    return ours.map { change.table.format.versionOrder.newer($0, others) } ?? others
  }

  private static func hasRow(
    _ name: String, _ condition: String, of table: Table, on db: borrowing Connection
  ) throws(SQLiteError) -> Bool {
    try db.statement(
      """
      SELECT 1 FROM \(sql: name) WHERE collection = \(bind: table.number) AND \(sql: condition) LIMIT 1
      """
    ).step()
  }

  private static func copy(_ bytes: UnsafeRawBufferPointer) throws(SQLiteError) -> [UInt8] {
    try [UInt8](bytes, or: SQLiteError.noMemory)
  }
}

extension StoreError {
  /// Why a version that was confirmed is set aside.
  fileprivate static func wentBack(_ lost: LostVersion) -> StoreError {
    var error = StoreError(
      .conflict,
      lost.isDeletion
        ? "The backend went back: it has the entity again whose deletion it had confirmed."
        : lost.remoteVersion == nil
          ? "The backend went back: it no longer has the entity that it had confirmed."
          : "The backend went back: it no longer has the version that it had confirmed.")
    error.id = lost.id
    return error
  }
}
