internal import KVBase
package import KVJSON

extension CollectionEngine {
  /// Saves many entities, each as `save` would; locally all in one transaction.
  package func saveMany(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], _ options: CallOptions,
    early: (SaveManyResult) -> Void = { _ in }
  ) throws(StoreError) -> Answered<SaveManyResult> {
    guard !outlines.isEmpty else {
      throw StoreError(.invalid, "There must be at least one entity to save.")
    }
    let policy = writePolicy(options)
    if policy == .forceNetwork {
      return Answered(try saveManyRemotely(bytes, outlines, options.call), isLocal: false)
    }
    let staysLocal = policy == .forceLocal
    let local = try localStore(for: "save locally")
    if !staysLocal { _ = try writer() }
    let saved = try local.save(bytes, outlines, known: options.call.known, in: collection)
    let result = SaveManyResult(entities: saved.map(\.bytes), errors: [])
    if staysLocal { return Answered(result, isLocal: true) }
    if policy == .localThenNetwork { early(result) }
    let push: PushResult
    do throws(StoreError) {
      let call = policy == .silentLocalThenNetwork ? options.impatient.call : options.call
      push = try send(saved.map(\.id), call)
    } catch {
      guard error.isOffline, policy == .silentLocalThenNetwork else { throw error }
      return Answered(result, isLocal: true)
    }
    return Answered(try merged(saved, push, local), isLocal: false)
  }

  /// The stored entities, and the errors with their places in the input. Of entities that came twice the
  /// last one was sent: what came of it holds for each.
  private func merged(
    _ saved: [SavedEntity], _ push: PushResult, _ local: any EntityReader
  ) throws(StoreError) -> SaveManyResult {
    let failures = Dictionary(
      push.errors.compactMap { error in error.id.map { (RecordID($0), error) } },
      uniquingKeysWith: { first, _ in first })
    var result = SaveManyResult(entities: [], errors: [])
    for (place, entity) in saved.enumerated() {
      if var error = failures[RecordID(entity.id)] {
        error.index = place
        result.entities.append(nil)
        result.errors.append(error)
      } else {
        let stored = try local.entity(entity.id, in: collection, writtenSince: nil)
        result.entities.append(stored ?? entity.bytes)
      }
    }
    return result
  }

  // MARK: Without a queue

  private func saveManyRemotely(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], _ call: Call
  ) throws(StoreError) -> SaveManyResult {
    let remote = try backend(for: "write to the network")
    _ = try writer()
    try format.checkIDs(of: outlines)
    let (writes, places) = requests(bytes, outlines, atOnce: remote.limits.createsPerRequest)
    var results = [Result<[UInt8], StoreError>?](repeating: nil, count: outlines.count)
    let ids = Set(outlines.compactMap { $0.id.map(RecordID.init) }).map(\.text)
    return try inFlight.sending(ids, call) { () throws(StoreError) in
      try unqueued(writes.compactMap(\.update)) { () throws(StoreError) in
        let queued = try queued(ids)
        try sendCompleted(writes, remote, call) { request, outcome in
          note(outcome, at: places[request], in: &results)
        }
        if writes.count == 1, places[0].count > 1, case .failure(let error)?? = results.first,
          error.index == nil
        {
          throw error
        }
        let collected = collected(results, outlines)
        try settle(collected.entities.compactMap { $0 }, queued: queued)
        return collected
      } outcome: {
        if $0.errors.isEmpty { return .accepted }
        return $0.errors.allSatisfy(\.isRefusal) ? .refused : nil
      }
    }
  }

  /// What is new goes in batches, the rest one by one; each request with its places in the input.
  private func requests(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], atOnce: Int
  ) -> (writes: [RemoteWrite], places: [[Int]]) {
    var writes: [RemoteWrite] = []
    var places: [[Int]] = []
    let new = outlines.indices.filter { outlines[$0].id == nil }
    for batch in new.chunks(of: atOnce) {
      let bodies = batch.map { Array(bytes[outlines[$0].range]) }
      writes.append(bodies.count == 1 ? .create(bodies[0]) : .createMany(bodies))
      places.append(Array(batch))
    }
    // Of entities that come twice only the last one goes: two requests could overtake each other.
    let byId = Dictionary(
      grouping: outlines.indices.filter { outlines[$0].id != nil },
      by: { RecordID(outlines[$0].id ?? "") })
    for (key, same) in byId.sorted(by: { $0.value[0] < $1.value[0] }) {
      guard let last = same.last else { continue }
      writes.append(.update(id: key.text, Array(bytes[outlines[last].range])))
      places.append(same)
    }
    return (writes, places)
  }

  private func note(
    _ outcome: Result<RemoteOutcome, StoreError>, at places: [Int],
    in results: inout [Result<[UInt8], StoreError>?]
  ) {
    switch outcome {
    case .success(.stored(let entity)): for place in places { results[place] = .success(entity) }
    case .success(.storedMany(let many)):
      for (place, result) in zip(places, many) {
        results[place] = result.mapError { error in
          var error = error
          error.index = place
          return error
        }
      }
    case .success(.deleted), .success(.batch): break
    case .failure(let error): for place in places { results[place] = .failure(error) }
    }
  }

  /// Puts the results into their order.
  private func collected(
    _ results: [Result<[UInt8], StoreError>?], _ outlines: [EntityOutline]
  ) -> SaveManyResult {
    var collected = SaveManyResult(entities: [], errors: [])
    for (place, result) in results.enumerated() {
      do throws(StoreError) {
        guard let result else {
          throw StoreError.badAnswer("The backend did not answer for this entity.")
        }
        let entity = try result.get()
        _ = try accepted(entity, as: outlines[place].id)
        collected.entities.append(entity)
      } catch {
        var error = error
        error.index = place
        error.id = outlines[place].id
        collected.entities.append(nil)
        collected.errors.append(error)
      }
    }
    return collected
  }
}
