internal import KVBase
internal import KVClient
internal import KVJSON
internal import KVObjects
internal import KVSync

/// One object of a context. Nothing of it is read before it is asked for; then the rest of its batch is read as well.
///
///     let ann = try await context.object("ann", in: "people", of: Person.self)
///     print(try await ann[\.name])
///     try await ann.set(\.age, to: 31)
///
/// As long as it is there, a save checks the version of the object that was seen through it.
public final class ManagedObject<Entity: Codable & Sendable>: Sendable {
  private let context: Context
  private let name: ObjectID

  /// The context holds the object already.
  init(held name: ObjectID, in context: Context) {
    self.context = context
    self.name = name
  }

  deinit {
    // The context may be waiting for the backend, and no task is to wait for that here.
    try? context.client.core.runners.local.run { [core = context.core, name] in
      try? core.release([name])
    }
  }

  /// The collection of the object.
  public var collection: String { name.collection.text }

  /// The id of the object. If a custom store chooses ids, that of a new object is another one after its first save.
  public var id: String {
    get async throws(KVStoreError) {
      try await perform { (core, name) throws(StoreError) in
        try core.status(of: name)["id"]?.stringValue ?? name.key.text
      }
    }
  }

  private func perform<Value: Sendable>(
    _ body: @escaping @Sendable (ObjectContext, ObjectID) throws(StoreError) -> Value
  ) async throws(KVStoreError) -> Value {
    try await context.perform { [name] (core) throws(StoreError) in try body(core, name) }
  }

  /// The object with its unsaved changes; nil: there is none, or it was deleted.
  public func value() async throws(KVStoreError) -> Entity? {
    let bytes = try await perform { (core, name) throws(StoreError) in try core.body(of: name) }
    return try JSONDecoding.decode(Entity.self, ifAny: bytes)
  }

  /// A member of the object. Throws `.notFound` if there is no such object.
  public subscript<Value>(keyPath: KeyPath<Entity, Value>) -> Value {
    get async throws(KVStoreError) {
      guard let value = try await value() else {
        throw KVStoreError(.notFound, "There is no object with this id.", id: name.key.text)
      }
      return value[keyPath: keyPath]
    }
  }

  /// Changes one member; the others stay. The next save of the context writes it.
  public func set<Value: Encodable>(
    _ keyPath: KeyPath<Entity, Value>, to value: Value
  ) async throws(KVStoreError) {
    let member = try MemberTable<Entity>.shared.name(of: keyPath)
    guard !member.utf8.contains(UInt8(ascii: ".")) else {
      throw KVStoreError(.invalid, "\"\(member)\" is no member of the object itself.")
    }
    let bytes = JSONValue.object(
      JSONObject([.init(member, try JSONEncoding.value(of: value))])
    ).bytes
    try await perform { (core, name) throws(StoreError) in try core.update(name, bytes) }
  }

  /// Replaces all members but the id and those that the backend makes.
  public func replace(with entity: Entity) async throws(KVStoreError) {
    let bytes = try DataStore.encoded(entity).bytes
    try await perform { (core, name) throws(StoreError) in
      try core.update(name, bytes, replacingAll: true)
    }
  }

  /// Deletes the object at the next save.
  public func delete() async throws(KVStoreError) {
    try await perform { (core, name) throws(StoreError) in try core.delete(name) }
  }

  /// The objects that a relationship leads to. It is followed for all objects that were read together with this one, in one
  /// query.
  public func related<Other: Codable & Sendable>(
    _ relationship: String, of type: Other.Type = Other.self
  ) async throws(KVStoreError) -> [ManagedObject<Other>] {
    let ids = try await perform { (core, name) throws(StoreError) in
      let ids = try core.related(relationship, to: name)
      try core.hold(ids)
      return ids
    }
    return ids.map { ManagedObject<Other>(held: $0, in: context) }
  }
}
