internal import KVBase
package import KVJSON
package import KVQuery
package import KVSync

/// A working copy of objects of several collections: collects insertions, updates and deletions, and saves them in one step, if
/// what they start from is still what is stored. What `NSManagedObjectContext` is to Core Data.
///
/// Safe from any thread: calls wait for each other, also while one of them asks the backend.
package final class ObjectContext: Sendable {
  package let store: any ObjectStore
  private let options: ContextOptions
  private let state: Monitor<ContextState>
  /// What is called after each change of the context.
  private let listeners = Monitor(Listeners())

  private struct Listeners: Sendable {
    var next = 0
    var all: [Int: @Sendable () -> Void] = [:]
  }

  package init(_ store: any ObjectStore, _ options: ContextOptions) throws(StoreError) {
    self.store = store
    self.options = options
    state = Monitor(try ContextState(store, options))
  }

  private func with<R>(
    _ body: (inout ContextState) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try state.withLock { (state) throws(StoreError) in
      try state.requireOpen()
      return try body(&state)
    }
  }

  /// The same for what changes objects: who follows a list is told.
  private func changing<R>(
    _ body: (inout ContextState) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let result = try with(body)
    for listener in listeners.withLock({ Array($0.all.values) }) { listener() }
    return result
  }

  // MARK: Objects

  /// The object, with unsaved changes; nil: there is none, or it is deleted here. Fires the fault, with the rest of its
  /// batch.
  package func body(of id: ObjectID) throws(StoreError) -> [UInt8]? {
    try with { (state) throws(StoreError) in try state.body(state.current(id)) }
  }

  /// Adds a new object. Its id is permanent, unless the store chooses ids itself at the save.
  package func insert(_ record: [UInt8], into collection: String) throws(StoreError) -> ObjectID {
    try changing { (state) throws(StoreError) in try state.insert(record, into: collection) }
  }

  /// Changes some members of an object; with `replacingAll` the others are removed.
  package func update(
    _ id: ObjectID, _ record: [UInt8], replacingAll: Bool = false
  ) throws(StoreError) {
    try changing { (state) throws(StoreError) in
      try state.update(state.current(id), record, replacingAll: replacingAll)
    }
  }

  package func delete(_ id: ObjectID) throws(StoreError) {
    try changing { (state) throws(StoreError) in try state.delete(state.current(id)) }
  }

  /// `{"state":…,"isFault":…,"version":…}`: what the context knows of an object, which is not read for it.
  package func status(of id: ObjectID) throws(StoreError) -> JSONObject {
    try check(id)
    return try with { (state) throws(StoreError) in
      let id = state.current(id)
      let change = state.changes[id]
      let row = state.rows.value(for: id)
      let name =
        switch (change, change?.base, change?.body) {
        case (nil, _, _): "unchanged"
        case (_, _, nil): "deleted"
        case (_, nil, _): "inserted"
        default: "updated"
        }
      let version = change.map { $0.base?.values.version } ?? row?.values?.version
      return [
        "id": .string(id.key.text), "state": .string(name),
        "isFault": .bool(change == nil && row == nil),
        "isTemporary": .bool(state.temporary.contains(id)),
        "version": version.map { .int($0) } ?? .null,
      ]
    }
  }

  /// Throws `.invalid` for an id that no object of this store can have: of a collection that it cannot have, or no key of its
  /// records.
  func check(_ id: ObjectID) throws(StoreError) {
    let format = try store.format(of: id.collection.text)
    let (current, isTemporary) = try identity(of: id)
    guard !isTemporary, format.values(ofKey: current.key.text) == nil else { return }
    throw StoreError(
      .invalid, "\"\(id.key)\" cannot be the id of a record of \(id.collection) (\(format.idText))."
    )
  }

  /// The id that an object has now, and whether that is temporary.
  func identity(of id: ObjectID) throws(StoreError) -> (id: ObjectID, isTemporary: Bool) {
    try with { (state) throws(StoreError) in
      let id = state.current(id)
      return (id, state.temporary.contains(id))
    }
  }

  /// The changed objects in the order of their first change: `{"inserted":[…],"updated":[…],"deleted":[…]}`, each
  /// `{"collection","id"}`.
  package func changes() throws(StoreError) -> JSONObject {
    try with { (state) throws(StoreError) in
      var lists: [String: [JSONValue]] = [:]
      for (id, change) in state.changed {
        let name = change.body == nil ? "deleted" : change.base == nil ? "inserted" : "updated"
        lists[name, default: []].append(.object(id.json))
      }
      return JSONObject(
        ["inserted", "updated", "deleted"].map { .init($0, .array(lists[$0] ?? [])) })
    }
  }

  // MARK: Relationships

  /// The object that a to-one relationship leads to; nil: none.
  package func object(_ name: String, of id: ObjectID) throws(StoreError) -> ObjectID? {
    try with { (state) throws(StoreError) in
      try state.related(state.current(id), name).first
    }
  }

  /// The ids of the objects that a relationship leads to.
  package func related(_ name: String, to id: ObjectID) throws(StoreError) -> [ObjectID] {
    try with { (state) throws(StoreError) in try state.related(state.current(id), name) }
  }

  /// The objects that a relationship leads to, as a list of faults, or of their ids.
  package func objects(
    _ name: String, of id: ObjectID, asIDs: Bool = false
  ) throws(StoreError) -> FetchedResults {
    let (ids, target) = try with { (state) throws(StoreError) in
      let id = state.current(id)
      let relationship = try state.relationships.named(name, of: id.collection)
      return (try state.related(id, name), relationship.target)
    }
    return results(list(ids, of: target.text, as: asIDs ? .id : .body(nil), found: nil))
  }

  /// The relationships of a collection: `[{"name","to","toMany"}]`, by their names.
  package func relationships(of collection: String) throws(StoreError) -> JSONValue {
    try with { (state) throws(StoreError) in
      let found = state.relationships.all(of: RecordID(collection))
      return .array(
        found.map {
          [
            "name": .string($0.name.text), "to": .string($0.target.text),
            "toMany": .bool($0.isToMany),
          ]
        })
    }
  }

  // MARK: Fetching

  /// What a query finds, as a list that loads through this context.
  package func fetch(
    _ request: ResultsRequest, _ query: Query, in collection: String,
    options fetching: FetchingOptions
  ) throws(StoreError) -> FetchedResults {
    let name = RecordID(collection)
    let fetched = try with { (state) throws(StoreError) in
      let fetched = try state.fetch(request, query, in: name, options: fetching)
      guard case .ids(let ids) = fetched else { return fetched }
      try state.prefetch(fetching.prefetchedKeyPaths, of: ids, in: name)
      return fetched
    }
    switch fetched {
    case .count(let count): return results(try HeldRecords([JSONValue.int(Int64(count)).bytes]))
    case .rows(let rows):
      return FetchedResults(rows, batchSize: request.batchSize, cacheBytes: request.cacheBytes)
    case .ids(let ids):
      let list = list(
        ids, of: collection, as: try form(request.content, query, in: collection),
        found: RepeatableFetch(request: request, query: query, options: fetching))
      if !fetching.returnsObjectsAsFaults {
        try fill(list)
      }
      return results(list)
    }
  }

  private func form(
    _ content: ResultsRequest.Content, _ query: Query, in collection: String
  ) throws(StoreError) -> RecordForm {
    let query = query.of(try store.format(of: collection))
    switch content {
    case .ids: return .id
    case .members: return .body(query.contentProjection)
    default: return .body(query.projection)
    }
  }

  private func list(
    _ ids: [ObjectID], of collection: String, as form: RecordForm, found fetch: RepeatableFetch?
  ) -> ObjectList {
    let list = ObjectList(ids, of: RecordID(collection), as: form, found: fetch, in: self)
    state.withLock { $0.lists.append(ContextState.WeakList(value: list)) }
    return list
  }

  /// The context caches and batches: the list itself keeps nothing.
  private func results(_ source: any RecordSource) -> FetchedResults {
    FetchedResults(source, batchSize: 1, cacheBytes: 0)
  }

  /// Reads the objects of a list, until the cache is full.
  private func fill(_ list: ObjectList) throws(StoreError) {
    var position = 0
    while position < list.count {
      _ = try body(of: list.id(at: position))
      position += options.batchSize
      if state.withLock({ $0.rows.cost }) >= options.cacheBytes / 2 { return }
    }
  }

  // MARK: Following

  func addListener(_ listener: @escaping @Sendable () -> Void) -> Int {
    listeners.withLock { listeners in
      listeners.next += 1
      listeners.all[listeners.next] = listener
      return listeners.next
    }
  }

  func removeListener(_ number: Int) {
    listeners.withLock { _ = $0.all.removeValue(forKey: number) }
  }

  /// Begins to follow a list.
  func follow(
    _ list: FetchedObjectList, _ signal: @escaping @Sendable () -> Void
  ) throws(StoreError) -> FollowedObjectList {
    let unsaved = try with { (state) throws(StoreError) in state.unsaved(in: list.collection) }
    let stored = try store.follow(list.query, in: list.collection.text, signal)
    return FollowedObjectList(list, in: self, unsaved: unsaved, stored: stored, signal: signal)
  }

  /// See `ContextState.renew`. Nil: the context is closed.
  func renew(
    _ list: FetchedObjectList, suspects: [ObjectID], includesFaults: Bool,
    unsaved: [ObjectID: [UInt8]]
  ) throws(StoreError) -> RenewedObjectList? {
    try state.withLock { (state) throws(StoreError) in
      guard !state.isClosed else { return nil }
      return try state.renew(
        list, suspects: suspects, includesFaults: includesFaults, unsaved: unsaved)
    }
  }

  // MARK: Interest

  package func hold(_ ids: [ObjectID]) throws(StoreError) {
    try with { (state) throws(StoreError) in state.hold(ids.map { state.current($0) }) }
  }

  package func release(_ ids: [ObjectID]) throws(StoreError) {
    try with { (state) throws(StoreError) in state.release(ids.map { state.current($0) }) }
  }

  /// Makes objects (nil: all) faults again. Unsaved changes of them are dropped, or laid over what is stored now.
  package func refresh(_ ids: [ObjectID]?, keepingChanges: Bool) throws(StoreError) {
    try changing { (state) throws(StoreError) in
      try state.refresh(ids.map { $0.map { state.current($0) } }, keepingChanges: keepingChanges)
    }
  }

  // MARK: Undo

  package func beginUndoGroup() throws(StoreError) {
    try with { (state) throws(StoreError) in state.undoing.begin() }
  }

  package func endUndoGroup() throws(StoreError) {
    try with { (state) throws(StoreError) in
      guard state.undoing.end() else { throw StoreError(.misuse, "No undo group is open.") }
    }
  }

  /// False: there is nothing to undo.
  package func undo() throws(StoreError) -> Bool {
    try changing { (state) throws(StoreError) in try state.undo() }
  }

  package func redo() throws(StoreError) -> Bool {
    try changing { (state) throws(StoreError) in try state.redo() }
  }

  /// Drops all unsaved changes.
  package func rollback() throws(StoreError) {
    try changing { (state) throws(StoreError) in state.rollback() }
  }

  // MARK: Saving

  /// Makes all changes in one step. `.conflict` if an object was changed since the context read it and the merge policy does
  /// not decide: nothing is written then, and `conflicts` tells more.
  package func save() throws(StoreError) -> ContextSaveResult {
    try changing { (state) throws(StoreError) in try state.save() }
  }

  /// Saves, and has `decide` resolve each conflict, with no lock held; tries again as long as it resolves all of them.
  package func save(
    deciding decide: (MergeConflict) throws(StoreError) -> Void
  ) throws(StoreError) -> ContextSaveResult {
    while true {
      do throws(StoreError) { return try save() } catch {
        let open = try conflicts()
        guard error.kind == .conflict, !open.isEmpty else { throw error }
        for conflict in open { try decide(conflict) }
        guard try conflicts().isEmpty else { throw error }
      }
    }
  }

  /// The conflicts of the last save that are not resolved.
  package func conflicts() throws(StoreError) -> [MergeConflict] {
    try with { (state) throws(StoreError) in state.conflicts }
  }

  /// The same as a JSON array: see `MergeConflict.json`.
  package func conflictsText() throws(StoreError) -> [UInt8] {
    [UInt8(ascii: "[")] + (try conflicts()).map(\.json).joined(separator: [UInt8(ascii: ",")])
      + [UInt8(ascii: "]")]
  }

  /// Ends a conflict of the last save: see `MergeResolution.init`.
  package func resolve(_ id: ObjectID, _ answer: JSONObject) throws(StoreError) {
    try changing { (state) throws(StoreError) in try state.resolve(state.current(id), answer) }
  }

  /// The permanent ids of new objects, asked of the store before a save.
  package func obtainPermanentIDs() throws(StoreError) -> [PermanentID] {
    try changing { (state) throws(StoreError) in try state.obtainPermanentIDs() }
  }

  package func statistics() throws(StoreError) -> ContextStatistics {
    try with { (state) throws(StoreError) in
      var statistics = state.statistics
      statistics.cachedObjects = state.rows.values.count
      statistics.cachedBytes = state.rows.cost
      statistics.changes = state.changes.count
      statistics.held = state.interests.count
      return statistics
    }
  }

  /// Ends what the context is waiting for. Only closing it may follow.
  package func interrupt() { store.close() }

  /// Unsaved changes are lost; lists of the context give `.misuse` from now on. May be called again.
  package func close() {
    // Another thread may be in a call that waits for the backend, and hold the lock.
    interrupt()
    state.withLock { state in
      state.isClosed = true
      state.rollback()
      state.rows.removeAll()
    }
  }
}

extension ObjectID {
  package var json: JSONObject {
    ["collection": .string(collection.text), "id": .string(key.text)]
  }
}
