internal import KVSync

/// What came of saving many.
///
///     for error in try await people.save(many).errors { print(error.index ?? 0, error.message) }
public struct SaveResult<Entity: Codable & Sendable>: Sendable {
  /// As they are stored; nil exactly where an error has that `index`.
  public let entities: [Entity?]
  /// Of those that were not saved.
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
