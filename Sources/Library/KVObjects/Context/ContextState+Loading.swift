internal import KVBase
internal import KVJSON
internal import KVSync

/// Faults: reading objects with the rest of their batches.
extension ContextState {
  /// The object as the context sees it; nil: there is none, or it is deleted here.
  mutating func body(_ id: ObjectID) throws(StoreError) -> [UInt8]? {
    if let change = changes[id] { return change.body }
    let values = try stored(id)
    if interests[id] != nil { interests[id]?.version = values?.version }
    return values?.body
  }

  /// The object as it was last read; reads it, with the rest of its batch, if it is not in the cache.
  mutating func stored(_ id: ObjectID) throws(StoreError) -> ObjectValues? {
    if let row = rows.value(for: id) { return row.values }
    if temporary.contains(id) { return nil }
    return try load(id, with: batch(of: id))
  }

  /// Those that are read when this one is: its batch in an open list, or it alone.
  private mutating func batch(of id: ObjectID) -> [ObjectID] {
    lists.removeAll { $0.value == nil }
    for list in lists.reversed() {
      if let list = list.value, let position = list.position(of: id) {
        return list.batch(at: position, size: options.batchSize)
      }
    }
    return [id]
  }

  /// Reads an object and those of the others that are not here yet, in one go.
  mutating func load(_ id: ObjectID, with others: [ObjectID]) throws(StoreError) -> ObjectValues? {
    let missing =
      [id] + others.filter { $0 != id && changes[$0] == nil && rows.value(for: $0) == nil }
    let found = try read(missing)
    let batch = Batch(others)
    // The one that was asked for comes last: the cache may not have room for all.
    for (id, values) in zip(missing, found).reversed() {
      // That a single one is not there may change; in a list it is an object that was deleted.
      if values != nil || others.count > 1 { keep(values, of: id, in: batch) }
    }
    return found.first ?? nil
  }

  /// Reads objects that are not here yet, all of them.
  mutating func loadAll(_ ids: [ObjectID]) throws(StoreError) {
    var missing = ids.filter {
      changes[$0] == nil && !temporary.contains($0) && rows.value(for: $0) == nil
    }
    var seen: Set<ObjectID> = []
    missing.removeAll { !seen.insert($0).inserted }
    let batches = stride(from: 0, to: missing.count, by: options.batchSize).map {
      Batch(Array(missing[$0..<min(missing.count, $0 + options.batchSize)]))
    }
    guard !missing.isEmpty else { return }
    let found = try read(missing)
    for (index, values) in found.enumerated() {
      keep(values, of: missing[index], in: batches[index / options.batchSize])
    }
  }

  /// Asks the store; checks what it answers.
  private mutating func read(_ ids: [ObjectID]) throws(StoreError) -> [ObjectValues?] {
    statistics.reads += 1
    let found = try store.values(of: ids, maxBytes: max(1, options.cacheBytes / 2))
    guard (1...ids.count).contains(found.count) else {
      throw StoreError(
        .proto, "The store gave the values of \(found.count) objects instead of \(ids.count).")
    }
    return found
  }

  /// Keeps what was read of an object, unless it is changed here.
  mutating func keep(_ values: ObjectValues?, of id: ObjectID, in batch: Batch) {
    guard changes[id] == nil else { return }
    let row = Row(values: values, batch: batch)
    rows.keep(row, for: id, cost: row.size)
  }

  /// Keeps values that came along with ids, unless the context has read the object before.
  mutating func keep(arrived values: [ObjectID: ObjectValues], in batch: Batch) {
    for id in batch.ids where changes[id] == nil && rows.value(for: id) == nil {
      if let values = values[id] { keep(values, of: id, in: batch) }
    }
  }

  /// The stored state that an edit of this object starts from; nil: there is none.
  mutating func base(of id: ObjectID) throws(StoreError) -> Base? {
    if let change = changes[id] { return change.base }
    guard let values = try stored(id) else { return nil }
    // What left the cache and was read again may be newer: the version that the application has seen counts.
    guard let seen = interests[id]?.version, seen != values.version else {
      return Base(values: values)
    }
    return Base(values: ObjectValues(values.body, version: seen), isExact: false)
  }

  // MARK: Interest

  /// The application holds these objects until it releases them as often.
  mutating func hold(_ ids: [ObjectID]) {
    var new: [ObjectID] = []
    for id in ids {
      if interests[id] == nil {
        interests[id] = Interest(version: rows.value(for: id)?.values?.version)
        new.append(id)
      }
      interests[id]?.count += 1
    }
    if !new.isEmpty { store.didRegister(new) }
  }

  mutating func release(_ ids: [ObjectID]) {
    var gone: [ObjectID] = []
    for id in ids {
      guard let count = interests[id]?.count else { continue }
      interests[id]?.count = count - 1
      guard count == 1 else { continue }
      interests[id] = nil
      gone.append(id)
    }
    if !gone.isEmpty { store.didUnregister(gone) }
  }

  // MARK: Refreshing

  /// Forgets what was read of these objects (nil: of all), so that they are faults again. Unsaved changes of them are dropped,
  /// or laid over what is stored now.
  mutating func refresh(_ ids: [ObjectID]?, keepingChanges: Bool) throws(StoreError) {
    let changed = ids.map { ids in ids.filter { changes[$0] != nil } } ?? Array(changes.keys)
    if let ids {
      for id in ids {
        rows.remove(id)
        interests[id]?.version = nil
      }
    } else {
      rows.removeAll()
      for id in interests.keys { interests[id]?.version = nil }
    }
    related.removeAll()
    guard keepingChanges else {
      for id in changed { changes[id] = nil }
      return
    }
    for id in changed {
      guard let change = changes[id], let base = change.base else { continue }
      changes[id] = nil
      let now = try load(id, with: [id])
      changes[id] = try change.rebased(from: base, onto: now, format(of: id))
      if changes[id] != nil { rows.remove(id) }
    }
  }

  func format(of id: ObjectID) throws(StoreError) -> RecordFormat {
    try store.format(of: id.collection.text)
  }
}

extension ContextState.Change {
  /// The same change of another stored state; nil: nothing is left of it.
  func rebased(
    from base: ContextState.Base, onto stored: ObjectValues?, _ format: RecordFormat
  ) throws(StoreError) -> ContextState.Change? {
    guard let stored else { return body == nil ? nil : Self(base: nil, body: body) }
    guard let body else { return Self(base: ContextState.Base(values: stored), body: nil) }
    let merged = try MergeConflict.merged(
      read: base.values.body, object: body, stored: stored.body, winner: .object, format: format)
    return try RecordMembers(merged) == RecordMembers(stored.body)
      ? nil : Self(base: ContextState.Base(values: stored), body: merged)
  }
}
