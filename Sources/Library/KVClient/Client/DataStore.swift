package import KVBase
internal import KVJSON
package import KVQuery
package import KVSync

/// A collection as the application sees it: an engine, with the options of the client and the store.
///
/// Each operation takes the options of the call, its cancellation, and its progress. Safe from any
/// thread.
package final class DataStore: Sendable {
  /// One call: its own options (nil: none), who may stop it, who watches it.
  package struct Run: Sendable {
    package var options: Options?
    package var cancellation: Cancellation
    package var progress: Progress

    package init(
      _ options: Options? = nil, cancellation: Cancellation = Cancellation(),
      progress: Progress = Progress()
    ) {
      self.options = options
      self.cancellation = cancellation
      self.progress = progress
    }
  }

  package let engine: CollectionEngine
  /// Whether a call without options of its own finds by id in the local store and nowhere else, so that
  /// `lend` may replace it.
  package let lendsLocally: Bool
  private let defaults: Options
  /// What the application calls the backend's members.
  let names: KeyMap
  let context: StoreContext
  /// Updates that were parsed lately, by their texts: programs make the same update of one entity after the other.
  let recentUpdates = Monitor(RecentCache<RecordID, EntityUpdate>(capacity: 16))

  /// What a store needs of its client.
  struct StoreContext: Sendable {
    var log: Log
    var operations: Operations
    var events: SyncEvents
    /// Live data, or why there is none.
    var live: Result<LiveData, StoreError>
    var follows: Follows
    var synced: SyncedCollections
    /// The lists of results that end with a logout.
    var openResults: OpenResults
    /// Registers the active user for live data; false: the application wants none.
    var registerLive: @Sendable (Cancellation) throws(StoreError) -> Bool
    /// Something was written.
    var didSave: @Sendable () -> Void
    /// The application has no use for the store any more.
    var didClose: @Sendable () -> Void
    /// A push is done with a write: it was processed or has failed, or, nil, was given up for what the backend has.
    var didSend: @Sendable (BackgroundEvent?) -> Void
    /// The backend refused the session.
    var didRefuse: @Sendable (StoreError) -> Void
    /// The default strategy for conflicts.
    var conflicts: ConflictStrategy
    /// What the records of all collections are like.
    var layout: RecordLayout
  }

  init(
    _ engine: CollectionEngine, _ defaults: Options, names: KeyMap, context: StoreContext
  ) {
    self.engine = engine
    self.defaults = defaults
    self.names = names
    self.context = context
    let readPolicy = defaults.readPolicy ?? engine.type.readPolicy
    lendsLocally = engine.type.isLocal && readPolicy == .forceLocal && defaults.ttl == nil
  }

  deinit { context.didClose() }

  /// A query of the application's in the backend's names, as the engine takes it.
  func named(_ query: Query) -> Query { query.renamed(by: names) }

  func named(_ condition: WriteCondition) -> WriteCondition {
    if case .matches(let query) = condition { .matches(named(query)) } else { condition }
  }

  /// Whether a read with these options of its own never asks the backend.
  package func readsLocally(_ options: Options?) -> Bool {
    (options?.readPolicy ?? defaults.readPolicy ?? engine.type.readPolicy) == .forceLocal
  }

  /// Whether a write with these options of its own never asks the backend.
  package func writesLocally(_ options: Options?) -> Bool {
    (options?.writePolicy ?? defaults.writePolicy ?? engine.type.writePolicy) == .forceLocal
  }

  /// The members that the application's entities have; nil: all.
  var knownMembers: KnownMembers? { defaults.knownMembers }

  func merged(_ run: Run) -> Options { run.options?.over(defaults) ?? defaults }

  /// Whom an operation may ask: the backend as its options say, or always.
  enum Access { case read, write, sync }

  /// Runs an operation with the options of the call, of the store and of the client. What stays local cannot be
  /// cancelled, and has no further cost.
  func perform<R>(
    _ operation: StaticString, as access: Access, _ run: Run,
    body: (CallOptions) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let options = merged(run)
    // Also after a failure: what could not be sent is queued.
    defer { if access == .write { context.didSave() } }
    return try context.log.measuring(operation, of: engine.collection) { () throws(StoreError) in
      if staysLocal(access, run.options) {
        return try body(resolved(options, run, cancellation: run.cancellation))
      }
      do throws(StoreError) {
        return try context.operations.run(run.cancellation) {
          (cancellation) throws(StoreError) in
          try body(resolvedForBackend(options, run, cancellation: cancellation))
        }
      } catch {
        if error.kind == .unauthorized { context.didRefuse(error) }
        throw error
      }
    }
  }

  private func staysLocal(_ access: Access, _ options: Options?) -> Bool {
    switch access {
    case .read: readsLocally(options)
    case .write: writesLocally(options)
    case .sync: false
    }
  }

  private func resolved(
    _ options: Options, _ run: Run, cancellation: Cancellation
  ) -> CallOptions {
    CallOptions(
      readPolicy: options.readPolicy ?? engine.type.readPolicy,
      writePolicy: options.writePolicy ?? engine.type.writePolicy,
      call: options.call(cancellation, run.progress), ttl: options.ttl,
      refreshing: options.refreshing)
  }

  /// The same for what may send or receive.
  private func resolvedForBackend(
    _ options: Options, _ run: Run, cancellation: Cancellation
  ) -> CallOptions {
    var options = options
    // Who sets a handler wants it to be asked.
    options.conflicts =
      options.conflicts ?? (engine.hasConflictHandler ? .handler : context.conflicts)
    var resolved = resolved(options, run, cancellation: cancellation)
    resolved.call.quarantined = { [events = context.events, didSend = context.didSend] in
      events.publish(.quarantined(collection: $0.collection, id: $0.id, $1))
      didSend(.failed($0, $1))
    }
    resolved.call.accepted = { [didSend = context.didSend] in
      didSend(.processed($0, stored: $1))
    }
    resolved.call.overwritten = { [events = context.events, collection = engine.collection] in
      events.publish(.overwritten(collection: collection, id: $0, theirs: $1))
    }
    resolved.call.discarded = { [events = context.events] write, ours, theirs in
      events.publish(
        .discarded(collection: write.collection, id: write.id, ours: ours, theirs: theirs))
    }
    resolved.call.replaced = { [events = context.events, didSend = context.didSend] write, ours in
      if write.isConditional {
        events.publish(.conditionFailed(collection: write.collection, id: write.id, ours: ours))
      }
      didSend(nil)
    }
    return resolved
  }

  /// The call of another store that sends writes of this one as well, with what is decided here.
  func call(alongside other: Call) -> Call {
    let run = Run(nil, cancellation: other.cancellation, progress: other.progress)
    var call = resolvedForBackend(defaults, run, cancellation: other.cancellation).call
    (call.deadline, call.retry) = (other.deadline, other.retry)
    return call
  }

  // MARK: Conflicts

  /// Whether it was said what happens to conflicts.
  var decidesConflicts: Bool { defaults.conflicts != nil || engine.hasConflictHandler }

  /// Throws `.unsupported` for a store that meets none.
  package func checkConflicts() throws(StoreError) {
    guard engine.type.isLocal else {
      throw StoreError(.unsupported, "A network store has no queue and therefore no conflicts.")
    }
  }

  /// Sets the function that is asked about conflicts; nil removes it.
  package func setConflictHandler(_ handler: ConflictHandler?) {
    engine.setConflictHandler(handler)
  }

  /// Runs something of the application's in the middle of a call, on the call's own thread: it may end the
  /// session or close the client, which must not wait for this call then.
  package func suspended<R>(_ call: Call, _ body: () throws(StoreError) -> R) throws(StoreError)
    -> R
  {
    try context.operations.suspended(call.cancellation, body)
  }

  // MARK: Reading

  package func find(
    _ query: Query, _ run: Run, early: (any EntityCursor) -> Void = { $0.close() }
  ) throws(StoreError) -> Answered<any EntityCursor> {
    try perform("find", as: .read, run) { (options) throws(StoreError) in
      try engine.find(named(query), options, early: early)
    }
  }

  package func find(
    id: String, _ run: Run, early: ([UInt8]) -> Void = { _ in }
  ) throws(StoreError) -> Answered<[UInt8]> {
    try perform("find by id", as: .read, run) { (options) throws(StoreError) in
      try engine.find(id: id, options, early: early)
    }
  }

  /// The entities of some ids as a JSON array in their order, with null where there is none.
  package func find(
    ids: [String], _ run: Run, early: ([UInt8]) -> Void = { _ in }
  ) throws(StoreError) -> Answered<[UInt8]> {
    try perform("find by ids", as: .read, run) { (options) throws(StoreError) in
      try engine.find(ids: ids, options, early: early)
    }
  }

  /// Lends an entity of the local store to `body` until it returns. `.notFound` if it is not there.
  package func lend(
    id: String, to body: (UnsafeRawBufferPointer) -> Void
  ) throws(StoreError) {
    try context.log.measuring("find by id", of: engine.collection) { () throws(StoreError) in
      try engine.lend(id: id, to: body)
    }
  }

  package func count(
    _ query: Query, _ run: Run, early: (Int) -> Void = { _ in }
  ) throws(StoreError) -> Answered<Int> {
    try perform("count", as: .read, run) { (options) throws(StoreError) in
      try engine.count(named(query), options, early: early)
    }
  }

  // MARK: Writing

  /// `entity`: UTF-8 JSON, an object.
  package func save(
    _ entity: UnsafeRawBufferPointer, if condition: WriteCondition = .none, _ run: Run,
    early: ([UInt8]) -> Void = { _ in }
  ) throws(StoreError) -> Answered<[UInt8]> {
    let outline = try outline(of: entity)
    return try perform("save", as: .write, run) { (options) throws(StoreError) in
      try engine.save(entity, outline, if: named(condition), options: options, early: early)
    }
  }

  /// `entities`: UTF-8 JSON, an array of objects.
  package func saveMany(
    _ entities: UnsafeRawBufferPointer, if condition: WriteCondition = .none, _ run: Run,
    early: (SaveManyResult) -> Void = { _ in }
  ) throws(StoreError) -> Answered<SaveManyResult> {
    let outlines: [EntityOutline]
    do throws(JSONError) {
      outlines = try EntityScanner.outlines(ofArray: entities, engine.format, isInput: true)
    } catch {
      throw StoreError(error)
    }
    try engine.checkCanBeSent(outlines)
    return try perform("save many", as: .write, run) { (options) throws(StoreError) in
      try engine.saveMany(entities, outlines, if: named(condition), options: options, early: early)
    }
  }

  package func remove(
    id: String, if condition: WriteCondition = .none, _ run: Run,
    early: (Int) -> Void = { _ in }
  ) throws(StoreError) -> Answered<Int> {
    let condition = named(try condition.ofDeletion())
    return try perform("remove by id", as: .write, run) { (options) throws(StoreError) in
      try engine.remove(id: id, if: condition, options: options, early: early)
    }
  }

  package func remove(
    _ query: Query, _ run: Run, early: (Int) -> Void = { _ in }
  ) throws(StoreError) -> Answered<Int> {
    try perform("remove", as: .write, run) { (options) throws(StoreError) in
      try engine.remove(named(query), options, early: early)
    }
  }

  // MARK: Synchronising

  package func pull(_ query: Query, _ run: Run) throws(StoreError) -> PullResult {
    try pull(run, isAutomatic: false) { (options) throws(StoreError) in
      try engine.pull(named(query), options.call, how: options.refreshing)
    }
  }

  /// Brings what matches up to date, as a pull does, beside writes that wait.
  func catchUp(_ query: Query, _ run: Run) throws(StoreError) -> PullResult {
    try pull(run, isAutomatic: true) { (options) throws(StoreError) in
      try engine.catchUp(named(query), options.call, how: options.refreshing)
    }
  }

  private func pull(
    _ run: Run, isAutomatic: Bool, _ body: (CallOptions) throws(StoreError) -> PullResult
  ) throws(StoreError) -> PullResult {
    try pull(run, isAutomatic: isAutomatic, result: { $0 }, body)
  }

  /// Runs something that is told as a pull.
  func pull<R>(
    _ run: Run, isAutomatic: Bool, result: (R) -> PullResult,
    _ body: (CallOptions) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let outcome = try publishing(
      "pull", run: run, isAutomatic: isAutomatic, result: { result($0).jsonObject }, body: body)
    logCounts("pull", "\(result(outcome).pulled) pulled, \(result(outcome).removed) removed")
    return outcome
  }

  /// `isAutomatic`: it was started by the option `pushAutomatically`.
  package func push(_ run: Run, isAutomatic: Bool = false) throws(StoreError) -> PushResult {
    let result = try publishing(
      "push", run: run, isAutomatic: isAutomatic, result: { $0.jsonObject }
    ) {
      (options) throws(StoreError) in try engine.push(options.call)
    }
    logCounts(
      "push",
      "\(result.pushed) pushed, \(result.errors.count) refused, \(result.quarantined) quarantined")
    return result
  }

  package func sync(_ query: Query, _ run: Run) throws(StoreError) -> SyncResult {
    let result = try publishing("sync", run: run, result: { $0.jsonObject }) {
      (options) throws(StoreError) in
      try engine.sync(named(query), options.call, how: options.refreshing)
    }
    let (push, pull) = (result.push, result.pull ?? PullResult())
    logCounts(
      "sync",
      "\(push.pushed) pushed, \(push.errors.count) refused, \(pull.pulled) pulled, "
        + "\(pull.removed) removed")
    return result
  }

  /// Runs a push, pull or sync, and tells the listeners.
  private func publishing<R>(
    _ operation: StaticString, run: Run, isAutomatic: Bool = false,
    result: (R) -> JSONObject, body: (CallOptions) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try context.events.publishing(
      operation, of: engine.collection, isAutomatic: isAutomatic, progress: run.progress,
      result: result
    ) { () throws(StoreError) in try perform(operation, as: .sync, run, body: body) }
  }

  private func logCounts(_ operation: StaticString, _ counts: @autoclosure () -> String) {
    context.log.write(.info, "\(operation) \(engine.collection): \(counts())")
  }

  // MARK: The queue

  package func pendingCount() throws(StoreError) -> Int { try engine.pendingCount() }

  /// A JSON array, oldest first: see kv_store_pending.
  package func pending(after id: String?, limit: Int) throws(StoreError) -> [UInt8] {
    let writes = try engine.pending(after: id, limit: limit)
    return JSONValue.array(writes.map { .object($0.jsonObject) }).bytes
  }

  /// A JSON object with `entity`, `base` and perhaps `remote`: see kv_store_pending_get.
  package func pending(_ id: String) throws(StoreError) -> [UInt8] {
    let found = try engine.pending(id)
    var json = JSONObjectWriter()
    for member in found.write.jsonObject.members { json.add(member.name, member.value) }
    json.add("entity", json: found.entity ?? Array("null".utf8))
    json.add("base", json: found.base ?? Array("null".utf8))
    if let theirs = found.theirs { json.add("remote", json: theirs.bytes ?? Array("null".utf8)) }
    return json.bytes
  }

  package func retryPending(_ id: String, _ run: Run) throws(StoreError) {
    try perform("retry", as: .sync, run) { (options) throws(StoreError) in
      try engine.retryPending(id, options.call)
    }
  }

  package func editPending(_ id: String, _ entity: UnsafeRawBufferPointer) throws(StoreError) {
    defer { context.didSave() }
    try engine.editPending(
      id, entity, outline: try outline(of: entity), known: knownMembers)
  }

  package func revertPending(_ id: String) throws(StoreError) {
    try engine.revertPending(id)
    didForget()
  }

  package func dropPending(_ id: String) throws(StoreError) {
    try engine.dropPending(id)
    didForget()
  }

  package func purge(_ query: Query?) throws(StoreError) -> Int {
    defer { didForget() }
    return try engine.purge(query.map(named))
  }

  package func clear(_ query: Query?) throws(StoreError) -> Int {
    defer { didForget() }
    return try engine.clear(query.map(named))
  }

  /// What is here may not be any more what the backend has, without having changed since it was read.
  private func didForget() {
    engine.sweepUnkeptAgain()
    context.follows.receive(.missed, for: engine)
    if let index = context.synced.index(of: engine.collection) {
      context.synced.running?.receive(.missed(index))
    }
  }

  // MARK: Shared

  func outline(of entity: UnsafeRawBufferPointer) throws(StoreError) -> EntityOutline {
    let outline: EntityOutline
    do throws(JSONError) {
      outline = try EntityScanner.outline(of: entity, engine.format, isInput: true)
    } catch {
      throw StoreError(error)
    }
    try engine.checkCanBeSent([outline])
    return outline
  }
}
