internal import KVBase
internal import KVJSON
internal import KVSync

/// What a save has done.
package struct ContextSaveResult: Sendable {
  package var inserted: [ObjectID] = []
  package var updated: [ObjectID] = []
  package var deleted: [ObjectID] = []
  /// The objects whose conflicts the merge policy has decided.
  package var merged: [ObjectID] = []
  /// The permanent ids of objects that had temporary ones.
  package var permanentIDs: [PermanentID] = []

  package init() {}
}

/// The id that a store has chosen for an object, and the one that the object had before.
package typealias PermanentID = (temporary: ObjectID, permanent: ObjectID)

extension ContextState {
  /// How often a save begins again because others write the same objects meanwhile.
  private static let maxAttempts = 100

  /// Makes all changes in one step. Under a policy that decides a conflict it decides, and tries again; else the save fails
  /// with `.conflict`, nothing is written, `conflicts` tells of what, and the changes stay.
  mutating func save() throws(StoreError) -> ContextSaveResult {
    conflicts = []
    var result = ContextSaveResult()
    try choosePermanentIDs()
    var draft = changed
    var dropped: [ObjectValuesOf] = []
    for _ in 0..<Self.maxAttempts {
      let request = Self.request(draft)
      guard !request.isEmpty else {
        finish(dropped)
        return finish(request, [], of: draft, in: &result)
      }
      statistics.saves += 1
      switch try store.save(request) {
      case .saved(let values):
        guard values.count == request.inserted.count + request.updated.count else {
          throw StoreError(.proto, "The store gave the versions of other objects than were saved.")
        }
        finish(dropped)
        return finish(request, values, of: draft, in: &result)
      case .conflicts(let stored):
        dropped += try resolve(stored, in: &draft, result: &result)
      }
    }
    throw StoreError(
      .conflict, "Other writers have changed the objects at each attempt to save them.")
  }

  private typealias ObjectValuesOf = (id: ObjectID, values: ObjectValues?)

  private static func request(_ changes: [(id: ObjectID, change: Change)]) -> ObjectSave {
    var request = ObjectSave()
    for (id, change) in changes {
      let write = ObjectSave.Change(
        id, version: change.base?.values.version, body: change.body ?? [],
        hasNewID: change.hasNewID)
      switch (change.base, change.body) {
      case (nil, nil): break
      case (nil, _?): request.inserted.append(write)
      case (_?, nil): request.deleted.append(write)
      case (_?, _?): request.updated.append(write)
      }
    }
    return request
  }

  /// Lays the changes that met other versions over those, as the policy says. Returns the objects whose changes were
  /// dropped, with what is stored.
  private mutating func resolve(
    _ stored: [ObjectSaveOutcome.Stored], in draft: inout [(id: ObjectID, change: Change)],
    result: inout ContextSaveResult
  ) throws(StoreError) -> [ObjectValuesOf] {
    let positions = Dictionary(uniqueKeysWithValues: draft.enumerated().map { ($1.id, $0) })
    guard !stored.isEmpty else {
      throw StoreError(.proto, "The store refused a save without a conflict.")
    }
    var open: [MergeConflict] = []
    var dropped: [ObjectID: ObjectValues?] = [:]
    for found in stored {
      guard let position = positions[found.id] else {
        throw StoreError(.proto, "The store has a conflict of an object that was not saved.")
      }
      let conflict = try conflict(
        draft[position].id, draft[position].change, stored: found.values)
      guard let resolution = try options.mergePolicy.resolution(of: conflict) else {
        open.append(conflict)
        continue
      }
      if try conflict.agreement() == nil { result.merged.append(found.id) }
      switch resolution {
      case .useStored: dropped.updateValue(found.values, forKey: found.id)
      case .write(let body):
        draft[position].change = Change(
          base: found.values.map { Base(values: $0) }, body: body,
          hasNewID: draft[position].change.hasNewID)
      }
    }
    guard let first = open.first else {
      draft.removeAll { dropped[$0.id] != nil }
      return dropped.map { ($0.key, $0.value) }
    }
    conflicts = open
    var error = StoreError(
      .conflict, "\(open.count) of the objects were changed after the context had read them.")
    error.id = first.id.key.text
    throw error
  }

  private func conflict(
    _ id: ObjectID, _ change: Change, stored: ObjectValues?
  ) throws(StoreError) -> MergeConflict {
    MergeConflict(
      id: id, readVersion: change.base?.values.version, storedVersion: stored?.version,
      read: change.base?.values.body, object: change.body, stored: stored?.body,
      isReadExact: change.base?.isExact ?? true, format: try format(of: id))
  }

  /// Ends a conflict of the last save: the change is one of the stored state from now on.
  mutating func resolve(_ id: ObjectID, _ answer: JSONObject) throws(StoreError) {
    guard let index = conflicts.firstIndex(where: { $0.id == id }) else {
      throw StoreError(.notFound, "The last save had no conflict of this object.")
    }
    let conflict = conflicts[index]
    let stored = conflict.stored.flatMap { body in
      conflict.storedVersion.map { ObjectValues(body, version: $0) }
    }
    let resolution = try MergeResolution(answer, of: conflict)
    changes[id] = nil
    switch resolution {
    case .useStored: finish([(id, stored)])
    case .write(let body):
      rows.remove(id)
      guard body != nil || stored != nil else { break }
      let (members, there) = (try RecordMembers(body), try RecordMembers(stored?.body))
      if body == nil || stored == nil || members != there {
        changes[id] = Change(base: stored.map { Base(values: $0) }, body: body)
        if !order.contains(id) { order.append(id) }
      } else {
        finish([(id, stored)])
      }
    }
    conflicts.remove(at: index)
  }

