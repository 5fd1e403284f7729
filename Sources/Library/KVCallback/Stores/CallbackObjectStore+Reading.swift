internal import KVBase
internal import KVJSON
internal import KVObjects
internal import KVQuery
internal import KVSync

extension CallbackObjectStore {
  func fetch(_ request: ObjectFetch) throws(StoreError) -> FetchedObjects {
    switch request.content {
    case .records, .ids: return try objects(request)
    case .count:
      let query = request.query.of(format(of: request.collection))
      return .count(try remote.count(query, in: request.collection, call: call).count)
    case .members, .groups:
      let engine = CollectionEngine(
        collection: request.collection, type: .network, local: nil, remote: remote,
        sendGate: SendGate(), writer: { nil })
      var results = ResultsRequest()
      results.content = request.content
      let options = CallOptions(
        readPolicy: .forceNetwork, writePolicy: .forceNetwork, call: call)
      return .rows(
        try engine.source(of: results, request.query, groups: request.query, options: options).value
      )
    }
  }

  /// The records come along with their ids, so the objects are no faults.
  private func objects(_ request: ObjectFetch) throws(StoreError) -> FetchedObjects {
    let query = request.query.of(format(of: request.collection)).whole
    var ids: [ObjectID] = []
    var values: [ObjectValues?] = []
    _ = try remote.find(query, in: request.collection, call: call) { (batch) throws(StoreError) in
      for (outline, id) in zip(batch.outlines, try batch.ids()) {
        ids.append(ObjectID(request.collection, id))
        values.append(self.values(try [UInt8](batch.record(outline), or: StoreError.noMemory)))
      }
    }
    return .objects(ids, values: values)
  }

  // MARK: Values

  func values(of ids: [ObjectID], maxBytes: Int) throws(StoreError) -> [ObjectValues?] {
    var found: [ObjectValues?] = []
    var size = 0
    while found.count < ids.count, found.isEmpty || size < maxBytes {
      // Neighbours of one collection are asked for together.
      let rest = ids[found.count...]
      let some = rest.prefix(backend.description.idsPerRequest)
        .prefix { $0.collection == rest.first?.collection }
      let records = try records(of: Array(some))
      found += some.map { records[$0.key].map(values) }
      size += records.values.reduce(0) { $0 + $1.count }
    }
    return found
  }

  /// The same of all, whatever they take.
  func all(_ ids: [ObjectID]) throws(StoreError) -> [ObjectValues?] {
    try values(of: ids, maxBytes: .max)
  }

  private func records(of ids: [ObjectID]) throws(StoreError) -> [RecordID: [UInt8]] {
    guard let collection = ids.first?.collection.text else { return [:] }
    var records: [RecordID: [UInt8]] = [:]
    _ = try remote.find(ids: ids.map(\.key.text), in: collection, call: call) {
      (batch) throws(StoreError) in
      for (outline, id) in zip(batch.outlines, try batch.ids()) {
        records[RecordID(id)] = try [UInt8](batch.record(outline), or: StoreError.noMemory)
      }
    }
    return records
  }

  // MARK: Relationships

  func related(
    _ relationship: Relationship, to ids: [ObjectID]
  ) throws(StoreError) -> RelatedObjects {
    guard !ids.isEmpty else { return RelatedObjects(ids: []) }
    return backend.handler.handles(.relationship)
      ? try asked(relationship, ids) : try found(relationship, ids)
  }

  /// What the store says.
  private func asked(
    _ relationship: Relationship, _ ids: [ObjectID]
  ) throws(StoreError) -> RelatedObjects {
    let description = backend.description
    let request: JSONObject = [
      "relationship": .string(relationship.name.text),
      "collection": .string(relationship.source.text),
      "target": .string(relationship.target.text),
      "keys": .array(relationship.keys.map { .string($0) }),
      "ids": .array(ids.map { description.idValue(ofKey: $0.key.text) }),
    ]
    let answer = try backend.exchange(
      .relationship, JSONValue.object(request).bytes, call: call)
    let lists = try answer.value("related")?.arrayValue ?? []
    guard lists.count == ids.count else {
      throw .badAnswer("The store answered for another number of objects than were asked for.")
    }
    return RelatedObjects(
      ids: try lists.map { (list) throws(StoreError) in
        guard let members = list.arrayValue else { throw .unfitMember("related", "arrays of ids") }
        return try members.map { (id) throws(StoreError) in
          guard let key = description.key(ofID: id) else {
            throw .unfitMember("related", "arrays of ids")
          }
          return ObjectID(relationship.target, key)
        }
      })
  }

  /// What a query finds, by the members of the targets that hold the keys.
  private func found(
    _ relationship: Relationship, _ ids: [ObjectID]
  ) throws(StoreError) -> RelatedObjects {
    /// By the values of the keys, as a JSON array.
    var positions: [RecordID: [Int]] = [:]
    var keys: [[JSONValue]] = []
    for (index, id) in ids.enumerated() {
      guard let key = backend.description.format.values(ofKey: id.key.text) else { continue }
      keys.append(key)
      positions[RecordID(JSONValue.array(key).text), default: []].append(index)
    }
    var related = RelatedObjects(ids: ids.map { _ in [] })
    let query = try Self.query(relationship, keys: keys)
    let target = relationship.target.text
    _ = try remote.find(query, in: target, call: call) { (batch) throws(StoreError) in
      for (outline, id) in zip(batch.outlines, try batch.ids()) {
        let record = try [UInt8](batch.record(outline), or: StoreError.noMemory)
        let members = try? JSONValue(parsing: record)
        let key = relationship.keys.map { members?[$0] ?? .null }
        let object = ObjectID(target, id)
        for position in positions[RecordID(JSONValue.array(key).text)] ?? [] {
          related.ids[position].append(object)
          related.values[object] = values(record)
        }
      }
    }
    return related
  }

  /// The targets with any of these keys, ordered by their ids.
  private static func query(
    _ relationship: Relationship, keys: [[JSONValue]]
  ) throws(StoreError) -> Query {
    let filter: JSONObject =
      if relationship.keys.count == 1 {
        [relationship.keys[0]: ["$in": .array(keys.compactMap(\.first))]]
      } else {
        [
          "$or": .array(
            keys.map { key in
              .object(JSONObject(zip(relationship.keys, key).map { .init($0, $1) }))
            })
        ]
      }
    do throws(QueryError) { return try Query(filter: JSONValue.object(filter).text) } catch {
      throw StoreError(error)
    }
  }
}
