internal import KVBase
internal import KVJSON
internal import KVObjects
internal import KVQuery
internal import KVSync

/// Records of a custom store that were changed otherwise than by the library.
struct AnnouncedChange: Sendable {
  let collection: String
  /// Nil: any records of the collection.
  let keys: [String]?

  /// Reads `[{"collection":…,"ids":[…]},…]`. Throws `.invalid` for anything else, and for ids that the records cannot have.
  static func list(_ json: JSONValue, _ format: RecordFormat) throws(StoreError)
    -> [AnnouncedChange]
  {
    guard let array = json.arrayValue else { throw refusal }
    var changes: [AnnouncedChange] = []
    for change in array {
      guard let collection = change["collection"]?.stringValue, !collection.isEmpty else {
        throw refusal
      }
      guard let ids = change["ids"], !ids.isNull else {
        changes.append(AnnouncedChange(collection: collection, keys: nil))
        continue
      }
      guard let ids = ids.arrayValue else { throw refusal }
      var keys: [String] = []
      for id in ids {
        guard let key = format.key(of: id.arrayValue ?? [id]) else {
          throw StoreError(.invalid, "The store has no records with the id \(id.text).")
        }
        keys.append(key)
      }
      changes.append(AnnouncedChange(collection: collection, keys: keys))
    }
    return changes
  }

  private static var refusal: StoreError {
    StoreError(.invalid, #"Changes are announced as [{"collection":…,"ids":[…]},…]."#)
  }
}

/// Who follows the records of a custom store. Safe from any thread.
final class StoreAnnouncements: Sendable {
  private let followers = Monitor<[ObjectIdentifier: FollowedStoreRecords]>([:])

  func add(_ follower: FollowedStoreRecords) {
    followers.withLock { $0[ObjectIdentifier(follower)] = follower }
  }

  func remove(_ follower: FollowedStoreRecords) {
    _ = followers.withLock { $0.removeValue(forKey: ObjectIdentifier(follower)) }
  }

  /// `changes` nil: any records.
  func announce(_ changes: [AnnouncedChange]?) {
    for follower in followers.withLock({ Array($0.values) }) { follower.hear(changes) }
  }
}

/// What is announced of the records of one collection of a custom store, for a list that is followed.
final class FollowedStoreRecords: FollowedObjects {
  private struct State {
    var ids: [ObjectID] = []
    var isAnything = false
  }

  private let store: CallbackObjectStore
  private let collection: String
  /// What the list selects, whatever its order and page: the context's own changes may move any object into it.
  private let query: Query
  private let signal: @Sendable () -> Void
  private let state = Monitor(State())

  init(
    _ query: Query, in collection: String, of store: CallbackObjectStore,
    _ signal: @escaping @Sendable () -> Void
  ) {
    (self.store, self.collection, self.signal) = (store, collection, signal)
    self.query = query.selection
    store.announcements.add(self)
  }

  func hear(_ changes: [AnnouncedChange]?) {
    let ours = changes?.filter { $0.collection.hasSameBytes(as: collection) }
    if let ours, ours.isEmpty { return }
    state.withLock { state in
      for change in ours ?? [AnnouncedChange(collection: collection, keys: nil)] {
        guard let keys = change.keys else {
          state.isAnything = true
          continue
        }
        state.ids += keys.map { ObjectID(collection, $0) }
      }
    }
    signal()
  }

  func changes() throws(StoreError) -> [ObjectID] {
    let (ids, isAnything) = state.withLock { state in
      defer { (state.ids, state.isAnything) = ([], false) }
      return (state.ids, state.isAnything)
    }
    guard isAnything else { return ids }
    do throws(StoreError) {
      guard case .objects(let found, _) = try store.fetch(ObjectFetch(collection, query, as: .ids))
      else { return ids }
      return ids + found
    } catch {
      // The next call asks again.
      state.withLock { state in
        state.ids += ids
        state.isAnything = true
      }
      throw error
    }
  }

  func end() { store.announcements.remove(self) }
}
