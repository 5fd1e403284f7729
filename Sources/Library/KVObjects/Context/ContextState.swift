internal import KVBase
internal import KVJSON
internal import KVSync

/// All that a context knows, to be reached under its lock.
struct ContextState {
  /// What was read of one object.
  struct Row: Sendable {
    /// Nil: there is no such object.
    var values: ObjectValues?
    /// The objects that were read together with it: their relationships are followed together, too.
    let batch: Batch

    /// What it costs the cache.
    var size: Int { (values?.body.count ?? 0) + 200 }
  }

  final class Batch: Sendable {
    let ids: [ObjectID]
    init(_ ids: [ObjectID]) { self.ids = ids }
  }

  /// The stored state that a change starts from.
  struct Base: Sendable, Equatable {
    var values: ObjectValues
    /// Whether the body is that of the version. If not, the body is a later one: the object had left the cache.
    var isExact = true
  }

  /// What the next save is to make of an object: an insertion (no base), an update or a deletion (no body).
  struct Change: Sendable, Equatable {
    var base: Base?
    var body: [UInt8]?
    /// Whether the id was made by the context.
    var hasNewID = false
  }

  /// How often the application holds an object, and the version of it that was read.
  struct Interest: Sendable {
    var count = 0
    var version: Int64?
  }

  struct Related: Hashable, Sendable {
    let id: ObjectID
    let name: RecordID
  }

  struct WeakList: Sendable {
    weak var value: ObjectList?
  }

  let store: any ObjectStore
  let options: ContextOptions
  let relationships: Relationships
  var rows: RecentCache<ObjectID, Row>
  /// The ids that to-many relationships lead to, as they are stored.
  var related: RecentCache<Related, [ObjectID]>
  var changes: [ObjectID: Change] = [:]
  /// The changed objects in the order of their first change; may name some that are not changed any more.
  var order: [ObjectID] = []
  var interests: [ObjectID: Interest] = [:]
  /// The permanent ids of objects that were known by temporary ones.
  var aliases: [ObjectID: ObjectID] = [:]
  var temporary: Set<ObjectID> = []
  /// The permanent ids that the application was not told of: the save that has obtained them has failed.
  var unreported: [PermanentID] = []
  var undoing = UndoHistory()
  /// What the last save failed of.
  var conflicts: [MergeConflict] = []
  var lists: [WeakList] = []
  var statistics = ContextStatistics()
  var isClosed = false

  init(_ store: any ObjectStore, _ options: ContextOptions) throws(StoreError) {
    self.store = store
    self.options = options
    relationships = try Relationships(store.relationships + options.relationships)
    rows = RecentCache(capacity: max(1, options.cacheBytes / 2))
    related = RecentCache(capacity: max(1, options.cacheBytes / 128))
  }

  /// The id that an object has now.
  func current(_ id: ObjectID) -> ObjectID { aliases[id] ?? id }

  func requireOpen() throws(StoreError) {
    if isClosed { throw StoreError(.misuse, "The context is closed.") }
  }

  /// The changes in their order.
  var changed: [(id: ObjectID, change: Change)] {
    var seen: Set<ObjectID> = []
    return order.compactMap { id in
      guard seen.insert(id).inserted, let change = changes[id] else { return nil }
      return (id, change)
    }
  }

  static func notFound(_ id: ObjectID) -> StoreError {
    var error = StoreError(.notFound, "There is no object with this id.")
    error.id = id.key.text
    return error
  }
}

/// What a context has cost.
package struct ContextStatistics: Sendable, Equatable {
  /// How often the store was asked for values.
  package var reads = 0
  /// How often the store was asked for relationships.
  package var relationshipReads = 0
  package var fetches = 0
  package var saves = 0
  package var cachedObjects = 0
  package var cachedBytes = 0
  /// How many objects have unsaved changes.
  package var changes = 0
  /// How many objects the application holds.
  package var held = 0
}
