internal import KVBase
internal import KVJSON
package import KVQuery

extension CollectionEngine {
  // MARK: Find

  /// The entities that match. With the policy `both`, `early` receives the local ones first.
  package func find(
    _ query: Query, _ options: CallOptions,
    early: (any EntityCursor) -> Void = { $0.close() }
  ) throws(StoreError) -> Answered<any EntityCursor> {
    try reading(options, early) { (options) throws(StoreError) in
      try findLocally(query, options)
    } remotely: { (options) throws(StoreError) in
      try findRemotely(query, options)
    }
  }

  private func findLocally(
    _ query: Query, _ options: CallOptions
  ) throws(StoreError) -> any EntityCursor {
    guard let local else { return EmptyCursor() }
    return try local.find(
      query, in: collection, writtenSince: writtenSince(options), within: options.call.budget)
  }

  /// The backend's answer, with the changes laid over it that it has not seen yet.
  private func findRemotely(
    _ query: Query, _ options: CallOptions
  ) throws(StoreError) -> any EntityCursor {
    let remote = try backend(for: "read from the network")
    guard let local else { return try answer(query, remote, call: options.call) }
    let refresher = Refresher(self, local, remote: remote, call: options.call)
    // What a page left out is not here: only its own ids tell what it had.
    guard !query.isPaged else {
      let refreshed = try refresher.refreshWhole(query, collectingIds: true)
      return IdCursor(
        refreshed.ids ?? [], local, collection: collection, projection: query.of(format).projection)
    }
    _ = try refresher.refresh(query, options.refreshing)
    return try local.find(query, in: collection, writtenSince: nil, within: options.call.budget)
  }

  /// The backend's answer held in memory: a network store keeps nothing.
  func answer(
    _ query: Query, _ remote: any Remote, call: Call
  ) throws(StoreError) -> any EntityCursor {
    var answer = RecordBuffer()
    try call.repeating { () throws(StoreError) in
      answer = RecordBuffer()
      _ = try remote.find(query, in: collection, call: call) { (batch) throws(StoreError) in
        try arrivals.validate(batch.bytes, batch.outlines)
        try answer.add(batch)
      }
    }
    call.progress.update { $0.entitiesDone += UInt64(answer.records.count) }
    return RecordBufferCursor(answer)
  }

  // MARK: Find by id

  /// Gives one entity. `.notFound` if it is not there.
  package func find(
    id: String, _ options: CallOptions, early: ([UInt8]) -> Void = { _ in }
  ) throws(StoreError) -> Answered<[UInt8]> {
    try Self.checked(id)
    switch readPolicy(options) {
    case .forceLocal: return Answered(try findLocally(id, options), isLocal: true)
    case .forceNetwork: return Answered(try findRemotely(id, options.call), isLocal: false)
    case .both:
      // A miss is no answer yet: the backend may have it.
      do throws(StoreError) { early(try findLocally(id, options)) } catch {
        guard error.kind == .notFound else { throw error }
      }
      return Answered(try findRemotely(id, options.call), isLocal: false)
    case .networkOtherwiseLocal:
      return try otherwiseLocal { () throws(StoreError) in
        try findRemotely(id, options.impatient.call)
      } local: { () throws(StoreError) in
        try findLocally(id, options)
      }
    }
  }

  /// Lends an entity of the local store to `body`: what a find by `forceLocal` would give, without a copy.
  package func lend(
    id: String, to body: (UnsafeRawBufferPointer) -> Void
  ) throws(StoreError) {
    try Self.checked(id)
    let local = try localStore(for: "read an entity")
    guard try local.lend(id, in: collection, writtenSince: nil, to: body) else {
      throw notFound(id)
    }
  }

  private func findLocally(_ id: String, _ options: CallOptions) throws(StoreError) -> [UInt8] {
    let entity = try local?.entity(id, in: collection, writtenSince: writtenSince(options))
    guard let entity else { throw notFound(id) }
    return entity
  }

  private func findRemotely(_ id: String, _ call: Call) throws(StoreError) -> [UInt8] {
    let remote = try backend(for: "read from the network")
    guard let local else {
      let entity = try remote.find(id: id, in: collection, call: call)
      try arrivals.validate(entity, [try arrivals.accepted(entity, as: id)])
      return entity
    }
    var missing = notFound(id)
    for _ in 0..<Self.maxAttempts {
      let (error, isCertain) = try fetch(id, from: remote, into: local, call)
      missing = error ?? missing
      if isCertain { break }
    }
    // What was made, changed or deleted here and is not sent yet counts.
    guard let mine = try local.entity(id, in: collection, writtenSince: nil) else { throw missing }
    return mine
  }

  /// How often the backend is asked for an entity that others store while it says that there is none.
  private static let maxAttempts = 3

