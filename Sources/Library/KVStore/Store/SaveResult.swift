internal import KVSync

/// The result of saving several entities.
///
///     for error in try await people.save(many).errors { print(error.index ?? 0, error.message) }
public struct SaveResult<Entity: Codable & Sendable>: Sendable {
  /// The entities as stored. An entity is nil if `errors` has an error with its index.
  public let entities: [Entity?]
  /// The errors of the entities that were not saved.
  public let errors: [KVStoreError]

  init(_ result: SaveManyResult) throws(KVStoreError) {
    var entities: [Entity?] = []
    for bytes in result.entities {
      guard let bytes else {
        entities.append(nil)
        continue
      }
      entities.append(try JSONDecoding.decode(Entity.self, from: bytes))
    }
    self.entities = entities
    errors = result.errors.map(KVStoreError.init)
  }
}
