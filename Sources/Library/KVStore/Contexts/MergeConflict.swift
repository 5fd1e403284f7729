internal import KVBase
internal import KVJSON
internal import KVObjects
internal import KVSync

/// An object that was changed by a context and, since that read it, by another writer: see `Context.save`.
///
///     try await context.save { conflict in
///       conflict.collection == "people" ? .useObject : .useStored
///     }
public struct MergeConflict: Sendable {
  /// How a conflict ends.
  ///
  ///     try await context.save { _ in .useStored }
  public struct Decision: Sendable {
    let json: Result<JSONObject, StoreError>

    /// The context's change is dropped.
    public static var useStored: Decision { Decision(json: .success(["use": "stored"])) }
    /// The object is written as the context has it.
    public static var useObject: Decision { Decision(json: .success(["use": "object"])) }
    /// The object is deleted.
    public static var delete: Decision {
      Decision(json: .success(["use": "merged", "object": .null]))
    }

    /// Another object is written.
    public static func merged(_ entity: some Encodable) -> Decision {
      do throws(KVStoreError) {
        return Decision(
          json: .success(["use": "merged", "object": try JSONEncoding.value(of: entity)]))
      } catch {
        return Decision(json: .failure(StoreError(.invalid, error.message)))
      }
    }
  }

  private let conflict: KVObjects.MergeConflict

  init(_ conflict: KVObjects.MergeConflict) { self.conflict = conflict }

  /// The collection of the object.
  public var collection: String { conflict.id.collection.text }

  /// The id of the object.
  public var id: String { conflict.id.key.text }

  /// The object as the context has read it; nil: it is new there.
  public func read<Entity: Decodable>(as type: Entity.Type) throws(KVStoreError) -> Entity? {
    try JSONDecoding.decode(type, ifAny: conflict.read)
  }

  /// The object as the context wants it; nil: it wants it deleted.
  public func object<Entity: Decodable>(as type: Entity.Type) throws(KVStoreError) -> Entity? {
    try JSONDecoding.decode(type, ifAny: conflict.object)
  }

  /// The object as it is stored; nil: it was deleted.
  public func stored<Entity: Decodable>(as type: Entity.Type) throws(KVStoreError) -> Entity? {
    try JSONDecoding.decode(type, ifAny: conflict.stored)
  }
}
