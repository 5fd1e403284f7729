internal import KVBase
package import KVJSON
package import KVQuery
internal import KVStorage
package import KVSync

/// Reads and writes of an application over several stores of one tag that happen all at once, or not at all: see
/// kv_transaction_begin. Safe from any thread.
package final class Transaction: Sendable {
  private let storage: Storage
  private let local: any LocalTransaction
  private let context: DataStore.StoreContext

  init(_ storage: Storage, _ context: DataStore.StoreContext) throws(StoreError) {
    self.storage = storage
    self.context = context
    local = try storage.beginTransaction()
  }

  deinit { close() }

  package func find(id: String, in store: DataStore) throws(StoreError) -> [UInt8] {
    try Self.checked(id)
    guard let entity = try local.entity(id, in: collection(of: store)) else {
      throw store.engine.notFound(id)
    }
    return entity
  }

  package func find(
    _ query: Query, in store: DataStore
  ) throws(StoreError) -> any EntityCursor {
    try local.find(store.named(query), in: collection(of: store))
  }

  package func count(_ query: Query, in store: DataStore) throws(StoreError) -> Int {
    try local.count(store.named(query), in: collection(of: store))
  }

  /// Gives the entity as it will be stored.
  package func save(
    _ entity: UnsafeRawBufferPointer, if condition: WriteCondition = .none, in store: DataStore
  ) throws(StoreError) -> [UInt8] {
    let outline = try store.outline(of: entity)
    let saved = try local.save(
      entity, [outline], known: store.knownMembers, if: store.named(condition),
      in: collection(of: store))
    guard let entity = saved.first else {
      throw StoreError(.internal, "The transaction lost an entity.")
    }
    return entity.bytes
  }

  package func remove(
    id: String, if condition: WriteCondition = .none, in store: DataStore
  ) throws(StoreError) -> Int {
    try Self.checked(id)
    let condition = store.named(try condition.ofDeletion())
    return try local.remove(id, if: condition, in: collection(of: store))
  }

  /// The condition in the options of a save or a removal: the only one there is.
  package static func condition(_ object: JSONObject) throws(StoreError) -> WriteCondition {
    var reader = OptionReader(object)
    let condition = try reader.condition("if") ?? .none
    try reader.finish()
    return condition
  }

  package func remove(_ query: Query, in store: DataStore) throws(StoreError) -> Int {
    try local.remove(store.named(query), in: collection(of: store))
  }

  package func update(
    _ query: Query, _ update: EntityUpdate, in store: DataStore
  ) throws(StoreError) -> UpdateResult {
    try local.update(
      store.named(query), store.engine.limited(update), in: collection(of: store))
  }

  /// `.conflict` if something that was read has changed meanwhile: nothing is written then.
  package func commit() throws(StoreError) {
    try local.commit()
    context.didSave()
  }

  package func close() { local.close() }

  private func collection(of store: DataStore) throws(StoreError) -> String {
    guard store.engine.isStored(in: storage) else {
      throw StoreError(
        .misuse, "The store must have the transaction's client and tag, and local data.")
    }
    return store.engine.collection
  }

  private static func checked(_ id: String) throws(StoreError) {
    guard !id.isEmpty else { throw StoreError(.invalid, "An id must not be empty.") }
  }
}
