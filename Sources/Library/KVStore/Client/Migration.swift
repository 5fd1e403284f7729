internal import KVBase
internal import KVClient
internal import KVJSON
internal import KVSync

/// How local data of a former schema becomes data of the schema that a client is opened with.
///
///     struct OldPerson: Decodable {
///       var id, first, last: String
///     }
///     struct Named: Encodable {
///       var id, name: String
///     }
///
///     var migration = Migration(rules: #"{"Person":{"drop":["first","last"]}}"#)
///     migration.change("Person", from: OldPerson.self) { old in
///       Named(id: old.id, name: "\(old.first) \(old.last)")
///     }
///     var configuration = Configuration(appKey: "people", backend: .none)
///     configuration.schema = "type Person @model { id: ID! name: String! }"
///     configuration.migration = migration
///
/// Nothing runs unless the schemas differ. All changes are one transaction: what fails leaves everything as it was, and the
/// client is not opened. `docs/models.md` describes the rules.
public struct Migration: Sendable {
  /// By the names of the new models.
  private var changes: [RecordID: MigrationHandler] = [:]
  /// The rules as a JSON object, by the names of the new models. Nil: none.
  public var rules: String?

  /// Creates a migration by rules alone.
  public init(rules: String? = nil) { self.rules = rules }

  /// Sets the closure that makes each stored record of a model one of the new schema. Nil from it: as the rules change it.
  ///
  ///     struct OldPost: Decodable {
  ///       var id, headline: String
  ///     }
  ///     struct NewPost: Encodable {
  ///       var id, title: String
  ///     }
  ///
  ///     var change = Migration()
  ///     change.change("Post", from: OldPost.self) { old in
  ///       NewPost(id: old.id, title: old.headline)
  ///     }
  ///
  /// `model` is the name in the new schema. The closure runs on the thread that opens the client, once for each record of a
  /// model that has changed, while the local data is locked: it may be slow, but cannot open or write any. The key of a record
  /// and the members of the backend stay.
  public mutating func change<Former: Decodable & Sendable, New: Encodable & Sendable>(
    _ model: String, from former: Former.Type,
    _ change: @escaping @Sendable (Former) throws -> New?
  ) {
    let handler: MigrationHandler = { (asked) throws(StoreError) in
      do {
        let old = try JSONDecoding.decode(former, from: asked.former)
        return try change(old).map { try JSONEncoding.value(of: $0).bytes }
      } catch let error as KVStoreError {
        throw StoreError(.invalid, error.message)
      } catch {
        throw StoreError(.invalid, "\(error)")
      }
    }
    changes[RecordID(model)] = handler
  }

  /// Opens a client with this in its options.
  func opening(_ options: JSONObject) throws(KVStoreError) -> Client {
    var options = options
    let rules = JSONValue.object(try JSONObject(options: rules))
    let handler: MigrationHandler = { [changes] (asked) throws(StoreError) in
      try changes[RecordID(asked.model)]?(asked)
    }
    return try KVStoreError.mapping { () throws(StoreError) in
      guard !changes.isEmpty else {
        options["onSchemaChange"] = ["migrate": rules]
        return try Client(options)
      }
      return try MigrationHandlers.naming(handler) { (name) throws(StoreError) in
        options["onSchemaChange"] = ["migrate": rules, "handler": .string(name)]
        return try Client(options)
      }
    }
  }
}
