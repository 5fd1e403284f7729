internal import KVBase
package import KVJSON

extension CollectionEngine {
  /// Saves many entities: locally each as `save` would, all in one transaction. Past the queue they are inserted, as
  /// the backend's own clients do: one whose id is taken fails with `.conflict`.
  package func saveMany(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline],
    if condition: WriteCondition = .none, _ options: CallOptions,
    early: (SaveManyResult) -> Void = { _ in }
  ) throws(StoreError) -> Answered<SaveManyResult> {
    guard !outlines.isEmpty else {
      throw StoreError(.invalid, "There must be at least one entity to save.")
    }
    let policy = writePolicy(options)
    if policy == .forceNetwork {
      return Answered(try insertMany(bytes, outlines, condition, options.call), isLocal: false)
    }
    let staysLocal = policy == .forceLocal
    let local = try localStore(for: "save locally")
    if !staysLocal { _ = try writer() }
    let saved = try local.save(
      bytes, outlines, known: options.call.known, if: condition, in: collection)
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

  private func insertMany(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline], _ condition: WriteCondition,
    _ call: Call
  ) throws(StoreError) -> SaveManyResult {
    let remote = try backend(for: "write to the network")
    _ = try writer()
    try format.checkIDs(of: outlines)
    try condition.checkForInserts()
    var results = [Result<[UInt8], StoreError>?](repeating: nil, count: outlines.count)
    let (writes, places) = inserts(
      bytes, outlines, atOnce: remote.limits.createsPerRequest, &results)
    let named = places.joined().compactMap { place in
      outlines[place].id.map { (id: $0, place: place) }
    }
    let ids = named.map(\.id)
    let sent = named.map { ($0.id, RemoteVersion.entity(Array(bytes[outlines[$0.place].range]))) }
    return try inFlight.sending(ids, call) { () throws(StoreError) in
      try unqueued(sent) { () throws(StoreError) in
        let queued = try queued(ids)
        remote.send(writes, in: collection, call) { request, outcome in
          note(outcome, at: places[request], in: &results)
        }
        if writes.count == 1, places[0].count > 1, case .failure(let error)?? = results.first,
          error.index == nil
        {
          throw error
        }
        try takeArrived(&results, bytes, outlines, remote, call)
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
    _ results: inout [Result<[UInt8], StoreError>?]
  ) -> (writes: [RemoteWrite], places: [[Int]]) {
    var seen: Set<RecordID> = []
    let first = outlines.indices.filter { place in
      guard let id = outlines[place].id, !seen.insert(RecordID(id)).inserted else { return true }
      results[place] = .failure(.conditionFailed(id, "is there twice"))
      return false
    }
    var (writes, places): ([RemoteWrite], [[Int]]) = ([], [])
    for batch in first.chunks(of: atOnce) {
      let bodies = batch.map { Array(bytes[outlines[$0].range]) }
      writes.append(bodies.count == 1 ? .create(bodies[0]) : .createMany(bodies))
      places.append(Array(batch))
    }
    return (writes, places)
  }

  /// What is refused because an earlier attempt of ours has made it is done.
  private func takeArrived(
    _ results: inout [Result<[UInt8], StoreError>?], _ bytes: UnsafeRawBufferPointer,
    _ outlines: [EntityOutline], _ remote: any Remote, _ call: Call
  ) throws(StoreError) {
    var refused: [(id: String, body: [UInt8], refusal: StoreError)] = []
    for (place, result) in results.enumerated() {
      guard case .failure(let refusal)? = result, let id = outlines[place].id else { continue }
      refused.append((id, Array(bytes[outlines[place].range]), refusal))
    }
    for (key, stored) in try arrived(refused, remote, call) {
      for place in outlines.indices where outlines[place].id.map(RecordID.init) == key {
        if case .failure(let error)? = results[place], error.followsFailure {
          results[place] = .success(stored)
        }
      }
    }
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
