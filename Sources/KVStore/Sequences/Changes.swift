internal import KVSync

/// What leads from one result of an observed query to the next: see `DataStore.observe`.
///
///     for try await changes in try people.observe() {
///       for deletion in changes.deletions { print("gone:", deletion.id) }
///       for insertion in changes.insertions { print(insertion.index, insertion.entity.name) }
///     }
public struct Changes<Entity: Codable & Sendable>: Sendable {
  /// An entity that has left the result, and where it was.
  public struct Deletion: Sendable, Equatable {
    public let id: String
    public let index: Int
  }

  /// An entity that has another place now. `from` is that in the old result, `to` that in the new one.
  public struct Move: Sendable, Equatable {
    public let id: String
    public let from: Int
    public let to: Int
  }

  /// An entity and its place in the new result.
  public struct IndexedEntity: Sendable {
    public let index: Int
    public let entity: Entity
  }

  /// Whether it is the first: the result as it was when observing began, as insertions.
  public let isInitial: Bool
  /// How many entities the new result has.
  public let count: Int
  public let deletions: [Deletion]
  public let moves: [Move]
  public let insertions: [IndexedEntity]
  public let modifications: [IndexedEntity]

  init(_ changes: ResultChanges) throws(KVStoreError) {
    isInitial = changes.isInitial
    count = changes.count
    deletions = changes.deletions.map { Deletion(id: $0.id, index: $0.index) }
    moves = changes.moves.map { Move(id: $0.id, from: $0.from, to: $0.to) }
    insertions = try Self.placed(changes.insertions)
    modifications = try Self.placed(changes.modifications)
  }

  private static func placed(_ all: [ResultChanges.IndexedEntity]) throws(KVStoreError)
    -> [IndexedEntity]
  {
    var placed: [IndexedEntity] = []
    for one in all {
      placed.append(
        IndexedEntity(
          index: one.index, entity: try JSONDecoding.decode(Entity.self, from: one.entity)))
    }
    return placed
  }

  /// Makes the old result the new one.
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
