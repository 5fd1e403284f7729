internal import KVBase
internal import KVClient
internal import KVJSON
internal import KVSync

/// A collection whose entities are values of a type: any `Codable` whose member for the id is called `_id` in JSON.
///
///     struct Person: Codable, Sendable {
///       var id: String?
///       var name: String
///       var age: Int
///       enum CodingKeys: String, CodingKey { case id = "_id", name, age }
///     }
///
///     let people = try client.store("people", of: Person.self)
///     let ann = try await people.save(Person(name: "Ann", age: 31))
///     for try await person in people.find(\.age > 30) { print(person.name) }
///
/// A save keeps the members of the stored entity that the type does not have. A store is a value that any task may use.
public struct DataStore<Entity: Codable & Sendable>: Sendable {
  let core: KVClient.DataStore
  let client: KVStoreClient
  /// The name of the collection.
  public let collection: String

  init(_ core: KVClient.DataStore, of collection: String, client: KVStoreClient) {
    self.core = core
    self.client = client
    self.collection = collection
  }

  /// The work of a call, on a thread of the library.
  typealias Work<Value> =
    @Sendable (KVClient.DataStore, KVClient.DataStore.Run) throws(StoreError) -> Value

  /// Runs a read.
  func reading<Value: Sendable>(
    _ options: CallOptions, _ work: @escaping Work<Value>
  ) async throws(KVStoreError) -> Value {
    let options = try options.options
    return try await performing(isLocal: core.readsLocally(options), options, work)
  }

  /// Runs a write.
  func writing<Value: Sendable>(
    _ options: CallOptions, _ work: @escaping Work<Value>
  ) async throws(KVStoreError) -> Value {
    let options = try options.options
    return try await performing(isLocal: core.writesLocally(options), options, work)
  }

  /// Runs a call that is either always local or never.
  func performing<Value: Sendable>(
    isLocal: Bool, _ options: CallOptions = CallOptions(), _ work: @escaping Work<Value>
  ) async throws(KVStoreError) -> Value {
    try await performing(isLocal: isLocal, try options.options, work)
  }

  private func performing<Value: Sendable>(
    isLocal: Bool, _ options: KVClient.Options?, _ work: @escaping Work<Value>
  ) async throws(KVStoreError) -> Value {
    try await client.perform(isLocal: isLocal) { [core] (cancellation) throws(StoreError) in
      try work(core, .init(options, cancellation: cancellation))
    }
  }

  /// Encodes an entity for the library. A nil id is left out, so that the library generates one.
  static func encoded(_ entity: Entity) throws(KVStoreError) -> JSONValue {
    guard var object = try JSONEncoding.value(of: entity).objectValue else {
      throw KVStoreError(.invalid, "The \(Entity.self) is not a JSON object.")
    }
    if let id = object["_id"], id.isNull || id.stringValue?.isEmpty == true { object["_id"] = nil }
    return .object(object)
  }
}
