package import KVBase
internal import KVJSON
package import KVQuery
package import KVSync

/// A collection as the application sees it: an engine, with the options of the client and the store.
///
/// Each operation takes the options of the call, whoever may stop it, and who watches it. Safe from any
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
  /// `lend` may take its place.
  package let lendsLocally: Bool
  private let defaults: Options
  private let log: Log

  init(_ engine: CollectionEngine, _ defaults: Options, _ log: Log) {
    self.engine = engine
    self.defaults = defaults
    self.log = log
    let readPolicy = defaults.readPolicy ?? engine.type.readPolicy
    lendsLocally = engine.type.isLocal && readPolicy == .forceLocal && defaults.ttl == nil
  }

  private func merged(_ run: Run) -> Options { run.options?.over(defaults) ?? defaults }

  private func call(_ run: Run) -> Call { merged(run).call(run.cancellation, run.progress) }

  private func resolved(_ run: Run) -> CallOptions {
    let options = merged(run)
    return CallOptions(
      readPolicy: options.readPolicy ?? engine.type.readPolicy,
      writePolicy: options.writePolicy ?? engine.type.writePolicy,
      call: options.call(run.cancellation, run.progress), ttl: options.ttl)
  }

  private func telling<R>(
    _ operation: String, _ body: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try log.telling(operation, of: engine.collection, body)
  }

  // MARK: Reading

  package func find(
    _ query: Query, _ run: Run, early: (any EntityCursor) -> Void = { $0.close() }
  ) throws(StoreError) -> Answered<any EntityCursor> {
    try telling("find") { () throws(StoreError) in
      try engine.find(query, resolved(run), early: early)
    }
  }

  package func find(
    id: String, _ run: Run, early: ([UInt8]) -> Void = { _ in }
  ) throws(StoreError) -> Answered<[UInt8]> {
    try telling("find by id") { () throws(StoreError) in
      try engine.find(id: id, resolved(run), early: early)
    }
  }

  /// Lends an entity of the local store to `body` until it returns. `.notFound` if it is not there.
  package func lend(
    id: String, to body: (UnsafeRawBufferPointer) -> Void
  ) throws(StoreError) {
    try telling("find by id") { () throws(StoreError) in try engine.lend(id: id, to: body) }
  }

  package func count(
    _ query: Query, _ run: Run, early: (Int) -> Void = { _ in }
  ) throws(StoreError) -> Answered<Int> {
    try telling("count") { () throws(StoreError) in
      try engine.count(query, resolved(run), early: early)
    }
  }

  // MARK: Writing

  /// `entity`: UTF-8 JSON, an object.
  package func save(
    _ entity: UnsafeRawBufferPointer, _ run: Run, early: ([UInt8]) -> Void = { _ in }
  ) throws(StoreError) -> Answered<[UInt8]> {
    let outline = try Self.outline(of: entity)
    return try telling("save") { () throws(StoreError) in
      try engine.save(entity, outline, resolved(run), early: early)
    }
  }

  /// `entities`: UTF-8 JSON, an array of objects.
  package func saveMany(
    _ entities: UnsafeRawBufferPointer, _ run: Run, early: (SaveManyResult) -> Void = { _ in }
  ) throws(StoreError) -> Answered<SaveManyResult> {
    let outlines: [EntityOutline]
    do throws(JSONError) { outlines = try EntityScanner.outlines(ofArray: entities) } catch {
      throw StoreError(error)
    }
    return try telling("save many") { () throws(StoreError) in
      try engine.saveMany(entities, outlines, resolved(run), early: early)
    }
  }

  package func remove(
    id: String, _ run: Run, early: (Int) -> Void = { _ in }
  ) throws(StoreError) -> Answered<Int> {
    try telling("remove by id") { () throws(StoreError) in
      try engine.remove(id: id, resolved(run), early: early)
    }
  }

  package func remove(
    _ query: Query, _ run: Run, early: (Int) -> Void = { _ in }
  ) throws(StoreError) -> Answered<Int> {
    try telling("remove") { () throws(StoreError) in
      try engine.remove(query, resolved(run), early: early)
    }
  }

  // MARK: Synchronising

  package func pull(_ query: Query, _ run: Run) throws(StoreError) -> PullResult {
    try telling("pull") { () throws(StoreError) in
      try engine.pull(query, call(run), paging: merged(run).paging)
    }
  }

  package func push(_ run: Run) throws(StoreError) -> PushResult {
    try telling("push") { () throws(StoreError) in try engine.push(call(run)) }
  }

  package func sync(_ query: Query, _ run: Run) throws(StoreError) -> SyncResult {
    try telling("sync") { () throws(StoreError) in
      try engine.sync(query, call(run), paging: merged(run).paging)
    }
  }

  // MARK: The queue

  package func pendingCount() throws(StoreError) -> Int { try engine.pendingCount() }

  /// A JSON array, oldest first: see kv_store_pending.
  package func pending(after id: String?, most: Int) throws(StoreError) -> [UInt8] {
    let writes = try engine.pending(after: id, most: most)
    return JSONValue.array(writes.map { .object($0.jsonObject) }).bytes
  }

  /// A JSON object with `entity` and `base`: see kv_store_pending_get.
  package func pending(_ id: String) throws(StoreError) -> [UInt8] {
    let found = try engine.pending(id)
    var json = JSONValue.object(found.write.jsonObject).bytes
    json.removeLast()
    for (name, value) in [("entity", found.entity), ("base", found.base)] {
      json += ",\"\(name)\":".utf8
      json += value ?? Array("null".utf8)
    }
    json.append(UInt8(ascii: "}"))
    return json
  }

  package func retryPending(_ id: String, _ run: Run) throws(StoreError) {
    try telling("retry") { () throws(StoreError) in try engine.retryPending(id, call(run)) }
  }

  package func editPending(_ id: String, _ entity: UnsafeRawBufferPointer) throws(StoreError) {
    try engine.editPending(id, entity, try Self.outline(of: entity))
  }

  package func dropPending(_ id: String) throws(StoreError) { try engine.dropPending(id) }

  package func purge(_ query: Query?) throws(StoreError) -> Int { try engine.purge(query) }

  package func clear(_ query: Query?) throws(StoreError) -> Int { try engine.clear(query) }

  // MARK: Shared

  private static func outline(
    of entity: UnsafeRawBufferPointer
  ) throws(StoreError) -> EntityOutline {
    do throws(JSONError) { return try EntityScanner.outline(of: entity) } catch {
      throw StoreError(error)
    }
  }
}
