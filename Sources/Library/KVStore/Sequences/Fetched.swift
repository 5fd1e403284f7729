internal import KVSync

/// A fetched entity, with its state since the list was fetched.
///
///     let everybody = try await people.results(Query().sorted(by: \.name))
///     switch try await everybody[0] {
///     case .unchanged(let person), .changed(let person): print(person.name)
///     case .deleted: print("deleted")
///     }
public enum Fetched<Entity: Sendable>: Sendable {
  /// It is as it was when the list was fetched.
  case unchanged(Entity)
  /// It was changed after the list was fetched.
  case changed(Entity)
  /// It was deleted after the list was fetched.
  case deleted

  /// The entity; nil if it was deleted.
  public var entity: Entity? {
    switch self {
    case .unchanged(let entity), .changed(let entity): entity
    case .deleted: nil
    }
  }
}

extension Fetched: Equatable where Entity: Equatable {}

extension Fetched where Entity: Decodable {
  init(_ batch: FetchedBatch, at position: Int) throws(KVStoreError) {
    let state = batch.state(at: position)
    guard state != .deleted else {
      self = .deleted
      return
    }
    let text: UnsafeRawBufferPointer
    do throws(StoreError) { text = try batch.text(at: position) } catch {
      throw KVStoreError(error)
    }
    let entity = try JSONDecoding.result(Entity.self, from: text).get()
    self = state == .changed ? .changed(entity) : .unchanged(entity)
  }
}
