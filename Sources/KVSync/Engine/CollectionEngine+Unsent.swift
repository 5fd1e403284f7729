internal import KVBase
internal import KVJSON
internal import KVQuery

/// What a backend cannot know: the entities with a pending write, those set aside included. A find shows them as they are
/// here, and so they are counted and grouped.
extension CollectionEngine {
  /// How many entities are looked at here by one query.
  private static let idsAtOnce = 200

  /// How many entities match, on the backend and here. Costs another request for each page of entities if more
  /// writes are pending than one request may name.
  func countRemotely(_ query: Query, _ call: Call) throws(StoreError) -> Int {
    let remote = try backend(for: "count on the network")
    let unsent = try unsentIds()
    guard !unsent.isEmpty else { return try remote.count(query, in: collection, call: call).count }
    var count = 0
    if unsent.count <= remote.limits.idsPerQuery {
      let others = Predicate.noKeys(unsent.map(\.text), format)
      count = try remote.count(query.selection.and(others), in: collection, call: call).count
    } else {
      try eachSent(of: query, fields: format.idPaths, except: unsent, call: call) { _ in count += 1
      }
    }
    try eachUnsent(of: query, unsent, call: call) { _ in count += 1 }
    return count
  }

  /// Lends each entity that matches to `body`: from the backend with no other members than these and the reserved ones, if
  /// the query can be asked there, else whole.
  func eachRemotely(
    of query: Query, fields: [Path], call: Call, _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(StoreError) {
    let unsent = try unsentIds()
    try eachSent(of: query, fields: fields, except: unsent, call: call, body)
    try eachUnsent(of: query, unsent, call: call, body)
  }

  func unsentIds() throws(StoreError) -> Set<RecordID> {
    var ids: Set<RecordID> = []
    var last: Int64 = 0
    while let page = try local?.pending(
      in: collection, after: last, limit: 1_000, onlyWaiting: false), let end = page.last
    {
      ids.formUnion(page.map { RecordID($0.id) })
      last = end.order
    }
    return ids
  }

  private func eachSent(
    of query: Query, fields: [Path], except unsent: Set<RecordID>, call: Call,
    _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(StoreError) {
    var wanted = query.selection
    wanted.fields = fields.isEmpty ? format.idPaths : fields
    try backend(for: "read from the network").each(of: wanted, in: collection, call: call) {
      entity in
      guard !unsent.isEmpty, let id = try? EntityScanner.outline(of: entity, format).id,
        unsent.contains(RecordID(id))
      else { return body(entity) }
    }
  }

  private func eachUnsent(
    of query: Query, _ ids: Set<RecordID>, call: Call, _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(StoreError) {
    var rest = ids.map(\.text)[...]
    while let local, !rest.isEmpty {
      let some = Predicate.keys(Array(rest.prefix(Self.idsAtOnce)), format)
      try local.each(
        of: query.selection.and(some), in: collection, writtenSince: nil, within: call.budget, body)
      rest = rest.dropFirst(Self.idsAtOnce)
    }
  }
}
