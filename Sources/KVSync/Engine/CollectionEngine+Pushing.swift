internal import KVBase
internal import KVJSON

extension CollectionEngine {
  /// How many pending writes are looked at together: bounds memory, and how much work a crash repeats.
  private static let pageSize = 500

  // MARK: Push

  /// Sends all pending writes of the collection, oldest first, each at most once.
  ///
  /// What the backend refuses stays queued with its error and holds up nothing. When nobody answers, or
  /// the session has ended, the rest is not tried: that error is thrown, and what was accepted before
  /// is accepted.
  package func push(_ call: Call) throws(StoreError) -> PushResult {
    let local = try localStore(for: "push")
    _ = try backend(for: "push")
    _ = try writer()
    return try inFlight.pushing(call) { () throws(StoreError) in
      var result = PushResult()
      // What is saved meanwhile goes behind: it is for the next push.
      var left = try local.pendingCount(in: collection)
      call.progress.update { $0.entitiesTotal = UInt64(max(0, left)) }
      var order: Int64 = 0
      while left > 0 {
        let page = try local.pending(
          in: collection, after: order, most: min(left, Self.pageSize))
        guard let last = page.last else { break }
        order = last.order
        left -= page.count
        let first = result.pushed + result.errors.count
        let part = try send(page.map(\.id), call)
        result.pushed += part.pushed
        result.errors += part.errors.map { error in
          var error = error
          error.index = error.index.map { $0 + first }
          return error
        }
      }
      return result
    }
  }

  /// Sends the pending write of one entity, if there is one; throws if the backend refuses it.
  package func sendOne(_ id: String, _ call: Call) throws(StoreError) {
    let result = try send([id], call)
    if let error = result.errors.first { throw error }
  }

  // MARK: Some of the queue

  /// Sends the pending writes of some entities as they are once nobody else sends them. Errors have the
  /// `id`, and as `index` the place among `ids`.
  func send(_ ids: [String], _ call: Call) throws(StoreError) -> PushResult {
    guard !ids.isEmpty else { return PushResult() }
    let local = try localStore(for: "push")
    let remote = try backend(for: "push")
    return try inFlight.sending(ids, call) { () throws(StoreError) in
      var writes: [PendingWrite] = []
      var seen: Set<String> = []
      for id in ids where seen.insert(id).inserted {
        if let write = try local.pending(id, in: collection)?.write { writes.append(write) }
      }
      var round = PushRound(self, local, remote, call)
      try round.send(writes)
      // Creates that turned out to be there already are sent once more, as updates.
      let again = try round.resolveDuplicates()
      if !again.isEmpty { try round.send(again) }
      if let error = round.stopped { throw error }
      return round.result(orderedBy: ids)
    }
  }
}

/// One page of a push: what was sent, and what came of it.
private struct PushRound {
  private let engine: CollectionEngine
  private let local: any LocalStore
  private let remote: any Remote
  private let call: Call
  private var pushed = 0
  private var failures: [(write: PendingWrite, error: StoreError)] = []
  /// Creates whose id the backend has already, with the bytes that were to be created.
  private var duplicates: [(sent: OutgoingWrite, error: StoreError)] = []
  /// Why the rest is not worth trying.
  private(set) var stopped: StoreError?

  init(_ engine: CollectionEngine, _ local: any LocalStore, _ remote: any Remote, _ call: Call) {
    self.engine = engine
    self.local = local
    self.remote = remote
    self.call = call
  }

  // MARK: Sending

  /// Sends writes and records what came of each, in one transaction for all that the backend accepted
  /// and one for all that it refused.
  mutating func send(_ writes: [PendingWrite]) throws(StoreError) {
    let outgoing = try local.beginSending(writes)
    guard !outgoing.isEmpty else { return }
    let (requests, places) = batches(outgoing)
    // Stopping must not cancel the caller's other work.
    let stop = Cancellation()
    var sending = call
    sending.cancellation = stop
    var confirmed: [(write: PendingWrite, stored: [UInt8]?)] = []
    let before = failures.count
    call.cancellation.notifying {
      stop.cancel()
    } during: {
      remote.send(requests, in: engine.collection, sending) { request, outcome in
        for (sent, result) in results(outcome, for: places[request].map { outgoing[$0] }) {
          take(result, for: sent, &confirmed)
        }
        if stopped != nil { stop.cancel() }
      }
    }
    // Recorded even if the call was cancelled: the backend has these.
    if !confirmed.isEmpty { try local.confirm(confirmed) }
    pushed += confirmed.count
    if failures.count > before { try local.recordFailure(Array(failures[before...])) }
    if stopped == nil, call.cancellation.isCancelled {
      stopped = StoreError(.cancelled, "The call was cancelled.")
    }
  }

