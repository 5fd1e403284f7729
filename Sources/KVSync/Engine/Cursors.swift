internal import KVBase
internal import KVJSON
internal import KVQuery

/// No entities.
final class EmptyCursor: EntityCursor {
  func next<R>(_ body: (UnsafeRawBufferPointer) -> R) throws(StoreError) -> R? { nil }
  func close() {}
}

/// The entities of an answer that is held in memory, in its order.
final class AnswerCursor: EntityCursor {
  private struct State {
    var bytes: [UInt8]
    var outlines: ArraySlice<EntityOutline>
  }

  private let state: Monitor<State>

  init(_ bytes: [UInt8], _ outlines: [EntityOutline]) {
    state = Monitor(State(bytes: bytes, outlines: outlines[...]))
  }

  func next<R>(_ body: (UnsafeRawBufferPointer) -> R) throws(StoreError) -> R? {
    state.peek { state in
      guard let outline = state.outlines.popFirst() else { return nil }
      return state.bytes.withUnsafeBytes {
        body(UnsafeRawBufferPointer(rebasing: $0[outline.range]))
      }
    }
  }

  func close() { state.peek { $0 = State(bytes: [], outlines: []) } }
}

/// The entities of some ids, in their order, as the local store has them when they are reached. Those
/// that were deleted meanwhile are left out.
final class IdCursor: EntityCursor {
  private let ids: Monitor<ArraySlice<String>>
  private let local: any LocalStore
  private let collection: String
  private let projection: Projection?

  init(_ ids: [String], _ local: any LocalStore, _ collection: String, _ projection: Projection?) {
    self.ids = Monitor(ids[...])
    self.local = local
    self.collection = collection
    self.projection = projection
  }

  func next<R>(_ body: (UnsafeRawBufferPointer) -> R) throws(StoreError) -> R? {
    while let id = ids.peek({ $0.popFirst() }) {
      guard let entity = try local.entity(id, in: collection, writtenSince: nil) else { continue }
      let shown = projection?.apply(to: entity) ?? entity
      return shown.withUnsafeBytes { body($0) }
    }
    return nil
  }

  func close() { ids.peek { $0 = [] } }
}