  /// Stores an entity as it is on the backend. If the backend has none, gives its error, and deletes the entity here as well;
  /// unless it was stored meanwhile, by another read perhaps with a later answer: then nothing is certain.
  private func fetch(
    _ id: String, from remote: any Remote, into local: any LocalStore, _ call: Call
  ) throws(StoreError) -> (missing: StoreError?, isCertain: Bool) {
    try sendGate.fence.reading { (reading) throws(StoreError) in
      let before = try local.version(of: id, in: collection)
      do throws(StoreError) {
        let answered = AnsweredData()
        var call = call
        call.answered = answered.hear
        let entity = try remote.find(id: id, in: collection, call: call)
        let outline = try arrivals.accepted(entity, as: id)
        if try answered.note(in: local, collection) {
          try local.keepLost([(id, .entity(entity))], in: collection, from: .latest)
        }
        if before != nil, try isOlder(outline.version(in: entity), than: id, local) {
          // Another read may have brought the newer one, or the backend went back.
          try Refresher(self, local, remote: remote, call: call).refresh([id])
        } else {
          try arrivals.store(entity, outline, in: local, of: reading)
        }
        return (nil, true)
      } catch {
        guard error.kind == .notFound else { throw error }
        if format.versionsOnlyRise || before != nil {
          // A later version may be here than the one that has gone, or the backend has other data than when it was read: that
          // is asked for.
          try Refresher(self, local, remote: remote, call: call).refresh([id])
          return (error, true)
        }
        var isCertain = true
        _ = try sendGate.fence.forgetting([id], of: reading) { (ids) throws(StoreError) in
          isCertain = try local.version(of: id, in: collection) == before
          guard isCertain else { return ReplicaChange(doubtful: ids) }
          return try local.forget(ids, in: collection, at: nil, since: nil)
        }
        return (error, isCertain)
      }
    }
  }

  /// Whether a newer version of an entity is here than one that the backend shows.
  private func isOlder(
    _ theirs: RecordVersion?, than id: String, _ local: any LocalStore
  ) throws(StoreError) -> Bool {
    guard let theirs, let ours = try local.entity(id, in: collection, writtenSince: nil),
      let version = format.version(of: ours)
    else { return false }
    return format.isOlder(theirs, than: version)
  }

  package func notFound(_ id: String) -> StoreError {
    var error = StoreError(.notFound, "There is no entity with this id.")
    error.id = id
    return error
  }

  // MARK: Find by ids

  /// Gives the entities of some ids as a JSON array in their order, with null where there is none.
  package func find(
    ids: [String], _ options: CallOptions, early: ([UInt8]) -> Void = { _ in }
  ) throws(StoreError) -> Answered<[UInt8]> {
    for (index, id) in ids.enumerated() where id.isEmpty {
      var error = StoreError(.invalid, "An id must not be empty.")
      error.index = index
      throw error
    }
    return try reading(options, early) { (options) throws(StoreError) in
      try findLocally(ids, since: writtenSince(options), options.call)
    } remotely: { (options) throws(StoreError) in
      try findRemotely(ids, options.call)
    }
  }

  private func findLocally(
    _ ids: [String], since: Timestamp?, _ call: Call
  ) throws(StoreError) -> [UInt8] {
    var list = JSONArrayWriter()
    if let local {
      try local.lend(ids, in: collection, writtenSince: since, within: call.budget) {
        (entity) throws(StoreError) in try list.add(json: entity, or: StoreError.noMemory)
      }
    } else {
      for _ in ids { try list.add(json: nil, or: StoreError.noMemory) }
    }
    return list.finish()
  }

  private func findRemotely(_ ids: [String], _ call: Call) throws(StoreError) -> [UInt8] {
    let remote = try backend(for: "read from the network")
    guard let local else {
      let found = try backendEntities(ids, remote, call: call)
      var list = JSONArrayWriter()
      for id in ids {
        guard let entity = found[RecordID(id)] else {
          try list.add(json: nil, or: StoreError.noMemory)
          continue
        }
        try arrivals.validate(entity.bytes, [try arrivals.accepted(entity.bytes, as: id)])
        try entity.bytes.withBorrowedBytes { (entity) throws(StoreError) in
          try list.add(json: entity, or: StoreError.noMemory)
        }
      }
      return list.finish()
    }
    try Refresher(self, local, remote: remote, call: call).refresh(ids)
    // What was made, changed or deleted here and is not sent yet counts.
    return try findLocally(ids, since: nil, call)
  }

  // MARK: Count

  /// How many match.
  package func count(
    _ query: Query, _ options: CallOptions, early: (Int) -> Void = { _ in }
  ) throws(StoreError) -> Answered<Int> {
    try reading(options, early) { (options) throws(StoreError) in
      try local?.count(
        query, in: collection, writtenSince: writtenSince(options), within: options.call.budget)
        ?? 0
    } remotely: { (options) throws(StoreError) in
      try BackendReader(self, for: "count on the network", call: options.call).count(query)
    }
  }

  // MARK: Shared

  /// Reads as the policy says: from one side, from the other if no answer came, or from both, `early`
  /// receiving what is local.
  func reading<Value>(
    _ options: CallOptions, _ early: (Value) -> Void,
    locally: (CallOptions) throws(StoreError) -> Value,
    remotely: (CallOptions) throws(StoreError) -> Value
  ) throws(StoreError) -> Answered<Value> {
    switch readPolicy(options) {
    case .forceLocal: return Answered(try locally(options), isLocal: true)
    case .forceNetwork: return Answered(try remotely(options), isLocal: false)
    case .both:
      early(try locally(options))
      return Answered(try remotely(options), isLocal: false)
    case .networkOtherwiseLocal:
      return try otherwiseLocal { () throws(StoreError) in
        try remotely(options.impatient)
      } local: { () throws(StoreError) in
        try locally(options.untimed)
      }
    }
  }

  /// The backend's answer, or the local one if no answer came at all. An answer that is an error is an
  /// answer.
  private func otherwiseLocal<Value>(
    _ remotely: () throws(StoreError) -> Value, local: () throws(StoreError) -> Value
  ) throws(StoreError) -> Answered<Value> {
    do throws(StoreError) {
      return Answered(try remotely(), isLocal: false)
    } catch {
      guard error.isOffline else { throw error }
      return Answered(try local(), isLocal: true)
    }
  }

}
