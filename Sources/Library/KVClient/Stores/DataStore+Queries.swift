internal import KVBase
internal import KVJSON
package import KVQuery
package import KVSync

/// What a query is for besides finding: groups, updates, indexes and observation.
extension DataStore {
  // MARK: Groups

  /// A JSON array: see kv_store_group.
  package func group(
    _ wanted: GroupRequest, _ query: Query, run: Run, early: ([UInt8]) -> Void = { _ in }
  ) throws(StoreError) -> Answered<[UInt8]> {
    func text(_ groups: [JSONObject]) -> [UInt8] {
      JSONValue.array(groups.map { .object(wanted.result($0, renamedBy: names)) }).bytes
    }
    let groups = try perform("group", as: .read, run) { (options) throws(StoreError) in
      try engine.group(
        wanted.renamed(by: names), named(query), options: options, early: { early(text($0)) })
    }
    return Answered(text(groups.value), isLocal: groups.isLocal)
  }

  /// A JSON array: see kv_store_distinct.
  package func distinct(
    _ path: String, _ query: Query, run: Run, early: ([UInt8]) -> Void = { _ in }
  ) throws(StoreError) -> Answered<[UInt8]> {
    guard !path.isEmpty else { throw StoreError(.invalid, "The path is empty.") }
    let values = try perform("distinct", as: .read, run) { (options) throws(StoreError) in
      try engine.distinct(
        names.renamed(Path(path)), named(query), options: options,
        early: { early(JSONValue.array($0).bytes) })
    }
    return Answered(JSONValue.array(values.value).bytes, isLocal: values.isLocal)
  }

  /// Groups for entities of this store, by members as the application calls them.
  package func groups(by keys: [Path]) -> Groups {
    Groups(Grouping(keys: keys, members: []).renamed(by: names))
  }

  // MARK: Updates

  /// `text`: an update, see kv_store_update.
  package func parsedUpdate(_ text: String) throws(StoreError) -> EntityUpdate {
    let key = RecordID(text)
    if let known = recentUpdates.withLock({ $0.value(for: key) }) { return known }
    let update: EntityUpdate
    do throws(QueryError) { update = try EntityUpdate(text, engine.format) } catch {
      throw StoreError(error)
    }
    let named = update.renamed(by: names)
    // Longer ones, with values of their own, hardly come twice, and would take memory.
    if text.utf8.count <= 1024 { recentUpdates.withLock { $0.keep(named, for: key) } }
    return named
  }

  /// Changes members of the entities that match: see `CollectionEngine.update`.
  package func update(
    _ query: Query, _ update: EntityUpdate, run: Run,
    early: (UpdateResult) -> Void = { _ in }
  ) throws(StoreError) -> Answered<UpdateResult> {
    try perform("update", as: .write, run) { (options) throws(StoreError) in
      try engine.update(named(query), update, options: options, early: early)
    }
  }

  /// The local version of an entity. `.notFound` if it is not there.
  package func version(of id: String) throws(StoreError) -> Int64 { try engine.version(of: id) }

  // MARK: Indexes

  /// `spec`: JSON, see kv_store_create_index.
  package func createIndex(_ spec: String) throws(StoreError) {
    let parsed: IndexSpec
    do throws(QueryError) { parsed = try IndexSpec(parsing: spec) } catch {
      throw StoreError(error)
    }
    try engine.createIndex(parsed.renamed(by: names))
  }

  /// `.notFound` if no index has this name.
  package func dropIndex(_ name: String) throws(StoreError) { try engine.dropIndex(name) }

  /// A JSON array: see kv_store_indexes.
  package func indexes() throws(StoreError) -> [UInt8] {
    JSONValue.array(try engine.indexes().map(\.json)).bytes
  }

  /// A JSON object: see kv_store_explain.
  package func explain(_ query: Query) throws(StoreError) -> [UInt8] {
    try engine.explain(named(query)).json.bytes
  }

  // MARK: Observation

  /// The query that finds the entity with this id. Throws `.invalid` for a text that no entity can have as its id.
  package func query(ofID id: String) throws(StoreError) -> Query {
    guard engine.format.values(ofKey: id) != nil else {
      throw StoreError(.invalid, "\"\(id)\" cannot be an id here (\(engine.format.idText)).")
    }
    try engine.checkID(id)
    return Query(key: id, engine.format)
  }

  /// Follows a query over the local data: see `CollectionEngine.observe`.
  package func observe(
    _ query: Query, _ signal: @escaping @Sendable () -> Void
  ) throws(StoreError) -> any Observation {
    SyncedObservation(
      try engine.observe(named(query), signal), of: engine.collection, context.synced,
      signal: signal)
  }
}

extension GroupRequest {
  /// The same in the backend's names.
  fileprivate func renamed(by names: KeyMap) -> GroupRequest {
    switch self {
    case .numbers(let grouping): return .numbers(grouping.renamed(by: names))
    case .script(var script):
      script.keys = script.keys.map { names.renamed(Path($0)).text }
      return .script(script)
    }
  }

  /// A group with the application's names. Of a script only the keys are ours to name.
  fileprivate func result(_ group: JSONObject, renamedBy names: KeyMap) -> JSONObject {
    guard case .script(let script) = self, !names.isEmpty else { return group }
    return JSONObject(
      group.members.map { member in
        let key = script.keys.first { names.renamed(Path($0)).text.hasSameBytes(as: member.name) }
        return JSONObject.Member(key ?? member.name, member.value)
      })
  }
}

extension GroupRequest {
  /// Reads a grouping, or `{"keys":[…],"initial":{…},"reduce":"function(doc,out){ … }"}`.
  package init(parsing text: String) throws(StoreError) {
    if let script = try Self.script(text) {
      self = .script(script)
      return
    }
    do throws(QueryError) { self = .numbers(try Grouping(parsing: text)) } catch {
      throw StoreError(error)
    }
  }

  /// What has a function is a script; what else is wrong with it, a backend would say too.
  private static func script(_ text: String) throws(StoreError) -> RemoteGroups? {
    guard let object = try JSONValue.ifValid(text)?.objectValue,
      let reduce = object["reduce"]?.stringValue, object["aggregates"] == nil,
      let initial = (object["initial"] ?? .object([:])).objectValue,
      let keys = (object["keys"] ?? .array([])).arrayValue,
      object.members.allSatisfy({ ["keys", "initial", "reduce"].contains($0.name) })
    else { return nil }
    let names = keys.compactMap(\.stringValue)
    guard names.count == keys.count else { return nil }
    return RemoteGroups(keys: names, initial: initial, reduce: reduce)
  }
}
