internal import KVBase
internal import KVJSON

/// A query whose result is followed. One thread at a time, except `end`.
package protocol Observation: AnyObject, Sendable {
  /// What leads from the result that was told last to the one that is there now, as one state of the data;
  /// nil: nothing. The first time all of the result is inserted. After an error the next call makes up for
  /// what was missed.
  func changes() throws(StoreError) -> ResultChanges?

  /// Forgets what was delivered: the next call inserts the whole result again. For callers that could not deliver it.
  func startAnew()

  /// Gives no more signals. From any thread.
  func end()
}

/// The changes that lead from one result to the next.
///
/// To be applied in this order: what is at the `index` of a deletion or at the `from` of a move, both positions
/// in the old result, is taken out; then insertions and moved entities are put in, in ascending order of
/// `index` and `to`, positions in the new result; then entities are replaced by their modified versions.
package struct ResultChanges: Sendable {
  /// Where a change was made, as far as that is known: `local` as long as the backend has not accepted it.
  package enum Source: String, Sendable { case local, remote }

  package struct Deletion: Sendable {
    package var id: String
    package var index: Int
    package var source = Source.remote
    package init(id: String, index: Int) {
      self.id = id
      self.index = index
    }
  }

  package struct Move: Sendable {
    package var id: String
    package var from: Int
    package var to: Int
    package init(id: String, from: Int, to: Int) {
      self.id = id
      self.from = from
      self.to = to
    }
  }

  package struct IndexedEntity: Sendable {
    package var index: Int
    package var entity: [UInt8]
    package var source = Source.remote
    package init(index: Int, entity: [UInt8]) {
      self.index = index
      self.entity = entity
    }
  }

  /// Whether it is the first: the result as it was when observing began.
  package var isInitial = false
  /// Whether the collection is synchronised in the background, and was read since that has started.
  package var isSynced = false
  /// How many entities the new result has.
  package var count = 0
  package var deletions: [Deletion] = []
  package var moves: [Move] = []
  package var insertions: [IndexedEntity] = []
  package var modifications: [IndexedEntity] = []

  package init() {}

  package var isEmpty: Bool {
    deletions.isEmpty && moves.isEmpty && insertions.isEmpty && modifications.isEmpty
  }

  /// See kv_store_observe.
  package func json() throws(StoreError) -> [UInt8] {
    var object = JSONObjectWriter()
    object.add("initial", .bool(isInitial))
    object.add("isSynced", .bool(isSynced))
    object.add("count", .int(Int64(count)))
    object.add("deletions", .array(deletions.map(\.json)))
    object.add("moves", .array(moves.map(\.json)))
    try object.add("insertions", json: json(of: insertions), or: StoreError.noMemory)
    try object.add("modifications", json: json(of: modifications), or: StoreError.noMemory)
    return try object.finish(or: StoreError.noMemory)
  }

  private func json(of entities: [IndexedEntity]) throws(StoreError) -> [UInt8] {
    try entities.map { (entity) throws(StoreError) in try entity.json() }
      .jsonArray(or: StoreError.noMemory)
  }
}

extension ResultChanges.Deletion {
  fileprivate var json: JSONValue {
    ["index": .int(Int64(index)), "id": .string(id), "source": .string(source.rawValue)]
  }
}

extension ResultChanges.Move {
  fileprivate var json: JSONValue {
    ["from": .int(Int64(from)), "to": .int(Int64(to)), "id": .string(id)]
  }
}

extension ResultChanges.IndexedEntity {
  fileprivate func json() throws(StoreError) -> [UInt8] {
    var object = JSONObjectWriter()
    object.add("index", .int(Int64(index)))
    object.add("source", .string(source.rawValue))
    try object.add("entity", json: entity, or: StoreError.noMemory)
    return try object.finish(or: StoreError.noMemory)
  }
}
