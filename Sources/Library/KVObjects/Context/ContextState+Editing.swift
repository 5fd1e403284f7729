internal import KVBase
internal import KVJSON
internal import KVSync

/// Unsaved changes.
extension ContextState {
  /// Adds a new object; gives its id, which a store that chooses ids replaces at the save.
  mutating func insert(_ record: [UInt8], into collection: String) throws(StoreError) -> ObjectID {
    let format = try store.format(of: collection)
    let outline: EntityOutline
    do throws(JSONError) {
      outline = try EntityScanner.outline(of: record, format, isInput: true)
    } catch {
      throw StoreError(error)
    }
    if let key = outline.id {
      let id = current(ObjectID(collection, key))
      if let change = changes[id], change.body == nil {
        // What was deleted here and not saved becomes an update.
        let old = try RecordMembers(change.base?.values.body)
        put(try kept(of: old, format).replacing(RecordMembers(record)), id, base: change.base)
        return id
      }
      guard changes[id] == nil && rows.value(for: id)?.values == nil else {
        throw .conditionFailed(key, "exists already")
      }
      put(record, id, base: nil)
      return id
    }
    if store.choosesIDs {
      let id = ObjectID(collection, "new-" + Identifier.entity())
      temporary.insert(id)
      put(record, id, base: nil)
      return id
    }
    guard format.makesIDs else {
      throw StoreError(.invalid, "A new object needs its id: \(format.idText).")
    }
    let id = ObjectID(collection, Identifier.entity())
    let body = record.withBorrowedBytes {
      EntityEditing.inserting(id: id.key.text, into: $0, outline: outline, format: format)
    }
    put(body, id, base: nil, hasNewID: true)
    return id
  }

  /// Changes members of an object, or all of them: then those that are not named are removed, except the id and what the
  /// backend makes. `.notFound` if there is no such object.
  mutating func update(
    _ id: ObjectID, _ record: [UInt8], replacingAll: Bool
  ) throws(StoreError) {
    let format = try format(of: id)
    let given = try checked(record, id, format: format)
    let base = try base(of: id)
    guard let now = changes[id].map(\.body) ?? base?.values.body else { throw Self.notFound(id) }
    let old = try RecordMembers(now)
    let body =
      replacingAll
      ? try kept(of: old, format).replacing(given) : old.replacing(given)
    put(body, id, base: base, hasNewID: changes[id]?.hasNewID ?? false)
  }

  /// The members that a new state of an object has without naming them.
  private func kept(of old: RecordMembers, _ format: RecordFormat) throws(StoreError)
    -> RecordMembers
  {
    var writer = JSONObjectWriter()
    for name in old.names where format.isReserved(name.text) {
      if let value = old[name] { writer.add(name.text, json: value) }
    }
    return try RecordMembers(writer.finish())
  }

  private func checked(
    _ record: [UInt8], _ id: ObjectID, format: RecordFormat
  ) throws(StoreError) -> RecordMembers {
    let outline: EntityOutline
    do throws(JSONError) {
      outline = try EntityScanner.outline(of: record, format, isInput: true)
    } catch {
      throw StoreError(error)
    }
    guard outline.id.map({ current(ObjectID(id.collection, $0)) == id }) ?? true else {
      throw StoreError(.invalid, "The id of an object cannot be changed.")
    }
    return try RecordMembers(record)
  }

  /// Deletes an object. `.notFound` if there is none.
  mutating func delete(_ id: ObjectID) throws(StoreError) {
    let base = try base(of: id)
    guard changes[id].map({ $0.body != nil }) ?? (base != nil) else { throw Self.notFound(id) }
    put(nil, id, base: base)
  }

  /// Records what the next save is to make of an object.
  mutating func put(_ body: [UInt8]?, _ id: ObjectID, base: Base?, hasNewID: Bool = false) {
    let before = changes[id].map(\.body) ?? base?.values.body
    undoing.record(UndoHistory.Step(id: id, before: before, after: body, hasNewID: hasNewID))
    set(body, id, base: base, hasNewID: hasNewID)
  }

  private mutating func set(_ body: [UInt8]?, _ id: ObjectID, base: Base?, hasNewID: Bool) {
    let isNothing =
      body.map { base?.isExact == true && Self.isSame($0, as: base?.values.body) } ?? (base == nil)
    guard !isNothing else { return drop(id) }
    if changes.updateValue(Change(base: base, body: body, hasNewID: hasNewID), forKey: id) == nil {
      order.append(id)
    }
  }

  /// Whether a record has the members of another one. Those of another length are not looked into.
  private static func isSame(_ body: [UInt8], as other: [UInt8]?) -> Bool {
    guard let other, body.count == other.count else { return false }
    guard body != other else { return true }
    guard let left = try? RecordMembers(body), let right = try? RecordMembers(other) else {
      return false
    }
    return left == right
  }

  /// Forgets the change of an object: it is as it was read.
  mutating func drop(_ id: ObjectID) {
    guard let change = changes.removeValue(forKey: id) else { return }
    if let base = change.base, base.isExact, rows.value(for: id) == nil {
      keep(base.values, of: id, in: Batch([id]))
    }
    if order.count > 2 * changes.count + 64 { order = changed.map(\.id) }
  }

  // MARK: Undo

  /// Takes back the last group of edits; false: there is none.
  mutating func undo() throws(StoreError) -> Bool {
    guard let steps = undoing.takeUndo() else { return false }
    for step in steps { try apply(step.before, inPlaceOf: step.after, step) }
    return true
  }

  mutating func redo() throws(StoreError) -> Bool {
    guard let steps = undoing.takeRedo() else { return false }
    for step in steps { try apply(step.after, inPlaceOf: step.before, step) }
    return true
  }

  /// Makes of an object what it was, property by property: what has changed since then stays.
  private mutating func apply(
    _ body: [UInt8]?, inPlaceOf other: [UInt8]?, _ step: UndoHistory.Step
  ) throws(StoreError) {
    let id = current(step.id)
    let base = try base(of: id)
    let now = changes[id].map(\.body) ?? base?.values.body
    var target = body
    if let body, let other, let now, now != other {
      target = try MergeConflict.merged(
        read: other, object: body, stored: now, winner: .object, format: format(of: id))
    }
    set(target, id, base: base, hasNewID: step.hasNewID)
  }

  /// Drops all unsaved changes, and what could be undone.
  mutating func rollback() {
    for id in Array(changes.keys) { drop(id) }
    order = []
    temporary = []
    unreported = []
    conflicts = []
    undoing.removeAll()
  }
}
