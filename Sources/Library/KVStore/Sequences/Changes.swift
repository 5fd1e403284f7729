internal import KVSync

/// The changes from one result of an observed query to the next: see `DataStore.observe`.
///
///     for try await changes in try people.observe() {
///       for deletion in changes.deletions { print("gone:", deletion.id) }
///       for insertion in changes.insertions { print(insertion.index, insertion.entity.name) }
///     }
public struct Changes<Entity: Codable & Sendable>: Sendable {
  /// Where an entity was changed.
  public enum Source: Sendable {
    /// Here, and the backend has not accepted it yet.
    case local
    /// On the backend; or here, and the backend has accepted it.
    case remote
  }

  /// An entity that has left the result, with its index in the old result.
  public struct Deletion: Sendable, Equatable {
    /// The id of the entity.
    public let id: String
    /// Its index in the old result.
    public let index: Int
    /// Where it was changed.
    public let source: Source
  }

  /// An entity with a new index: `from` in the old result, `to` in the new one.
  public struct Move: Sendable, Equatable {
    /// The id of the entity.
    public let id: String
    /// Its index in the old result.
    public let from: Int
    /// Its index in the new result.
    public let to: Int
  }

  /// An entity with its index in the new result.
  public struct IndexedEntity: Sendable {
    /// Its index in the new result.
    public let index: Int
    /// The entity.
    public let entity: Entity
    /// Where it was changed.
    public let source: Source
  }

  /// Whether this is the whole result, as insertions, when observing began.
  public let isInitial: Bool
  /// Whether the collection is synchronised in the background, and was read since that has started.
  public let isSynced: Bool
  /// The number of entities in the new result.
  public let count: Int
  /// The entities that have left the result.
  public let deletions: [Deletion]
  /// The entities with a new index.
  public let moves: [Move]
  /// The entities that are new in the result.
  public let insertions: [IndexedEntity]
  /// The entities that stay in the result and were changed.
  public let modifications: [IndexedEntity]

  init(_ changes: ResultChanges) throws(KVStoreError) {
    isInitial = changes.isInitial
    isSynced = changes.isSynced
    count = changes.count
    deletions = changes.deletions.map {
      Deletion(id: $0.id, index: $0.index, source: Source($0.source))
    }
    moves = changes.moves.map { Move(id: $0.id, from: $0.from, to: $0.to) }
    insertions = try Self.decoded(changes.insertions)
    modifications = try Self.decoded(changes.modifications)
  }

  private static func decoded(_ all: [ResultChanges.IndexedEntity]) throws(KVStoreError)
    -> [IndexedEntity]
  {
    var decoded: [IndexedEntity] = []
    for one in all {
      decoded.append(
        IndexedEntity(
          index: one.index, entity: try JSONDecoding.decode(Entity.self, from: one.entity),
          source: Source(one.source)))
    }
    return decoded
  }

  /// Turns the old result into the new one.
  public func apply(to result: inout [Entity]) {
    if isInitial { result = [] }
    var arriving = insertions.map { ($0.index, $0.entity) }
    arriving += moves.compactMap {
      result.indices.contains($0.from) ? ($0.to, result[$0.from]) : nil
    }
    for index in (deletions.map(\.index) + moves.map(\.from)).sorted(by: >)
    where result.indices.contains(index) { result.remove(at: index) }
    for (index, entity) in arriving.sorted(by: { $0.0 < $1.0 }) {
      result.insert(entity, at: min(index, result.count))
    }
    for change in modifications where result.indices.contains(change.index) {
      result[change.index] = change.entity
    }
  }
}

extension Changes.Source {
  fileprivate init(_ source: ResultChanges.Source) {
    switch source {
    case .local: self = .local
    case .remote: self = .remote
    }
  }
}
