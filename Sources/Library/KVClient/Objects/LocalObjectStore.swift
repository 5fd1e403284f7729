internal import KVBase
internal import KVJSON
internal import KVModels
internal import KVObjects
internal import KVQuery
internal import KVStorage
internal import KVSync

/// The stores of a client as one store of objects: the collections of a tag in the local data, read and written as the stores'
/// type says. Safe from any thread.
///
/// A save is one transaction of the file, which queues its writes for the backend; a network store has no file, so it is
/// read-only here.
final class LocalObjectStore: ObjectStore {
  let metadata: ObjectStoreMetadata
  let relationships: [Relationship]
  private let client: Client
  private let type: StoreType
  private let tag: String
  /// Nil: a network store.
  private let storage: Storage?
  private let stores = Monitor<[RecordID: DataStore]>([:])
  private let closing = Cancellation()

  init(_ client: Client, type: StoreType, tag: String) throws(StoreError) {
    self.client = client
    self.type = type
    self.tag = tag
    storage = type == .network ? nil : try client.storage(tag)
    relationships = client.options.models?.relationships ?? []
    metadata = try ObjectStoreMetadata(
      type: ObjectStoreRegistry.local, uuid: Self.uuid(of: client.directory.file(tag: tag)))
  }

  func close() { closing.cancel() }

  private var run: DataStore.Run { DataStore.Run(cancellation: closing) }

  func format(of collection: String) throws(StoreError) -> RecordFormat {
    try store(collection).engine.format
  }

  private func store(_ collection: String) throws(StoreError) -> DataStore {
    let name = RecordID(collection)
    if let known = stores.withLock({ $0[name] }) { return known }
    let options: JSONObject? = storage == nil ? nil : ["tag": .string(tag)]
    let store = try client.store(collection, type: type.rawValue, options)
    return stores.withLock { stores in
      let first = stores[name] ?? store
      stores[name] = first
      return first
    }
  }

  // MARK: Fetching

  func fetch(_ request: ObjectFetch) throws(StoreError) -> FetchedObjects {
    let store = try store(request.collection)
    var wanted = ResultsRequest()
    switch request.content {
    case .count: return .count(try store.count(request.query, run).value)
    case .groups:
      wanted.content = request.content
      let found = try store.fetch(wanted, request.query, run: run)
      return .rows(FetchedRows(results: found.value))
    case .records, .ids, .members:
      if storage == nil, let limit = request.query.limit, limit <= wanted.batchSize {
        return try fetchFromBackend(request, store)
      }
      wanted.content = .ids
      wanted.returnsFaults = true
      wanted.batchSize = 10_000
      let found = try store.fetch(wanted, request.query, run: run).value
      var ids: [ObjectID] = []
      ids.reserveCapacity(found.count)
      let collection = RecordID(request.collection)
      for position in 0..<found.count {
        // A record that was deleted since the query ran is none any more.
        guard let id = try found.id(at: position) else { continue }
        ids.append(ObjectID(collection, id))
      }
      return .objects(ids)
    }
  }

  /// A page of a network store comes with its records.
  private func fetchFromBackend(
    _ request: ObjectFetch, _ store: DataStore
  ) throws(StoreError) -> FetchedObjects {
    var query = request.query
    query.fields = []
    query.computed = []
    var (ids, values): ([ObjectID], [ObjectValues?]) = ([], [])
    try store.each(of: query, run) { (id, body) in
      ids.append(ObjectID(request.collection, id))
      values.append(ObjectValues(body, version: Self.version(of: body)))
    }
    return .objects(ids, values: values)
  }

  // MARK: Following

  func follow(
    _ query: Query, in collection: String, _ signal: @escaping @Sendable () -> Void
  ) throws(StoreError) -> any FollowedObjects {
    let store = try store(collection)
    guard storage != nil, store.readsLocally(nil) || client.backend == nil else {
      throw StoreError(
        .unsupported, "Lists of this context come from the backend: they cannot be followed.")
    }
    var wanted = ResultsRequest()
    wanted.content = .ids
    // The context's own changes may move any object into a page.
    var whole = query
    whole.skip = 0
    whole.limit = nil
    let found = try store.fetch(wanted, whole, run: run).value
    return FollowedStoredObjects(found, of: collection, try found.follow(signal))
  }

