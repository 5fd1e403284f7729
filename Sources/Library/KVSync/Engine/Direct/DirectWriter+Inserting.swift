internal import KVBase
internal import KVJSON

extension DirectWriter {
  /// Inserts many entities: one whose id is taken fails with `.conflict`.
  func insert(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], if condition: WriteCondition
  ) throws(StoreError) -> SaveManyResult {
    try format.checkIDs(of: outlines)
    try condition.checkForInserts()
    var results = [Result<[UInt8], StoreError>?](repeating: nil, count: outlines.count)
    let (writes, indices) = inserts(
      bytes, outlines, atOnce: remote.limits.createsPerRequest, results: &results)
    let named = indices.joined().compactMap { index in
      outlines[index].id.map { (id: $0, index: index) }
    }
    let ids = named.map(\.id)
    let sent = named.map { ($0.id, RemoteVersion.entity(Array(bytes[outlines[$0.index].range]))) }
    return try engine.sendGate.sending(ids, call) { () throws(StoreError) in
      try unqueued(sent) { () throws(StoreError) in
        let queued = try queued(ids)
        remote.send(writes, in: collection, call: call.sendingOnce(ids)) { request, outcome in
          record(outcome, at: indices[request], in: &results)
        }
        if writes.count == 1, indices[0].count > 1, case .failure(let error)?? = results.first,
          error.index == nil
        {
          throw error
        }
        try acceptArrived(&results, bytes, outlines: outlines)
        let collected = collected(results, outlines)
        try settle(collected.entities.compactMap { $0 }, queued: queued)
        return collected
      } outcome: {
        if $0.errors.isEmpty { return .accepted }
        return $0.errors.allSatisfy(\.isRefusal) ? .refused : nil
      }
    }
  }

  /// Requests that insert, at most `atOnce` entities each, with their indexes in the input. Of entities of the
  /// same id the first one goes.
  private func inserts(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], atOnce: Int,
    results: inout [Result<[UInt8], StoreError>?]
  ) -> (writes: [RemoteWrite], indices: [[Int]]) {
    var seen: Set<RecordID> = []
    let first = outlines.indices.filter { index in
      guard let id = outlines[index].id, !seen.insert(RecordID(id)).inserted else { return true }
      results[index] = .failure(.conditionFailed(id, "occurs twice"))
      return false
    }
    var (writes, indices): ([RemoteWrite], [[Int]]) = ([], [])
    for batch in first.chunks(of: atOnce) {
      let bodies = batch.map { Array(bytes[outlines[$0].range]) }
      writes.append(bodies.count == 1 ? .create(bodies[0]) : .createMany(bodies))
      indices.append(Array(batch))
    }
    return (writes, indices)
  }

  /// Accepts an insert that was refused because an earlier attempt of ours has created the entity.
  private func acceptArrived(
    _ results: inout [Result<[UInt8], StoreError>?], _ bytes: UnsafeRawBufferPointer,
    outlines: [EntityOutline]
  ) throws(StoreError) {
    var refused: [(id: String, body: [UInt8], refusal: StoreError)] = []
    for (index, result) in results.enumerated() {
      guard case .failure(let refusal)? = result, let id = outlines[index].id else { continue }
      refused.append(
        (id, try [UInt8](bytes[outlines[index].range], or: StoreError.noMemory), refusal))
    }
    for (key, stored) in try arrived(refused) {
      for index in outlines.indices where outlines[index].id.map(RecordID.init) == key {
        if case .failure(let error)? = results[index], error.followsFailure {
          results[index] = .success(stored)
        }
      }
    }
  }

  private func record(
    _ outcome: Result<RemoteOutcome, StoreError>, at indices: [Int],
    in results: inout [Result<[UInt8], StoreError>?]
  ) {
    switch outcome {
    case .success(.stored(let entity)), .success(.merged(let entity, _)):
      for index in indices { results[index] = .success(entity) }
    case .success(.storedMany(let many)):
      for (index, result) in zip(indices, many) {
        results[index] = result.mapError { error in
          var error = error
          error.index = index
          return error
        }
      }
    case .success(.deleted), .success(.batch): break
    case .failure(let error): for index in indices { results[index] = .failure(error) }
    }
  }

  /// Puts the results into their order.
  private func collected(
    _ results: [Result<[UInt8], StoreError>?], _ outlines: [EntityOutline]
  ) -> SaveManyResult {
    var collected = SaveManyResult(entities: [], errors: [])
    for (index, result) in results.enumerated() {
      do throws(StoreError) {
        guard let result else {
          throw StoreError.badAnswer("The backend's answer has no result for this entity.")
        }
        let entity = try result.get()
        _ = try engine.arrivals.accepted(entity, as: outlines[index].id)
        collected.entities.append(entity)
      } catch {
        var error = error
        error.index = index
        error.id = outlines[index].id
        collected.entities.append(nil)
        collected.errors.append(error)
      }
    }
    return collected
  }
}
