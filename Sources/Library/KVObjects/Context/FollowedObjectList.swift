internal import KVBase
internal import KVQuery
internal import KVSync

/// A fetch of a context that can be made again.
struct RepeatableFetch: Sendable {
  let request: ResultsRequest
  let query: Query
  let options: FetchingOptions
}

/// A list, and what has found it.
struct FetchedObjectList: Sendable {
  var list: ObjectList
  let fetch: RepeatableFetch

  var collection: RecordID { list.collection }
  var query: Query { fetch.query }
}

/// What a list has become.
struct RenewedObjectList: Sendable {
  let list: ObjectList
  let changes: ListChanges
  /// What it shows of the objects with unsaved changes.
  let unsaved: [ObjectID: [UInt8]]
}

/// Follows the fetch of a list: the unsaved changes of its context, and what others have saved. Objects that others have changed
/// and that are not changed here become faults, and so are read anew.
///
/// `@unchecked Sendable`: one thread at a time, as `FollowedRecords` demands; `end` touches only what is safe from any.
final class FollowedObjectList: FollowedRecords, @unchecked Sendable {
  private let context: ObjectContext
  private let stored: any FollowedObjects
  private let listener: Int
  private var list: FetchedObjectList
  /// What the list showed of the objects with unsaved changes.
  private var unsaved: [ObjectID: [UInt8]]
  /// What may have been changed since the list was made what it is.
  private var suspects: [ObjectID] = []
  private var isFirst = true

  init(
    _ list: FetchedObjectList, in context: ObjectContext, unsaved: [ObjectID: [UInt8]],
    stored: any FollowedObjects, signal: @escaping @Sendable () -> Void
  ) {
    self.list = list
    self.context = context
    self.unsaved = unsaved
    self.stored = stored
    listener = context.addListener(signal)
  }

  func changes() throws(StoreError) -> (records: any RecordSource, changes: ListChanges)? {
    suspects += try stored.changes()
    // What was changed between the fetch and now: objects that are not in the cache were not delivered.
    let all = isFirst ? list.list.ids + suspects : suspects
    guard
      let next = try context.renew(list, suspects: all, includesFaults: !isFirst, unsaved: unsaved)
    else { return nil }
    suspects = []
    isFirst = false
    list.list = next.list
    unsaved = next.unsaved
    return next.changes.isEmpty ? nil : (next.list, next.changes)
  }

  func end() {
    context.removeListener(listener)
    stored.end()
  }
}

extension ContextState {
  /// What the fetch of a list finds now, and what has changed by that. `suspects`: see `forgetOutdated`; `unsaved`: what the
  /// list showed of objects with unsaved changes.
  mutating func renew(
    _ list: FetchedObjectList, suspects: [ObjectID], includesFaults: Bool,
    unsaved: [ObjectID: [UInt8]]
  ) throws(StoreError) -> RenewedObjectList {
    let fetch = list.fetch
    let former = list.list.ids.map { current($0) }
    let outdated = try forgetOutdated(suspects, includesFaults: includesFaults)
    let found = try self.fetch(
      fetch.request, fetch.query, in: list.collection, options: fetch.options)
    guard case .ids(let ids) = found else {
      throw StoreError(.proto, "The store gave no objects.")
    }
    let changes = ListChanges(from: former, to: ids) { (_, position) in
      outdated.contains(ids[position]) || isModified(ids[position], from: unsaved[ids[position]])
    }
    // What is gone from the list may have been changed by others.
    for position in changes.deletions where self.changes[former[position]] == nil {
      rows.remove(former[position])
    }
    let next = list.list.renewed(ids)
    lists.append(WeakList(value: next))
    return RenewedObjectList(
      list: next, changes: changes, unsaved: self.unsaved(in: list.collection))
  }

  /// What a list shows of objects of its collection with unsaved changes.
  func unsaved(in collection: RecordID) -> [ObjectID: [UInt8]] {
    var bodies: [ObjectID: [UInt8]] = [:]
    for (id, change) in changes where id.collection == collection { bodies[id] = change.body }
    return bodies
  }

  /// Makes faults of those of the objects that are stored in another version than was read. Returns these, and with
  /// `includesFaults` those that were faults before.
  mutating func forgetOutdated(
    _ suspects: [ObjectID], includesFaults: Bool
  ) throws(StoreError) -> Set<ObjectID> {
    var outdated: Set<ObjectID> = []
    var known: [ObjectID] = []
    for id in suspects where changes[id] == nil {
      if rows.value(for: id) != nil {
        known.append(id)
      } else if includesFaults {
        outdated.insert(id)
      }
    }
    while !known.isEmpty {
      let found = try store.values(of: known, maxBytes: max(1, options.cacheBytes / 2))
      guard (1...known.count).contains(found.count) else {
        throw StoreError(
          .proto, "The store gave the values of other objects than it was asked for.")
      }
      for (id, values) in zip(known, found)
      where rows.value(for: id)?.values?.version != values?.version {
        rows.remove(id)
        outdated.insert(id)
      }
      known.removeFirst(found.count)
    }
    if !outdated.isEmpty { related.removeAll() }
    return outdated
  }

  /// Whether a list that showed `before` of an object, or what was stored, shows something else now.
  mutating func isModified(_ id: ObjectID, from before: [UInt8]?) -> Bool {
    let now = changes[id]?.body
    guard let before, now == nil else { return before != now }
    return rows.value(for: id)?.values?.body != before
  }
}