  // MARK: Faults

  func values(of ids: [ObjectID], maxBytes: Int) throws(StoreError) -> [ObjectValues?] {
    guard let collection = ids.first?.collection.text else { return [] }
    let store = try store(collection)
    let keys = ids.map(\.key.text)
    guard !store.readsLocally(nil), client.backend != nil else {
      return try values(ofStored: keys, in: collection, maxBytes: maxBytes)
    }
    var query = Query(.keys(keys, store.engine.format))
    query.format = store.engine.format
    guard storage == nil else {
      // What waits in the queue stays.
      try store.update(ids: keys, run: run)
      return try values(ofStored: keys, in: collection, maxBytes: maxBytes)
    }
    var found: [RecordID: ObjectValues] = [:]
    try store.each(of: query, run) { (id, body) in
      found[RecordID(id)] = ObjectValues(body, version: Self.version(of: body))
    }
    return ids.map { found[$0.key] }
  }

  private func values(
    ofStored keys: [String], in collection: String, maxBytes: Int
  ) throws(StoreError) -> [ObjectValues?] {
    try storage?.records(keys, in: collection, maxBytes: maxBytes).map { record in
      record.map { ObjectValues($0.body, version: $0.version) }
    } ?? []
  }

  func related(
    _ relationship: Relationship, to ids: [ObjectID]
  ) throws(StoreError) -> RelatedObjects {
    let target = relationship.target.text
    let store = try store(target)
    let sourceFormat = try format(of: relationship.source.text)
    let query = Self.query(relationship, ids, format: sourceFormat).of(store.engine.format)
    var found = RelatedCollector(relationship, ids, format: sourceFormat)
    if let storage {
      if !store.readsLocally(nil), client.backend != nil {
        _ = try store.fetch(ResultsRequest(), query, run: run)
      }
      try storage.records(of: store.named(query), in: target) { record in
        found.add(record.id, ObjectValues(record.body, version: record.version))
      }
    } else {
      try store.each(of: query, run) { (id, body) in
        found.add(id, ObjectValues(body, version: Self.version(of: body)))
      }
    }
    return found.objects
  }

  /// The objects whose members hold the key of one of these.
  private static func query(
    _ relationship: Relationship, _ ids: [ObjectID], format: RecordFormat
  ) -> Query {
    let keys = ids.compactMap { format.values(ofKey: $0.key.text) }
    guard relationship.keys.count > 1 else {
      let member = Path(relationship.keys.first ?? "")
      return Query(.field(member, [.isIn(keys.compactMap(\.first))]))
    }
    let each = keys.map { values in
      Predicate.and(zip(relationship.keys, values).map { .field(Path($0), [.equal($1)]) })
    }
    return Query(each.isEmpty ? .nothing : .or(each))
  }

  // MARK: Saving

  func save(_ changes: ObjectSave) throws(StoreError) -> ObjectSaveOutcome {
    guard let storage else {
      throw StoreError(
        .unsupported,
        "A context of network stores cannot save: without local data nothing makes it one step.")
    }
    let all = changes.inserted + changes.updated + changes.deleted
    for change in all { _ = try store(change.id.collection.text) }
    for change in changes.inserted + changes.updated {
      let outline = EntityOutline(range: 0..<change.body.count, id: change.id.key.text)
      try store(change.id.collection.text).engine.checkCanBeSent([outline])
    }
    let deletions = changes.inserted.count + changes.updated.count
    let writes = all.enumerated().map { (index, change) in
      VersionedWrite(
        change.id.key.text, in: change.id.collection.text, version: change.version,
        body: index < deletions ? change.body : nil, hasNewID: change.hasNewID)
    }
    switch try storage.write(writes) {
    case .written(let records):
      client.context.didSave()
      return .saved(
        records.compactMap { $0.map { ObjectValues($0.body, version: $0.version) } })
    case .conflicts(let conflicts):
      return .conflicts(
        conflicts.map { (index, stored) in
          .init(all[index].id, stored.map { ObjectValues($0.body, version: $0.version) })
        })
    }
  }

  // MARK: Identity

