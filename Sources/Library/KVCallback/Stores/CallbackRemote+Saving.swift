internal import KVBase
internal import KVJSON
internal import KVSync

extension CallbackRemote {
  /// Sends each request's writes to a custom store as one save.
  func save(
    _ writes: [RemoteWrite], in collection: String, call: Call,
    outcome: (Int, Result<RemoteOutcome, StoreError>) -> Void
  ) {
    for (index, write) in writes.enumerated() {
      outcome(
        index,
        Result { () throws(StoreError) in
          if call.cancellation.isCancelled {
            throw StoreError(.cancelled, "The call was cancelled.")
          }
          return try saved(write, in: collection, call)
        })
    }
  }

  private func saved(
    _ write: RemoteWrite, in collection: String, _ call: Call
  ) throws(StoreError) -> RemoteOutcome {
    switch write {
    case .create, .update, .delete, .change:
      guard let outcome = try saved([write], in: collection, call)?.first else {
        throw .refused(.conflict, "The store has another version of this entity.")
      }
      return outcome
    case .createMany(let records):
      let results = try savedEach(records.map { .create($0) }, in: collection, call)
      return .storedMany(results.map { $0.flatMap(\.storedRecord) })
    case .batch(let writes): return .batch(try savedEach(writes, in: collection, call))
    }
  }

  /// All in one step. If the store refuses that, one by one, so that each has its own result.
  private func savedEach(
    _ writes: [RemoteWrite], in collection: String, _ call: Call
  ) throws(StoreError) -> [Result<RemoteOutcome, StoreError>] {
    do throws(StoreError) {
      if let outcomes = try saved(writes, in: collection, call) {
        return outcomes.map { .success($0) }
      }
    } catch {
      guard error.statedClass == .refused else { throw error }
    }
    return writes.map { write in
      Result { () throws(StoreError) in try saved(write, in: collection, call) }
    }
  }

  /// Nil: nothing was written, because the store has another version of something.
  private func saved(
    _ writes: [RemoteWrite], in collection: String, _ call: Call
  ) throws(StoreError) -> [RemoteOutcome]? {
    let items = try items(of: writes, in: collection, call)
    guard case .saved(let saved) = try backend.save(items, call: call) else { return nil }
    return saved.map { $0.record.map { .stored($0) } ?? .deleted($0.existed ? 1 : 0) }
  }

  private func items(
    of writes: [RemoteWrite], in collection: String, _ call: Call
  ) throws(StoreError) -> [SaveItem] {
    var items: [SaveItem] = []
    for write in writes {
      switch write {
      case .create(let record):
        let (id, record) = try identified(record, in: collection, call)
        items.append(
          SaveItem(
            operation: .insert, collection: collection, key: id, record: record,
            condition: .isMissing))
      case .update(let id, let record, let condition, _):
        items.append(
          SaveItem(
            operation: condition == .isMissing ? .insert : .update, collection: collection, key: id,
            record: record, condition: condition))
      case .delete(let id, let condition):
        items.append(
          SaveItem(
            operation: .delete, collection: collection, key: id, record: nil, condition: condition))
      case .createMany, .batch: throw StoreError(.internal, "A batch cannot contain a batch.")
      case .change: throw .noOperators
      }
    }
    return items
  }

  /// A new record with its id, which the store chooses if it does that.
  private func identified(
    _ record: [UInt8], in collection: String, _ call: Call
  ) throws(StoreError) -> (id: String, [UInt8]) {
    guard backend.handler.handles(.obtainIDs), description.format.key(of: record) == nil else {
      return try identified(record)
    }
    let ids = try backend.obtainIDs(for: [(collection, record)], call: call)
    let outline: EntityOutline
    do throws(JSONError) {
      outline = try EntityScanner.outline(of: record, description.format)
    } catch {
      throw StoreError(.invalid, error.message)
    }
    let body = record.withUnsafeBytes {
      EntityEditing.inserting(
        id: ids[0], into: $0, outline: outline, format: description.format)
    }
    return (ids[0], body)
  }
}
