internal import KVBase
internal import KVJSON
internal import KVQuery

/// Reads the backend as this device sees it, for one call: entities with a pending write, those set aside included, count
/// and are grouped as they are here, which the backend cannot know.
struct BackendReader {
  let engine: CollectionEngine
  let remote: LocalFilteringRemote
  let call: Call

  /// Throws `.unsupported` if there is no backend; `operation` names what needs one.
  init(_ engine: CollectionEngine, for operation: String, call: Call) throws(StoreError) {
    self.engine = engine
    remote = try engine.backend(for: operation)
    self.call = call
  }

  private var collection: String { engine.collection }
  private var format: RecordFormat { engine.format }
  private var local: (any LocalStore)? { engine.local }

  /// How many entities are looked at here by one query.
  private static let idsAtOnce = 200

  /// How many entities match, on the backend and here. Costs another request for each page of entities if more
  /// writes are pending than one request may name.
  func count(_ query: Query) throws(StoreError) -> Int {
    let unsent = try unsentIds()
    guard !unsent.isEmpty else { return try remote.count(query, in: collection, call: call).count }
    var count = 0
    if unsent.count <= remote.limits.idsPerQuery {
      let others = Predicate.noKeys(unsent.map(\.text), format)
      count = try remote.count(query.selection.and(others), in: collection, call: call).count
    } else {
      try eachSent(of: query, fields: format.idPaths, except: unsent) { _ in count += 1
      }
    }
    try eachUnsent(of: query, unsent) { _ in count += 1 }
    return count
  }

  /// An object for each group of what the query selects.
  func group(_ wanted: GroupRequest, _ query: Query) throws(StoreError) -> [JSONObject] {
    switch wanted {
    case .script(let script):
      return try remote.group(script, of: query.selection, in: collection, call: call)
    case .numbers(let grouping):
      if let groups = try groupRemotely(grouping, query) { return groups }
      // What may matter is fetched, and grouped here.
      var groups = Groups(grouping)
      let fields = (grouping.keys + grouping.paths).map(\.top)
      try each(of: query, fields: fields) { groups.add($0) }
      return groups.results
    }
  }

  /// The backend's groups; nil if it has none, does not understand these, or does not know all writes.
  private func groupRemotely(
    _ grouping: Grouping, _ query: Query
  ) throws(StoreError) -> [JSONObject]? {
    // The protocol has no word for equal texts of a language; only our server has one.
    guard remote.isAnsweredWhole(query),
      grouping.collationJSON == nil || remote.comparesByLanguage,
      let form = RemoteGrouping(grouping), try unsentIds().isEmpty
    else { return nil }
    let script = RemoteGroups(
      keys: grouping.keys.map(\.text), initial: form.initial, reduce: form.reduce,
      collation: grouping.collationJSON)
    do throws(StoreError) {
      return form.results(try remote.group(script, of: query.selection, in: collection, call: call))
    } catch {
      guard error.kind == .unsupported else { throw error }
      return nil
    }
  }

  /// Lends each entity that matches to `body`: from the backend with no other members than these and the reserved ones, if
  /// the query can be asked there, else whole.
  func each(
    of query: Query, fields: [Path], _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(StoreError) {
    let unsent = try unsentIds()
    try eachSent(of: query, fields: fields, except: unsent, body)
    try eachUnsent(of: query, unsent, body)
  }

  private func unsentIds() throws(StoreError) -> Set<RecordID> {
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
    of query: Query, fields: [Path], except unsent: Set<RecordID>,
    _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(StoreError) {
    var wanted = query.selection
    wanted.fields = fields.isEmpty ? format.idPaths : fields
    try remote.each(of: wanted, in: collection, call: call) {
      entity in
      guard !unsent.isEmpty, let id = try? EntityScanner.outline(of: entity, format).id,
        unsent.contains(RecordID(id))
      else { return body(entity) }
    }
  }

  private func eachUnsent(
    of query: Query, _ ids: Set<RecordID>, _ body: (UnsafeRawBufferPointer) -> Void
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
