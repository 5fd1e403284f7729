internal import KVBase
internal import KVJSON
internal import KVQuery
internal import KVSync

/// Relationship faults: followed for all objects that were read together.
extension ContextState {
  /// The ids of the objects that a relationship of this object leads to.
  mutating func related(_ id: ObjectID, _ name: String) throws(StoreError) -> [ObjectID] {
    let relationship = try relationships.named(name, of: id.collection)
    guard let body = try body(id) else { throw Self.notFound(id) }
    let batch = rows.value(for: id)?.batch.ids ?? [id]
    switch relationship.side {
    case .source:
      let target = try self.target(of: body, relationship)
      if let target, changes[target] == nil, rows.value(for: target) == nil {
        try loadTargets(of: batch, relationship, first: target)
      }
      return target.map { [$0] } ?? []
    case .target:
      if related.value(for: Related(id: id, name: relationship.name)) == nil {
        try loadRelated(
          of: temporary.contains(id) ? [] : [id] + batch.filter { $0 != id }, relationship)
      }
      return try withOwnChanges(
        related.value(for: Related(id: id, name: relationship.name)) ?? [], of: id, relationship)
    }
  }

  /// How many queries a fetch may add for what it prefetches.
  private static let maxPrefetches = 100

  /// Follows relationships of many objects, with one query for each component of a path. `.invalid` if that are too many.
  mutating func prefetch(_ paths: [String], of ids: [ObjectID], in collection: RecordID)
    throws(StoreError)
  {
    let paths = paths.map { $0.split(separator: ".").map(String.init) }
    guard paths.reduce(0, { $0 + $1.count }) <= Self.maxPrefetches else {
      throw StoreError(
        .invalid, "The paths to prefetch have more than \(Self.maxPrefetches) relationships.")
    }
    var done: Set<String> = []
    for path in paths {
      var (level, levelCollection, prefix) = (ids, collection, "")
      for component in path {
        let relationship = try relationships.named(component, of: levelCollection)
        prefix += "." + component
        if done.insert(prefix).inserted { try prefetch(relationship, of: level) }
        level = try followed(relationship, from: level)
        levelCollection = relationship.target
      }
    }
  }

  private mutating func prefetch(
    _ relationship: Relationship, of ids: [ObjectID]
  ) throws(StoreError) {
    switch relationship.side {
    case .source:
      try loadAll(ids)
      try loadTargets(of: ids, relationship, first: nil)
    case .target: try loadRelated(of: ids.filter { !temporary.contains($0) }, relationship)
    }
  }

  /// Where a relationship leads from objects for which it was followed.
  private mutating func followed(
    _ relationship: Relationship, from ids: [ObjectID]
  ) throws(StoreError) -> [ObjectID] {
    var found: [ObjectID] = []
    var seen: Set<ObjectID> = []
    for id in ids {
      let next: [ObjectID]
      switch relationship.side {
      case .source:
        next =
          try body(id).flatMap { (body) throws(StoreError) in try target(of: body, relationship) }
          .map { [$0] } ?? []
      case .target: next = related.value(for: Related(id: id, name: relationship.name)) ?? []
      }
      found += next.filter { seen.insert($0).inserted }
    }
    return found
  }

  // MARK: Keys in the source

  /// The object that a record refers to; nil: none.
  func target(of body: [UInt8], _ relationship: Relationship) throws(StoreError) -> ObjectID? {
    let members = try RecordMembers(body)
    var values: [JSONValue] = []
    for key in relationship.keys {
      guard let value = members.value(key) else { return nil }
      values.append(value)
    }
    let format = try store.format(of: relationship.target.text)
    // A temporary id is a text, whatever ids the store makes of it.
    guard let key = format.key(of: values) ?? values.first?.stringValue else { return nil }
    return current(ObjectID(relationship.target, key))
  }

  private mutating func loadTargets(
    of ids: [ObjectID], _ relationship: Relationship, first: ObjectID?
  ) throws(StoreError) {
    var targets = first.map { [$0] } ?? []
    for id in ids {
      let body = changes[id].map(\.body) ?? rows.value(for: id)?.values?.body
      if let body, let target = try target(of: body, relationship) { targets.append(target) }
    }
    let reads = statistics.reads
    try loadAll(targets)
    statistics.relationshipReads += statistics.reads - reads
    statistics.reads = reads
  }

  // MARK: Keys in the target

  private mutating func loadRelated(
    of ids: [ObjectID], _ relationship: Relationship
  ) throws(StoreError) {
    let missing = ids.filter { related.value(for: Related(id: $0, name: relationship.name)) == nil }
    guard !missing.isEmpty else { return }
    statistics.relationshipReads += 1
    let answer = try store.related(relationship, to: missing)
    guard answer.ids.count == missing.count,
      answer.ids.allSatisfy({ $0.allSatisfy { $0.collection == relationship.target } })
    else {
      throw StoreError(.proto, "The store gave other objects than those of the relationship.")
    }
    keep(arrived: answer.values, in: Batch(answer.ids.flatMap { $0 }))
    for (id, found) in zip(missing, answer.ids).reversed() {
      related.keep(found, for: Related(id: id, name: relationship.name), cost: 1 + found.count)
    }
  }

  /// What is stored, without what has another key here, and with what has this one here alone.
  private func withOwnChanges(
    _ stored: [ObjectID], of id: ObjectID, _ relationship: Relationship
  ) throws(StoreError) -> [ObjectID] {
    let back = Relationship(
      "", from: relationship.target.text, to: relationship.source.text, keys: relationship.keys,
      at: .source, isToMany: false)
    var own: [ObjectID] = []
    for (changed, change) in self.changed where changed.collection == relationship.target {
      if let body = change.body, try target(of: body, back) == id { own.append(changed) }
    }
    let kept = stored.filter { changes[$0] == nil || own.contains($0) }
    return kept + own.filter { !kept.contains($0) }
  }
}