  /// New entities together, the others one by one; each request with its places in `outgoing`.
  private func batches(_ outgoing: [OutgoingWrite]) -> ([RemoteWrite], [[Int]]) {
    var requests: [RemoteWrite] = []
    var places: [[Int]] = []
    let new = outgoing.indices.filter { outgoing[$0].write.operation == .create }
    for start in stride(from: 0, to: new.count, by: CollectionEngine.mostPerInsert) {
      let batch = Array(new[start..<min(start + CollectionEngine.mostPerInsert, new.count)])
      let bodies = batch.map { outgoing[$0].body ?? [] }
      requests.append(bodies.count == 1 ? .create(bodies[0]) : .createMany(bodies))
      places.append(batch)
    }
    for (place, sent) in outgoing.enumerated() {
      switch sent.write.operation {
      case .create: continue
      case .update: requests.append(.update(id: sent.write.id, sent.body ?? []))
      case .delete: requests.append(.delete(id: sent.write.id))
      }
      places.append([place])
    }
    return (requests, places)
  }

  // MARK: Outcomes

  /// One result for each write that a request carried.
  private func results(
    _ outcome: Result<RemoteOutcome, StoreError>, for sent: [OutgoingWrite]
  ) -> [(OutgoingWrite, Result<[UInt8]?, StoreError>)] {
    switch outcome {
    case .failure(let error): return sent.map { ($0, .failure(error)) }
    case .success(.stored(let entity)): return sent.prefix(1).map { ($0, .success(entity)) }
    case .success(.deleted): return sent.prefix(1).map { ($0, .success(nil)) }
    case .success(.storedMany(let many)):
      return sent.enumerated().map { place, write in
        guard many.indices.contains(place) else {
          return (write, .failure(.badAnswer("The backend did not answer for this entity.")))
        }
        return (write, many[place].map { $0 })
      }
    }
  }

  private mutating func take(
    _ result: Result<[UInt8]?, StoreError>, for sent: OutgoingWrite,
    _ confirmed: inout [(write: PendingWrite, stored: [UInt8]?)]
  ) {
    do throws(StoreError) {
      let stored = try result.get()
      if let stored { _ = try engine.accepted(stored, as: sent.write.id) }
      confirmed.append((sent.write, stored))
      call.progress.update { $0.entitiesDone += 1 }
    } catch {
      switch error.kind {
      case .conflict where sent.write.operation == .create: duplicates.append((sent, error))
      // Stopped before it was sent, or while it was: it is not the entity's fault.
      case .cancelled: break
      case .unauthorized, .noUser: stopped = stopped ?? error
      case _ where error.isOffline: stopped = stopped ?? error
      default: fail(sent.write, error)
      }
    }
  }

  private mutating func fail(_ write: PendingWrite, _ error: StoreError) {
    var error = error
    error.id = write.id
    failures.append((write, error))
    call.progress.update { $0.entitiesDone += 1 }
  }

  // MARK: Creates that exist

  /// A create that is refused because the id exists was ours, if we created what is there: its answer was
  /// lost. If it is what we would create now, it is done; else our newer version goes as an update.
  /// Gives the writes to send again.
  mutating func resolveDuplicates() throws(StoreError) -> [PendingWrite] {
    let user = try engine.writer()
    var again: [PendingWrite] = []
    for (sent, refusal) in duplicates where stopped == nil {
      do throws(StoreError) {
        let id = sent.write.id
        let theirs = try remote.find(id: id, in: engine.collection, call)
        _ = try engine.accepted(theirs, as: id)
        let existing = Existing(theirs)
        guard existing.creator == nil || user == nil || existing.creator == user else {
          throw refusal
        }
        if existing.isSameContent(as: sent.body ?? []) {
          try local.confirm([(sent.write, theirs)])
          pushed += 1
        } else {
          try local.turnIntoUpdate(id, in: engine.collection)
          if let write = try local.pending(id, in: engine.collection)?.write { again.append(write) }
        }
      } catch {
        if error.isOffline || error.kind == .unauthorized || error.kind == .cancelled {
          stopped = error
        } else {
          fail(sent.write, error)
          try local.recordFailure([(sent.write, error)])
        }
      }
    }
    duplicates = []
    return again
  }

  func result(orderedBy ids: [String]) -> PushResult {
    let places = Dictionary(
      ids.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { first, _ in first })
    let errors = failures.map { failure in
      var error = failure.error
      error.index = places[failure.write.id]
      return error
    }
    return PushResult(pushed: pushed, errors: errors.sorted { ($0.index ?? 0) < ($1.index ?? 0) })
  }
}

/// What the backend has under an id that we meant to create.
private struct Existing {
  let creator: String?
  private let members: JSONObject?

  init(_ bytes: [UInt8]) {
    let object = Existing.object(bytes)
    creator = object?["_acl"]?["creator"]?.stringValue
    members = object.map(Existing.content)
  }

  /// Whether it says the same as what we sent, the backend's own members aside.
  func isSameContent(as bytes: [UInt8]) -> Bool {
    guard let members, let ours = Existing.object(bytes).map(Existing.content) else { return false }
    return members.count == ours.count && members.members.allSatisfy { ours[$0.name] == $0.value }
  }

  private static func object(_ bytes: [UInt8]) -> JSONObject? {
    (try? JSONValue(parsing: bytes))?.objectValue
  }

  private static func content(_ object: JSONObject) -> JSONObject {
    JSONObject(object.members.filter { !["_id", "_acl", "_kmd"].contains($0.name) })
  }
}
