internal import KVBase
package import KVJSON
package import KVQuery
package import KVSync

/// Where the objects of contexts are kept: what `NSIncrementalStore` is to Core Data. A context does not know which store it
/// has.
///
/// Safe from any thread; methods block their thread, and are called with no lock but that of the one context.
package protocol ObjectStore: AnyObject, Sendable {
  /// What the store is; the same for each of its contexts and after a relaunch.
  var metadata: ObjectStoreMetadata { get }

  /// How the records of a collection are laid out: which members are the id, and whether that is a text or an integer.
  func format(of collection: String) throws(StoreError) -> RecordFormat

  /// The store's own relationships, from its models; those of a context's options come on top.
  var relationships: [Relationship] { get }

  /// Runs a query over what is stored.
  func fetch(_ request: ObjectFetch) throws(StoreError) -> FetchedObjects

  /// Begins to follow what is stored of a query; `signal`: others, or a save, may have changed something. Throws
  /// `.unsupported` if lists of the store cannot be followed.
  func follow(
    _ query: Query, in collection: String, _ signal: @escaping @Sendable () -> Void
  ) throws(StoreError) -> any FollowedObjects

  /// Reads objects in one go, in the order given; nil for one that does not exist. May end early, but not before the
  /// first one, once what was read has more than `maxBytes`.
  func values(
    of ids: [ObjectID], maxBytes: Int
  ) throws(StoreError) -> [ObjectValues?]

  /// Finds in one go the objects whose members hold the keys of these: for relationships whose key is at the target.
  /// Those of each object come in the order in which they are stored.
  func related(
    _ relationship: Relationship, to ids: [ObjectID]
  ) throws(StoreError) -> RelatedObjects

  /// Whether new objects have temporary ids until `permanentIDs` is asked.
  var choosesIDs: Bool { get }

  /// Chooses the ids of new objects at their first save: one for each, in the order given. The records have none yet. Only
  /// of a store that chooses ids.
  func permanentIDs(
    for objects: [(collection: String, body: [UInt8])]
  ) throws(StoreError) -> [ObjectID]

  /// Writes changes in one step, if each object still has the version that was read.
  func save(_ changes: ObjectSave) throws(StoreError) -> ObjectSaveOutcome

  /// A context holds objects with these ids from now on, or does not any more: a store with a cache of its own may use that.
  func didRegister(_ ids: [ObjectID])
  func didUnregister(_ ids: [ObjectID])

  /// Ends requests that are under way, with `.cancelled`, and lets no other begin. From any thread; may be called again.
  func close()
}

/// What is stored of a query that is followed. One thread at a time, except `end`.
package protocol FollowedObjects: AnyObject, Sendable {
  /// The objects that have been changed since the last call, or since following began, or that the query finds since then.
  func changes() throws(StoreError) -> [ObjectID]

  /// Gives no more signals. From any thread.
  func end()
}

extension ObjectStore {
  /// Nothing tells of the changes of others.
  package func follow(
    _ query: Query, in collection: String, _ signal: @escaping @Sendable () -> Void
  ) -> any FollowedObjects { NothingFollowed() }

  package var relationships: [Relationship] { [] }
  package var choosesIDs: Bool { false }
  package func permanentIDs(
    for objects: [(collection: String, body: [UInt8])]
  ) throws(StoreError) -> [ObjectID] {
    throw StoreError(.internal, "The store does not choose ids.")
  }
  package func didRegister(_ ids: [ObjectID]) {}
  package func didUnregister(_ ids: [ObjectID]) {}
}

private final class NothingFollowed: FollowedObjects {
  func changes() -> [ObjectID] { [] }
  func end() {}
}

/// What identifies a store.
package struct ObjectStoreMetadata: Sendable, Equatable {
  /// The name under which the store's type is registered.
  package let type: String
  /// The same each time that the same data is opened; part of the URIs of its objects.
  package let uuid: String

  /// Throws `.invalid` unless the type is not empty and the UUID consists of 1 to 64 letters, digits and hyphens.
  package init(type: String, uuid: String) throws(StoreError) {
    guard !type.isEmpty else { throw StoreError(.invalid, "A store's type must not be empty.") }
    guard uuid.hasOnlyLettersDigits(and: "-"), (1...64).contains(uuid.utf8.count) else {
      throw StoreError(
        .invalid, "A store's UUID must have 1 to 64 letters, digits and hyphens, not \"\(uuid)\".")
    }
    self.type = type
    self.uuid = uuid
  }
}
