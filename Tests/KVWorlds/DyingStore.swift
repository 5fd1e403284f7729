import KVBase
import KVJSON
import KVQuery
import KVSync

/// A local store whose process dies at a given call, before or after its transaction: nothing answers
/// any more, until the file is opened again.
///
/// `@unchecked Sendable`: a simulated world runs on one thread.
final class DyingStore: LocalStore, @unchecked Sendable {
  private let real: any LocalStore
  /// Calls until the end; nil: it lives on.
  var callsLeft: Int?
  var diesAfterwards = false
  private(set) var isDead = false

  init(_ real: any LocalStore) { self.real = real }

  private func live<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    let dead = StoreError(.misuse, "The process is dead.")
    if isDead { throw dead }
    guard let left = callsLeft else { return try body() }
    callsLeft = left - 1
    guard left == 0 else { return try body() }
    isDead = true
    if diesAfterwards { _ = try body() }
    throw dead
  }

  /// The latest version that the file has of a record, of what a change of it started from, or of its deletion, whether or
  /// not the process lives.
  func version(
    of id: String, in collection: String, _ format: RecordFormat
  ) -> RecordVersion? {
    let here = try? real.backendVersions(of: [id], in: collection).first ?? nil
    let gone = try? real.tombstone(of: id, in: collection)?.version
    let base = try? real.pending(id, in: collection)?.base.flatMap { format.version(of: $0) }
    let versions = [here, gone, base].compactMap { $0 }
    return versions.dropFirst().reduce(versions.first) { newest, version in
      newest.map { format.versionOrder.newer($0, version) }
    }
  }

  /// What the file has that the backend has confirmed and nobody has changed since, whether or not the process lives.
  func confirmed(in collection: String) throws -> [[UInt8]] {
    let cursor = try real.find(Query(), in: collection, writtenSince: nil, within: .unlimited)
    var found: [[UInt8]] = []
    while let bytes = try cursor.next({ Array($0) }) {
      guard let id = try EntityScanner.outline(of: bytes).id else { continue }
      let write = try real.pending(id, in: collection)?.write
      if write.map({ $0.wasConfirmed && $0.operation != .delete }) ?? true { found.append(bytes) }
    }
    return found
  }

  func entity(
    _ id: String, in collection: String, writtenSince: Timestamp?
  ) throws(StoreError) -> [UInt8]? {
    try live { () throws(StoreError) in
      try real.entity(id, in: collection, writtenSince: writtenSince)
    }
  }

  func lend(
    _ ids: [String], in collection: String, writtenSince: Timestamp?, within budget: WorkBudget,
    to body: (UnsafeRawBufferPointer?) throws(StoreError) -> Void
  ) throws(StoreError) {
    try live { () throws(StoreError) in
      try real.lend(
        ids, in: collection, writtenSince: writtenSince, within: budget, to: body)
    }
  }

  func update(
    _ query: Query, _ update: EntityUpdate, isConditional: Bool, in collection: String,
    writtenSince: Timestamp?
  ) throws(StoreError) -> UpdateResult {
    try live { () throws(StoreError) in
      try real.update(
        query, update, isConditional: isConditional, in: collection, writtenSince: writtenSince)
    }
  }

  func noteEpoch(
    _ moment: BackendMoment, in collection: String, from mark: RefreshMark
  ) throws(StoreError) -> Bool {
    try live { () throws(StoreError) in try real.noteEpoch(moment, in: collection, from: mark) }
  }

  func note(_ data: BackendData, in collection: String) throws(StoreError) {
    try live { () throws(StoreError) in try real.note(data, in: collection) }
  }

  func fate(
    ofChange base: [UInt8], meeting theirs: RemoteVersion, in collection: String
  ) throws(StoreError) -> LostBaseFate? {
    try live { () throws(StoreError) in
      try real.fate(ofChange: base, meeting: theirs, in: collection)
    }
  }

  func noteDeletions(_ ids: [String], in collection: String) throws(StoreError) {
    try live { () throws(StoreError) in try real.noteDeletions(ids, in: collection) }
  }

  func keepLost(
    _ lost: [(id: String, theirs: RemoteVersion)], in collection: String, from mark: RefreshMark
  ) throws(StoreError) {
    try live { () throws(StoreError) in try real.keepLost(lost, in: collection, from: mark) }
  }

  func beginTransaction() throws(StoreError) -> any LocalTransaction {
    try live { () throws(StoreError) in try real.beginTransaction() }
  }

  func rows(
    of query: Query, in collection: String, writtenSince: Timestamp?, within budget: WorkBudget
  ) throws(StoreError) -> RecordRows {
    try live { () throws(StoreError) in
      try real.rows(of: query, in: collection, writtenSince: writtenSince, within: budget)
    }
  }

  func rows(of ids: [String], in collection: String) throws(StoreError) -> RecordRows {
    try live { () throws(StoreError) in try real.rows(of: ids, in: collection) }
  }

  func backendVersions(
    of ids: [String], in collection: String
  ) throws(StoreError) -> [RecordVersion?] {
    try live { () throws(StoreError) in try real.backendVersions(of: ids, in: collection) }
  }

  func follow(
    _ rows: RecordRows, of query: Query, in collection: String,
    _ signal: @escaping @Sendable () -> Void
  ) throws(StoreError) -> any FollowedRows {
    try live { () throws(StoreError) in
      try real.follow(rows, of: query, in: collection, signal)
    }
  }

  func read(
    _ rows: RecordRows, at range: Range<Int>, as form: RecordForm, in collection: String,
    maxBytes: Int
  ) throws(StoreError) -> FetchedBatch {
    try live { () throws(StoreError) in
      try real.read(rows, at: range, as: form, in: collection, maxBytes: maxBytes)
    }
  }

  func version(of id: String, in collection: String) throws(StoreError) -> Int64? {
    try live { () throws(StoreError) in try real.version(of: id, in: collection) }
  }

  func find(
    _ query: Query, in collection: String, writtenSince: Timestamp?, within budget: WorkBudget
  ) throws(StoreError) -> any EntityCursor {
    try live { () throws(StoreError) in
      try real.find(query, in: collection, writtenSince: writtenSince, within: budget)
    }
  }

  func observe(
    _ query: Query, in collection: String, _ signal: @escaping @Sendable () -> Void
  ) throws(StoreError) -> any Observation {
    try live { () throws(StoreError) in try real.observe(query, in: collection, signal) }
  }

  func count(
    _ query: Query, in collection: String, writtenSince: Timestamp?, within budget: WorkBudget
  ) throws(StoreError) -> Int {
    try live { () throws(StoreError) in
      try real.count(query, in: collection, writtenSince: writtenSince, within: budget)
    }
  }

  func save(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], known: KnownMembers?,
    if condition: WriteCondition, in collection: String
  ) throws(StoreError) -> [SavedEntity] {
    try live { () throws(StoreError) in
      try real.save(bytes, outlines, known: known, if: condition, in: collection)
    }
  }

  func remove(
    _ id: String, if condition: WriteCondition, in collection: String
  ) throws(StoreError) -> Int {
    try live { () throws(StoreError) in try real.remove(id, if: condition, in: collection) }
  }

  func remove(
    _ query: Query, in collection: String, writtenSince: Timestamp?
  ) throws(StoreError) -> Int {
    try live { () throws(StoreError) in
      try real.remove(query, in: collection, writtenSince: writtenSince)
    }
  }

  func confirm(
    _ query: Query, in collection: String, at moment: Timestamp
  ) throws(StoreError) {
    try live { () throws(StoreError) in try real.confirm(query, in: collection, at: moment) }
  }

  func beginRefresh(of collection: String) throws(StoreError) -> RefreshMark {
    try live { () throws(StoreError) in try real.beginRefresh(of: collection) }
  }

  func store(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], in collection: String,
    since mark: RefreshMark?
  ) throws(StoreError) -> ReplicaChange {
    try live { () throws(StoreError) in
      try real.store(bytes, outlines, in: collection, since: mark)
    }
  }

  func unseen(
    _ query: Query, from mark: RefreshMark, in collection: String, after order: Int64, limit: Int,
    within budget: WorkBudget
  ) throws(StoreError) -> [(order: Int64, id: String)] {
    try live { () throws(StoreError) in
      try real.unseen(
        query, from: mark, in: collection, after: order, limit: limit, within: budget)
    }
  }

  func differing(
    _ versions: [EntityVersion], in collection: String
  ) throws(StoreError) -> [String] {
    try live { () throws(StoreError) in try real.differing(versions, in: collection) }
  }

  func finishRefresh(
    of collection: String, from mark: RefreshMark, deletingUnseen query: Query?,
    recording request: (key: RequestKey, startedAt: BackendMoment)?
  ) throws(StoreError) -> Int {
    try live { () throws(StoreError) in
      try real.finishRefresh(
        of: collection, from: mark, deletingUnseen: query, recording: request)
    }
  }

  func reviseRequests(in collection: String, to moment: String) throws(StoreError) {
    try live { () throws(StoreError) in try real.reviseRequests(in: collection, to: moment) }
  }

  func forget(
    _ ids: [String], in collection: String, at version: RecordVersion?, since mark: RefreshMark?
  ) throws(StoreError) -> ReplicaChange {
    try live { () throws(StoreError) in
      try real.forget(ids, in: collection, at: version, since: mark)
    }
  }

  func release(
    _ ids: [String], in collection: String, at version: RecordVersion?,
    if isUnwanted: ([UInt8]) -> Bool
  ) throws(StoreError) -> Int {
    try live { () throws(StoreError) in
      try real.release(ids, in: collection, at: version, if: isUnwanted)
    }
  }

  func tombstone(of id: String, in collection: String) throws(StoreError) -> Tombstone? {
    try live { () throws(StoreError) in try real.tombstone(of: id, in: collection) }
  }

  func awaitedLateWrites(in collection: String, limit: Int) throws(StoreError) -> [String] {
    try live { () throws(StoreError) in
      try real.awaitedLateWrites(in: collection, limit: limit)
    }
  }

  func expectsLateWrites(in collection: String) throws(StoreError) -> Bool {
    try live { () throws(StoreError) in try real.expectsLateWrites(in: collection) }
  }

  func removeArrived(
    _ entity: [UInt8], _ id: String, in collection: String
  ) throws(StoreError) -> Bool {
    try live { () throws(StoreError) in try real.removeArrived(entity, id, in: collection) }
  }

  func lastRequest(
    _ key: RequestKey, in collection: String
  ) throws(StoreError) -> BackendMoment? {
    try live { () throws(StoreError) in try real.lastRequest(key, in: collection) }
  }

  func requests(in collection: String) throws(StoreError) -> [RequestKey] {
    try live { () throws(StoreError) in try real.requests(in: collection) }
  }

  func forgetRequest(_ key: RequestKey?, in collection: String) throws(StoreError) {
    try live { () throws(StoreError) in try real.forgetRequest(key, in: collection) }
  }

  func beginUnqueued(
    _ versions: [(id: String, sent: RemoteVersion)], in collection: String
  ) throws(StoreError) -> Int64 {
    try live { () throws(StoreError) in try real.beginUnqueued(versions, in: collection) }
  }

  func beginRemoval(of query: Query, in collection: String) throws(StoreError) -> Int64 {
    try live { () throws(StoreError) in try real.beginRemoval(of: query, in: collection) }
  }

  func endUnqueued(_ request: Int64, _ outcome: UnqueuedOutcome) throws(StoreError) {
    try live { () throws(StoreError) in try real.endUnqueued(request, outcome) }
  }

  func pending(
    in collection: String, after order: Int64, limit: Int, onlyWaiting: Bool
  ) throws(StoreError) -> [PendingWrite] {
    try live { () throws(StoreError) in
      try real.pending(in: collection, after: order, limit: limit, onlyWaiting: onlyWaiting)
    }
  }

  func waiting(after order: Int64, limit: Int) throws(StoreError) -> [PendingWrite] {
    try live { () throws(StoreError) in try real.waiting(after: order, limit: limit) }
  }

  func waitingCount(in collection: String?) throws(StoreError) -> Int {
    try live { () throws(StoreError) in try real.waitingCount(in: collection) }
  }

  func quarantine(_ refused: [QuarantinedWrite]) throws(StoreError) {
    try live { () throws(StoreError) in try real.quarantine(refused) }
  }

  func acceptRemote(_ settled: [(write: PendingWrite, theirs: RemoteVersion)]) throws(StoreError) {
    try live { () throws(StoreError) in try real.acceptRemote(settled) }
  }

  func rebase(
    _ write: PendingWrite, onto theirs: RemoteVersion, as change: RebasedChange,
    replacesUnseen: Bool
  ) throws(StoreError) -> Bool {
    try live { () throws(StoreError) in
      try real.rebase(write, onto: theirs, as: change, replacesUnseen: replacesUnseen)
    }
  }

  func releasePending(_ id: String, in collection: String) throws(StoreError) -> Bool {
    try live { () throws(StoreError) in try real.releasePending(id, in: collection) }
  }

  func releaseQuarantined(in collection: String) throws(StoreError) {
    try live { () throws(StoreError) in try real.releaseQuarantined(in: collection) }
  }

  func revertPending(_ id: String, in collection: String) throws(StoreError) -> Bool {
    try live { () throws(StoreError) in try real.revertPending(id, in: collection) }
  }

  func pending(_ id: String, in collection: String) throws(StoreError) -> PendingDetail? {
    try live { () throws(StoreError) in try real.pending(id, in: collection) }
  }

  func pendingCount(in collection: String?) throws(StoreError) -> Int {
    try live { () throws(StoreError) in try real.pendingCount(in: collection) }
  }

  func beginSending(
    _ writes: [PendingWrite], asOperators: Bool
  ) throws(StoreError) -> [OutgoingWrite] {
    try live { () throws(StoreError) in try real.beginSending(writes, asOperators: asOperators) }
  }

  func reopenOperators(_ write: PendingWrite, token: String) throws(StoreError) {
    try live { () throws(StoreError) in try real.reopenOperators(write, token: token) }
  }

  func finishOperators(_ write: PendingWrite, token: String) throws(StoreError) -> Bool {
    try live { () throws(StoreError) in try real.finishOperators(write, token: token) }
  }

  func turnIntoWhole(_ id: String, in collection: String) throws(StoreError) {
    try live { () throws(StoreError) in try real.turnIntoWhole(id, in: collection) }
  }

  func confirm(_ done: [AcceptedWrite]) throws(StoreError) {
    try live { () throws(StoreError) in try real.confirm(done) }
  }

  func recordFailure(_ failed: [(write: PendingWrite, error: StoreError)]) throws(StoreError) {
    try live { () throws(StoreError) in try real.recordFailure(failed) }
  }

  func turnIntoUpdate(_ id: String, in collection: String) throws(StoreError) {
    try live { () throws(StoreError) in try real.turnIntoUpdate(id, in: collection) }
  }

  func editPending(
    _ bytes: UnsafeRawBufferPointer, _ outline: EntityOutline, id: String,
    known: KnownMembers?, in collection: String
  ) throws(StoreError) -> Bool {
    try live { () throws(StoreError) in
      try real.editPending(bytes, outline, id: id, known: known, in: collection)
    }
  }

  func dropPending(_ id: String, in collection: String) throws(StoreError) -> Bool {
    try live { () throws(StoreError) in try real.dropPending(id, in: collection) }
  }

  func purge(_ query: Query?, in collection: String) throws(StoreError) -> Int {
    try live { () throws(StoreError) in try real.purge(query, in: collection) }
  }

  func clear(_ query: Query?, in collection: String) throws(StoreError) -> Int {
    try live { () throws(StoreError) in try real.clear(query, in: collection) }
  }

  func wipe() throws(StoreError) { try live { () throws(StoreError) in try real.wipe() } }
}
