package import KVBase
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

extension Client {
  /// How often a transaction is tried, unless the options say something else.
  private static let defaultRetries = 100
  /// The first pause after a conflict in seconds, and the longest one.
  private static let pauses = (first: 0.0002, longest: 0.05)

  /// `options`: `tag`, and for `transact` `retries` and `timeout`; see kv_transaction_begin.
  package func beginTransaction(_ options: JSONObject?) throws(StoreError) -> Transaction {
    try transaction(options).begin()
  }

  /// Runs `body` in a transaction and commits it; again from its beginning if something that it has read has
  /// changed meanwhile, after a short random pause, as long as the options allow. What `body` throws comes out, and
  /// nothing is written.
  package func transact<R>(
    _ options: JSONObject?, cancellation: Cancellation,
    body: (Transaction) throws(StoreError) -> R
  ) throws(StoreError) -> R {
    let (begin, retries, deadline) = try transaction(options)
    let call = Call(deadline: deadline, cancellation: cancellation)
    let clock = SystemRetryClock()
    var attempt = 0
    while true {
      let transaction = try begin()
      defer { transaction.close() }
      let result = try body(transaction)
      do throws(StoreError) {
        try transaction.commit()
        return result
      } catch {
        guard error.kind == .conflict, attempt < retries else { throw error }
        let pause = Retry.pause(
          after: attempt, first: Self.pauses.first, longest: Self.pauses.longest,
          share: clock.random())
        guard try clock.wait(pause, call) else { throw error }
        attempt += 1
      }
    }
  }

  private func transaction(
    _ options: JSONObject?
  ) throws(StoreError) -> (
    begin: () throws(StoreError) -> Transaction, retries: Int, deadline: Deadline
  ) {
    var reader = OptionReader(options ?? [:])
    let tag = try ClientOptions.tag(&reader) ?? self.options.tag
    let retries = try reader.integer("retries", 0...1_000_000) ?? Self.defaultRetries
    let seconds = try reader.seconds("timeout") ?? 60
    try reader.finish()
    let begin = { [self] () throws(StoreError) in
      try Transaction(try storage(tag), context)
    }
    return (begin, retries, .after(seconds: seconds))
  }
}
