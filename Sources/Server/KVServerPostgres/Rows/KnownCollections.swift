internal import KVBase
internal import KVServerCore

/// What collections were when they were read last, so that one statement can read a collection again and ask for its rows as
/// well. It is compared with what the statement says, and never trusted by itself. Safe from any thread.
final class KnownCollections: Sendable {
  struct Known: Sendable {
    let number: Int64
    let permissions: Permissions
    let indexes: [EntityIndex]

    /// Whether a statement that was made by this has asked for the right rows.
    func isStill(_ state: CollectionState) -> Bool {
      state.number == number && state.permissions == permissions
    }
  }

  private struct Key: Hashable {
    let app: Int64
    let name: RecordID
  }

  /// More collections than this are forgotten.
  private static let limit = 1000

  private let known = Monitor([Key: Known]())

  func find(_ key: CollectionKey) -> Known? {
    known.withLock { $0[Key(app: key.app, name: RecordID(key.name))] }
  }

  func note(_ state: CollectionState) {
    let key = Key(app: state.key.app, name: RecordID(state.key.name))
    let value = state.number.map {
      Known(number: $0, permissions: state.permissions, indexes: state.indexes)
    }
    known.withLock { known in
      if known.count >= Self.limit, known[key] == nil { known = [:] }
      known[key] = value
    }
  }
}
