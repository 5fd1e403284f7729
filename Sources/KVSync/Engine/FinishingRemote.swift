package import KVJSON
package import KVQuery

/// A backend that also answers queries which its language has no form for: it is asked for everything
/// that may match, and the rest is decided here.
///
/// Such an answer is held in memory until it is complete, because only then it can be put in order.
package final class FinishingRemote: Remote {
  /// Reads answer with so many entities at the most, so a larger answer is fetched in pages.
  private static let pageSize = 10_000
  /// How many ids go into one deletion.
  private static let idsAtOnce = 200

  private let remote: any Remote

  package init(_ remote: any Remote) { self.remote = remote }

  package var connections: Int { remote.connections }
  package var keepsConditions: Bool { remote.keepsConditions }
  package var maxBatchWrites: Int { remote.maxBatchWrites }

  package func find(
    _ query: Query, in collection: String, _ call: Call,
    receive: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    guard !query.isRemote else {
      return try remote.find(query, in: collection, call, receive: receive)
    }
    let (selected, answer) = try select(query, in: collection, call)
    try query.shown(selected).hand(to: receive)
    return answer
  }

  /// What the backend tells of a superset says too little: an entity may have left the query in it.
  package func changes(
    of query: Query, since: String, in collection: String, _ call: Call,
    receive: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer? {
    guard query.isRemote else { return nil }
    return try remote.changes(of: query, since: since, in: collection, call, receive: receive)
  }

  package func find(
    id: String, in collection: String, _ call: Call
  ) throws(StoreError) -> [UInt8] {
    try remote.find(id: id, in: collection, call)
  }

  package func count(
    _ query: Query, in collection: String, _ call: Call
  ) throws(StoreError) -> CountAnswer {
    guard !query.isRemote else { return try remote.count(query, in: collection, call) }
    let (selected, answer) = try select(query, in: collection, call)
    return CountAnswer(count: selected.count, startedAt: answer.startedAt)
  }

  /// What the backend groups must be what the query selects: `each` is for the others.
  package func group(
    _ wanted: RemoteGroups, of query: Query, in collection: String, _ call: Call
  ) throws(StoreError) -> [JSONObject] {
    guard query.isRemote else {
      throw StoreError(.unsupported, "No backend can select what this query does.")
    }
    return try remote.group(wanted, of: query, in: collection, call)
  }

  package func remove(
    _ query: Query, in collection: String, _ call: Call
  ) throws(StoreError) -> Int {
    guard !query.isRemote else { return try remote.remove(query, in: collection, call) }
    var ids: [String] = []
    for entity in try select(query, in: collection, call).entities {
      if let id = (try? EntityScanner.outline(of: entity))?.id { ids.append(id) }
    }
    var removed = 0
    for start in stride(from: 0, to: ids.count, by: Self.idsAtOnce) {
      let some = ids[start..<min(start + Self.idsAtOnce, ids.count)]
      let those = Query(.field(.id, [.isIn(some.map { .string($0) })]))
      removed += try remote.remove(those, in: collection, call)
    }
    return removed
  }

  package func send(
    _ writes: [RemoteWrite], in collection: String, _ call: Call,
    outcome: (Int, Result<RemoteOutcome, StoreError>) -> Void
  ) {
    remote.send(writes, in: collection, call, outcome: outcome)
  }

  // MARK: Selecting

  /// Lends each entity that the filter selects to `body`, ordered by id: in pages that nothing moves, however
  /// many there are. With the query's fields only, if the backend can select by itself. Memory: one entity.
  package func each(
    of query: Query, in collection: String, _ call: Call,
    _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    // What a filter is about may be left out by the fields.
    let matcher = Matcher(query.isRemote ? .everything : query.filter)
    var wanted = query.selection.remoteSuperset
    if query.isRemote { wanted.fields = query.fields }
    wanted.sort = [Query.SortKey(.id)]
    wanted.limit = Self.pageSize
    var call = call
    // What the backend counts is more than what is selected here.
    call.counted = nil
    var last: String?
    while true {
      let before = last
      // An answer that broke off is taken up behind what it had.
      let received = try call.repeating { () throws(StoreError) in
        var page = wanted
        if let last { page = page.and(.field(.id, [.compare(.greater, .string(last))])) }
        return try receive(page, in: collection, call, matcher, &last, body).count
      }
      guard received > 0, let last, !last.utf8.elementsEqual((before ?? "").utf8) else { return }
    }
  }

  /// What the filter selects, in the order in which the backend has it.
  private func select(
    _ query: Query, in collection: String, _ call: Call
  ) throws(StoreError) -> (entities: [[UInt8]], answer: ReadAnswer) {
    var selected: [[UInt8]] = []
    var uncounted = call
    uncounted.counted = nil
    var last: String?
    let (first, count) = try receive(
      query.remoteSuperset, in: collection, uncounted, Matcher(query.filter), &last
    ) { selected.append(Array($0)) }
    if count >= Self.pageSize {
      // It may have been cut: again, in pages.
      selected = []
      try each(of: query, in: collection, call) { selected.append(Array($0)) }
    }
    return (selected, first)
  }

  /// Lends what one answer has of what is wanted to `body`; tells how many entities it had. `last` is the
  /// last id that it got to.
  private func receive(
    _ query: Query, in collection: String, _ call: Call, _ matcher: Matcher,
    _ last: inout String?, _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) -> (answer: ReadAnswer, count: Int) {
    var splitter = ArraySplitter()
    var count = 0
    let answer = try remote.find(query, in: collection, call) { (piece) throws(StoreError) in
      do throws(JSONError) { try splitter.append(piece) } catch { throw .badAnswer(error) }
      try Self.lend(&splitter, matcher, &count, &last, body)
    }
    do throws(JSONError) { try splitter.finish() } catch { throw .badAnswer(error) }
    try Self.lend(&splitter, matcher, &count, &last, body)
    return (answer, count)
  }

  private static func lend(
    _ splitter: inout ArraySplitter, _ matcher: Matcher, _ count: inout Int, _ last: inout String?,
    _ body: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    try splitter.take { (bytes, outlines) throws(StoreError) in
      for outline in outlines {
        let entity = UnsafeRawBufferPointer(rebasing: bytes[outline.range])
        let isWanted: Bool
        do throws(QueryError) { isWanted = try matcher.matches(entity) } catch {
          throw StoreError(error)
        }
        if isWanted { try body(entity) }
        count += 1
        last = outline.id ?? last
      }
    }
  }
}

extension Query {
  /// Skip and limit.
  fileprivate func paged(_ entities: ArraySlice<[UInt8]>) -> ArraySlice<[UInt8]> {
    let rest = entities.dropFirst(skip)
    return limit.map { rest.prefix($0) } ?? rest
  }

  /// Entities in the query's order, its page of them, with its fields.
  package func shown(_ entities: [[UInt8]]) -> [[UInt8]] {
    var ordered = entities[...]
    if let sorter {
      let keyed = entities.map { (key: sorter.key(of: $0) + $0.idKey, entity: $0) }
      ordered = keyed.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.entity)[...]
    }
    let page = Array(paged(ordered))
    guard let projection else { return page }
    return page.map { projection.apply(to: $0) }
  }
}

extension [UInt8] {
  /// What ties are broken by.
  fileprivate var idKey: [UInt8] {
    (try? EntityScanner.outline(of: self))?.id.map { Array($0.utf8) } ?? []
  }
}

extension [[UInt8]] {
  /// Hands the entities over as one JSON array.
  fileprivate func hand(
    to receive: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) {
    var text: [UInt8] = [UInt8(ascii: "[")]
    for (place, entity) in enumerated() {
      if place > 0 { text.append(UInt8(ascii: ",")) }
      text += entity
    }
    text.append(UInt8(ascii: "]"))
    let result = text.withUnsafeBytes { bytes -> Result<Void, StoreError> in
      Result { () throws(StoreError) in try receive(bytes) }
    }
    try result.get()
  }
}