  // MARK: Afterwards

  /// Objects are what is stored.
  private mutating func finish(_ objects: [ObjectValuesOf]) {
    for (id, values) in objects {
      changes[id] = nil
      know(values, of: id)
    }
  }

  private mutating func finish(
    _ request: ObjectSave, _ values: [ObjectValues], of draft: [(id: ObjectID, change: Change)],
    in result: inout ContextSaveResult
  ) -> ContextSaveResult {
    let written = (request.inserted + request.updated).map(\.id)
    // The draft has all that is changed.
    changes = [:]
    order = []
    for (id, values) in zip(written, values) { know(values, of: id) }
    for change in request.deleted { know(nil, of: change.id) }
    // What relationships lead to depends on the keys in other objects.
    if !draft.isEmpty { related.removeAll() }
    result.inserted = request.inserted.map(\.id)
    result.updated = request.updated.map(\.id)
    result.deleted = request.deleted.map(\.id)
    result.permanentIDs = takePermanentIDs()
    return result
  }

  /// Notes what is stored of an object that is not changed here.
  private mutating func know(_ values: ObjectValues?, of id: ObjectID) {
    keep(values, of: id, in: rows.value(for: id)?.batch ?? Batch([id]))
    if interests[id] != nil { interests[id]?.version = values?.version }
  }

  // MARK: Permanent ids

  /// Asks a store that chooses ids for those of new objects. Gives these, and those of a save that has failed afterwards.
  mutating func obtainPermanentIDs() throws(StoreError) -> [PermanentID] {
    try choosePermanentIDs()
    return takePermanentIDs()
  }

  private mutating func takePermanentIDs() -> [PermanentID] {
    defer { unreported = [] }
    return unreported
  }

  /// Asks for the permanent ids of new objects, in the order of their insertion. References to the temporary ones follow.
  private mutating func choosePermanentIDs() throws(StoreError) {
    guard !temporary.isEmpty else { return }
    let new = changed.filter { temporary.contains($0.id) && $0.change.body != nil }
    guard !new.isEmpty else { return }
    let ids = try store.permanentIDs(
      for: new.map { ($0.id.collection.text, $0.change.body ?? []) })
    guard ids.count == new.count, Set(ids).count == ids.count,
      zip(ids, new).allSatisfy({ $0.collection == $1.id.collection && !$0.key.text.isEmpty }),
      ids.allSatisfy({ changes[$0] == nil })
    else {
      throw StoreError(
        .proto, "The store did not give each of \(new.count) new objects an id of its own.")
    }
    let pairs: [PermanentID] = zip(new.map(\.id), ids).map { ($0, $1) }
    let names = Dictionary(uniqueKeysWithValues: pairs.map { ($0.temporary, $0.permanent) })
    // First all that may fail.
    var bodies: [ObjectID: [UInt8]] = [:]
    for (id, change) in changed {
      guard let body = change.body else { continue }
      bodies[id] = try permanent(body, of: id, names)
    }
    for (id, body) in bodies { changes[id]?.body = body }
    for (old, new) in pairs { rename(old, new) }
    order = order.map { names[$0] ?? $0 }
    var history = undoing
    history.edit { step in
      UndoHistory.Step(
        id: names[step.id] ?? step.id,
        before: step.before.map { (try? permanent($0, of: step.id, names)) ?? $0 },
        after: step.after.map { (try? permanent($0, of: step.id, names)) ?? $0 },
        hasNewID: step.hasNewID)
    }
    undoing = history
    unreported += pairs
  }

  private mutating func rename(_ old: ObjectID, _ new: ObjectID) {
    changes[new] = changes.removeValue(forKey: old)
    if let interest = interests.removeValue(forKey: old) { interests[new] = interest }
    for (alias, target) in aliases where target == old { aliases[alias] = new }
    aliases[old] = new
    temporary.remove(old)
  }

  /// A record with its own permanent id, and with those of the objects that it refers to.
  private func permanent(
    _ body: [UInt8], of id: ObjectID, _ names: [ObjectID: ObjectID]
  ) throws(StoreError) -> [UInt8] {
    let members = try RecordMembers(body)
    var changes = JSONObjectWriter()
    for relationship in relationships.held(by: id.collection) {
      guard relationship.keys.count == 1, let key = relationship.keys.first,
        let text = members.value(key)?.stringValue,
        let target = names[ObjectID(relationship.target, text)],
        let value = try store.format(of: relationship.target.text).values(ofKey: target.key.text)?
          .first
      else { continue }
      changes.add(key, value)
    }
    if let own = names[id] {
      let format = try format(of: id)
      guard let values = format.values(ofKey: own.key.text) else {
        throw StoreError(
          .proto, "The store gave \"\(own.key)\", which is no id of \(own.collection).")
      }
      for (member, value) in zip(format.id, values) { changes.add(member.name, value) }
    }
    let edit = changes.finish()
    return edit.count > 2 ? members.replacing(try RecordMembers(edit)) : body
  }
}