  /// A UUID that follows from where the data is: 128 bits of the FNV hash of its path.
  private static func uuid(of path: String) -> String {
    var hex = ""
    for hash in [FNV.hash(path.utf8), FNV.hash(path.utf8, basis: 0x6c62_272e_07bb_0142)] {
      let digits = String(hash, radix: 16)
      hex += String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
    return hex
  }

  /// A number that stands for the content of a record of the backend.
  private static func version(of body: [UInt8]) -> Int64 { Int64(FNV.hash(body) >> 11) }
}

/// `@unchecked Sendable`: one thread at a time, as `FollowedObjects` demands; what it has is safe from any.
private final class FollowedStoredObjects: FollowedObjects, @unchecked Sendable {
  private let found: FetchedResults
  private let collection: RecordID
  private let followed: FollowedResults

  init(_ found: FetchedResults, of collection: String, _ followed: FollowedResults) {
    self.found = found
    self.collection = RecordID(collection)
    self.followed = followed
  }

  func changes() throws(StoreError) -> [ObjectID] {
    guard let changes = try followed.changes() else { return [] }
    var ids: [ObjectID] = []
    for position in changes.insertions + changes.modifications {
      if let id = try found.id(at: position) { ids.append(ObjectID(collection, id)) }
    }
    return ids
  }

  func end() { followed.end() }
}

/// Sorts the objects that a relationship leads to by those that it starts from.
private struct RelatedCollector {
  private let relationship: Relationship
  private let format: RecordFormat
  private let positions: [RecordID: Int]
  private(set) var objects: RelatedObjects

  init(_ relationship: Relationship, _ ids: [ObjectID], format: RecordFormat) {
    self.relationship = relationship
    self.format = format
    positions = Dictionary(
      ids.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
    objects = RelatedObjects(ids: ids.map { _ in [] })
  }

  mutating func add(_ id: String, _ values: ObjectValues) {
    let members = try? RecordMembers(values.body)
    let key = relationship.keys.compactMap { members?.value($0) }
    guard let source = format.key(of: key), let position = positions[RecordID(source)] else {
      return
    }
    let target = ObjectID(relationship.target, id)
    objects.ids[position].append(target)
    objects.values[target] = values
  }
}

extension ClientModels {
  /// The relations of the models.
  var relationships: [Relationship] {
    schema.models.flatMap { model in
      model.fields.compactMap { field in
        switch field.relation {
        case nil: nil
        case .belongsTo(let target, let keys), .hasOne(let target, let keys):
          Relationship(
            field.name, from: model.name, to: target, keys: keys, at: .source, isToMany: false)
        case .hasMany(let target, let keys, let isSingle):
          Relationship(
            field.name, from: model.name, to: target, keys: keys, at: .target,
            isToMany: !isSingle)
        case .manyToMany(_, let join, let keys, _):
          // It leads to the joining objects, whose own relationships lead on.
          Relationship(
            field.name, from: model.name, to: join, keys: keys, at: .target, isToMany: true)
        }
      }
    }
  }
}

/// The rows of groups, which a fetch has computed.
private struct FetchedRows: RecordSource {
  let results: FetchedResults

  var count: Int { results.count }
  var isKept: Bool { true }

  func read(_ range: Range<Int>, maxBytes: Int) throws(StoreError) -> FetchedBatch {
    try results.batch(at: range.lowerBound)
  }
}

extension FetchedResults {
  /// The id at a position of a list of ids; nil: the record was deleted.
  fileprivate func id(at position: Int) throws(StoreError) -> String? {
    let batch = try batch(at: position)
    guard batch.state(at: position) != .deleted else { return nil }
    let text = try batch.text(at: position)
    do throws(JSONError) { return try JSONValue(parsing: text).stringValue } catch {
      throw StoreError(error)
    }
  }
}

extension DataStore {
  /// Passes each record of a find, with its key, to `receive`.
  fileprivate func each(
    of query: Query, _ run: Run, _ receive: (String, [UInt8]) -> Void
  ) throws(StoreError) {
    let cursor = try find(query, run).value
    defer { cursor.close() }
    while let block = try cursor.block() {
      while let text = block.next() {
        let body = [UInt8](UnsafeRawBufferPointer(text))
        guard let id = engine.format.key(of: body) else { continue }
        receive(id, body)
      }
    }
  }
}
