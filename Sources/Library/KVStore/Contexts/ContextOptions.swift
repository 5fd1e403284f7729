internal import KVJSON

/// How a context behaves: see `KVStoreClient.context`.
///
///     var options = ContextOptions()
///     options.mergePolicy = .objectTrumps
///     options.relationships["pets"] = ["owner": .to("people", by: "ownerId")]
///     let context = try await client.context(options)
public struct ContextOptions: Sendable {
  /// What a save does with objects that were changed since the context read them.
  ///
  ///     var options = ContextOptions()
  ///     options.mergePolicy = .storeTrumps
  public enum MergePolicy: String, Sendable, CaseIterable {
    /// The save fails.
    case error
    /// Member by member: of those that both sides have changed, the stored value stays.
    case storeTrumps
    /// Member by member: of those that both sides have changed, the context's value is written.
    case objectTrumps
    /// The whole object is written as the context has it.
    case overwrite
    /// The context's change is dropped.
    case rollback
  }

  /// A way from the objects of one collection to those of another one.
  ///
  ///     var options = ContextOptions()
  ///     options.relationships["people"] = ["pets": .from("pets", by: "ownerId")]
  public struct Relationship: Sendable {
    let json: JSONObject

    /// It leads to the object whose id is in a member of the object.
    public static func to(_ collection: String, by key: String) -> Relationship {
      Relationship(json: ["to": .string(collection), "key": .string(key)])
    }

    /// It leads to the objects that have the object's id in a member. `isSingle`: there is one at most.
    public static func from(
      _ collection: String, by key: String, isSingle: Bool = false
    ) -> Relationship {
      Relationship(
        json: [
          "to": .string(collection), "inverseKey": .string(key), "single": .bool(isSingle),
        ])
    }
  }

  /// What a save does with objects that were changed since the context read them.
  public var mergePolicy = MergePolicy.error
  /// By collections and their names, besides those of the client's models.
  public var relationships: [String: [String: Relationship]] = [:]
  /// How many objects are read together.
  public var batchSize = 100
  /// How many bytes of objects without changes are kept.
  public var cacheBytes = 4 << 20
  /// The type of the stores. Contexts of `.network` stores cannot save. Not for a client with a custom store.
  public var type: StoreType?
  /// The tag of the local data; nil: the client's.
  public var tag: String?

  /// The defaults.
  public init() {}

  var json: JSONObject {
    var object: JSONObject = [
      "mergePolicy": .string(mergePolicy.rawValue), "fetchBatchSize": .int(Int64(batchSize)),
      "cacheBytes": .int(Int64(cacheBytes)),
    ]
    object["relationships"] = .object(
      JSONObject(
        relationships.map { collection, named in
          .init(
            collection, .object(JSONObject(named.map { .init($0, .object($1.json)) })))
        }))
    object.set("type", type?.rawValue)
    object.set("tag", tag)
    return object
  }
}
