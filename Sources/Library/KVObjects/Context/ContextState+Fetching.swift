internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVSync

/// Fetches, with the unsaved changes laid over what is stored.
extension ContextState {
  /// What a fetch has found.
  enum Fetched {
    case ids([ObjectID])
    case rows(any RecordSource)
    case count(Int)
  }

  mutating func fetch(
    _ request: ResultsRequest, _ query: Query, in collection: RecordID,
    options fetching: FetchingOptions
  ) throws(StoreError) -> Fetched {
    let query = query.of(try store.format(of: collection.text))
    let own =
      fetching.includesPendingChanges ? changed.filter { $0.id.collection == collection } : []
    if case .groups = request.content {
      return try ask(ObjectFetch(collection.text, query, as: request.content), of: collection)
    }
    if own.isEmpty {
      let content = request.content.isCount ? request.content : .records
      return try ask(ObjectFetch(collection.text, query, as: content), of: collection)
    }
    // The changed objects may be among those of the page, or push others out of it.
    var wide = query
    wide.skip = 0
    wide.limit = query.limit.map { $0 + query.skip + own.count }
    let fetch = ObjectFetch(collection.text, wide, as: .records)
    guard case .ids(let found) = try ask(fetch, of: collection) else {
      throw StoreError(.proto, "The store gave no objects.")
    }
    let merged = try merged(found, own, of: query).dropFirst(query.skip)
    let page = Array(merged.prefix(query.limit ?? .max))
    return request.content.isCount ? .count(page.count) : .ids(page)
  }

  private mutating func ask(
    _ fetch: ObjectFetch, of collection: RecordID
  ) throws(StoreError) -> Fetched {
    statistics.fetches += 1
    switch try store.fetch(fetch) {
    case .count(let count): return .count(count)
    case .rows(let rows): return .rows(rows)
    case .objects(let ids, let values):
      guard values.isEmpty || values.count == ids.count,
        ids.allSatisfy({ $0.collection == collection })
      else {
        throw StoreError(
          .proto, "The store gave objects of another collection, or other values than ids.")
      }
      for start in stride(from: 0, to: values.count, by: options.batchSize) {
        let range = start..<min(values.count, start + options.batchSize)
        let batch = Batch(Array(ids[range]))
        for position in range where rows.value(for: ids[position]) == nil {
          if let values = values[position] { keep(values, of: ids[position], in: batch) }
        }
      }
      return .ids(ids)
    }
  }

  /// What is stored without the changed objects, and those of them that match, in the query's order.
  private mutating func merged(
    _ found: [ObjectID], _ own: [(id: ObjectID, change: Change)], of query: Query
  ) throws(StoreError) -> [ObjectID] {
    let matcher = query.matcher
    var matching: [ObjectID: [UInt8]] = [:]
    for (id, change) in own {
      guard let body = change.body else { continue }
      do throws(QueryError) {
        if try matcher?.matches(body) ?? true { matching[id] = body }
      } catch {
        throw StoreError(error)
      }
    }
    guard let sorter = query.sorter else {
      let kept = found.filter { changes[$0] == nil || matching[$0] != nil }
      let known = Set(kept)
      return kept + own.map(\.id).filter { matching[$0] != nil && !known.contains($0) }
    }
    var result: [ObjectID] = []
    let kept = found.filter { changes[$0] == nil }
    var next = 0
    let mine = matching.map { (key: sorter.key(of: $0.value), id: $0.key) }.sorted {
      Self.precedes($0, $1)
    }
    for entry in mine {
      var (low, high) = (next, kept.count)
      while low < high {
        let middle = (low + high) / 2
        let body = try stored(kept[middle])?.body ?? Array("{}".utf8)
        if Self.precedes(entry, (sorter.key(of: body), kept[middle])) {
          high = middle
        } else {
          low = middle + 1
        }
      }
      result += kept[next..<low]
      result.append(entry.id)
      next = low
    }
    return result + kept[next...]
  }

  private static func precedes(
    _ left: (key: [UInt8], id: ObjectID), _ right: (key: [UInt8], id: ObjectID)
  ) -> Bool {
    left.key == right.key
      ? left.id.key < right.id.key : left.key.lexicographicallyPrecedes(right.key)
  }
}

extension ResultsRequest.Content {
  fileprivate var isCount: Bool { if case .count = self { true } else { false } }
}

/// What a fetch of a context does besides finding.
package struct FetchingOptions: Sendable {
  /// False: the values of the objects are read at once, as far as the cache has room.
  package var returnsObjectsAsFaults = true
  /// Whether unsaved changes count. Groups are those of what is stored in any case.
  package var includesPendingChanges = true
  /// Relationships of the objects that are followed at once, each with one query: `post`, `comments.author`.
  package var prefetchedKeyPaths: [String] = []

  package init() {}
}
