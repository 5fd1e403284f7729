internal import KVBase

/// A push under way: what was sent, and what came of it. One thread at a time.
struct Push {
  let engine: CollectionEngine
  let local: any Outbox & Tombstones
  let remote: any Remote
  let call: Call
  /// The user who pushes; nil: the holder of the master secret.
  let user: String?

  private var pushed = 0
  /// What writes that were not accepted yet replace unseen.
  private var overwriting: [RecordID: RemoteVersion] = [:]
  private var overwritten = 0
  /// The writes of which something was given up for what the backend has.
  private var discardedIDs: Set<RecordID> = []
  private var failures: [StoreError] = []
  /// The indexes in the whole queue of the writes of this page, and of those without an answer.
  private var indices: [RecordID: Int] = [:]
  private var tried = 0
  private var reachability: Reachability
  /// Whether the backend was known to recognise repeated writes when it was last sent some.
  private(set) var recognisesRepeats = false
  /// The entities of this page whose batch was refused as a whole.
  private var alone: Set<RecordID> = []
  /// Why the rest is not worth trying.
  private var stopped: StoreError?
  /// Which data the backend had when it answered last.
  let answered = AnsweredData()
  /// So often what was held up or was overtaken is sent again.
  private static let maxRounds = 5
  /// How many writes are read at once: what they need in memory follows from those before.
  private var sliceSize: Int

  init(
    _ engine: CollectionEngine, _ local: any Outbox & Tombstones, remote: any Remote,
    call: Call,
    user: String?
  ) {
    self.engine = engine
    self.local = local
    self.remote = remote
    self.call = call
    self.user = user
    reachability = Reachability(isStrict: remote.hasOneQueue)
    // In one queue a write is taken up once those before it are done with.
    sliceSize = remote.hasOneQueue ? 1 : 100
  }

  /// What a round of requests came to, before it is written down.
  struct Round {
    var confirmed: [AcceptedWrite] = []
    var failed: [(write: PendingWrite, error: StoreError)] = []
    /// What the backend has of those that failed, where that is known.
    var theirs: [RecordID: RemoteVersion] = [:]
    /// The writes that met another version than the one that they change.
    var conflicts: [Conflicted] = []
    /// Operators that the backend does not carry out, and of which it surely has none.
    var refusedOperators: [OutgoingWrite] = []
    /// Creates whose id the backend has already.
    var duplicates: [(sent: OutgoingWrite, refusal: StoreError)] = []
    /// The writes that an earlier request has carried out, and whose entities have gone since.
    var gone: [OutgoingWrite] = []
    /// To be sent again, each on its own: their batch was refused as a whole.
    var alone: [PendingWrite] = []
    /// The writes whose operators were carried out, and that have more to send.
    var more: [PendingWrite] = []
  }

  // MARK: A page

  /// Sends a page of the queue. Throws if it is not worth going on.
  mutating func send(_ page: [PendingWrite]) throws(StoreError) {
    // Those that still wait for an answer keep their indexes.
    let waiting = Set(reachability.unanswered.map { RecordID($0.write.id) })
    indices = indices.filter { waiting.contains($0.key) }
    for (offset, write) in page.enumerated() { indices[RecordID(write.id)] = tried + offset }
    tried += page.count
    alone = []
    var rest = page[...]
    while !rest.isEmpty {
      let slice = Array(rest.prefix(sliceSize))
      rest = rest.dropFirst(slice.count)
      try sendSlice(slice)
    }
  }

  /// The result of the whole push. Throws if the last that was tried had no answer.
  func result() throws(StoreError) -> PushResult {
    if let silence = reachability.silence { throw silence }
    return PushResult(
      pushed: pushed, errors: failures.sorted { ($0.index ?? 0) < ($1.index ?? 0) },
      overwritten: overwritten, discarded: discardedIDs.count)
  }

  /// Tells that something of a write was given up, once for each.
  mutating func tellDiscarded(_ write: PendingWrite, _ ours: [UInt8]?, for theirs: RemoteVersion) {
    guard discardedIDs.insert(RecordID(write.id)).inserted else { return }
    call.discarded(write, ours, theirs.bytes)
  }

  /// Tells what a write has replaced unseen, if it has, once.
  mutating func tellOverwritten(_ write: PendingWrite) {
    guard let theirs = overwriting.removeValue(forKey: RecordID(write.id)) else { return }
    overwritten += 1
    call.overwritten(write.id, theirs.bytes)
  }

  private mutating func sendSlice(_ slice: [PendingWrite]) throws(StoreError) {
    var outgoing = try beginSending(slice)
    if outgoing.count < slice.count { outgoing += try beginSendingChanged(slice, outgoing) }
    follow(outgoing)
    var again = try send(outgoing)
    // More rounds: what its batch held up goes alone, what exists already as an update, and what has met
    // another version over that one, unless others are faster every time.
    for round in 1...Self.maxRounds where !again.isEmpty {
      again = try send(try beginSending(again), isLast: round == Self.maxRounds)
    }
    var round = Round()
    // Operators meet no other version: what is left of them is for the next push.
    for write in again where !write.hasOperators {
      fail(write, .conflict(write.id, isGone: false), round: &round)
    }
    try write(round)
  }

  private func beginSending(_ writes: [PendingWrite]) throws(StoreError) -> [OutgoingWrite] {
    try local.beginSending(writes, asOperators: remote.carriesOutOperators(in: engine.collection))
  }

  private mutating func send(
    _ outgoing: [OutgoingWrite], isLast: Bool = false
  ) throws(StoreError) -> [PendingWrite] {
    for sent in outgoing { overwriting[RecordID(sent.write.id)] = sent.replaced }
    var ready: [OutgoingWrite]
    let conflicts: [Conflicted]
    do throws(StoreError) {
      (ready, conflicts) = try conditioned(outgoing, isLast: isLast)
    } catch {
      // Nothing was sent: no request has brought the backend any of these operators.
      try reopenOperators(of: outgoing.filter(\.isFirstOfOperators))
      throw error
    }
    let later = try takeOperators(from: &ready)
    let batches = PushBatch.batches(
      of: ready.map { $0.resending(engine.format) }, remote.limits, alone: alone)
    return try settle(conflicts) + later + send(batches)
  }

  /// Takes out the entities that operators have made, if what was read first has told that the backend carries out operators: sent
  /// as such, they need no answer to have their effect once. Gives the writes to send again.
  private func takeOperators(
    from ready: inout [OutgoingWrite]
  ) throws(StoreError) -> [PendingWrite] {
    guard remote.carriesOutOperators(in: engine.collection) else { return [] }
    let made = ready.filter(\.isFirstOfOperators)
    guard !made.isEmpty else { return [] }
    ready.removeAll(where: \.isFirstOfOperators)
    try reopenOperators(of: made)
    return try left(of: made.map(\.write))
  }

  /// Has operators that have surely not been carried out be sent in another form.
  private func reopenOperators(of writes: [OutgoingWrite]) throws(StoreError) {
    for sent in writes { try local.reopenOperators(sent.write, token: sent.token) }
  }

  /// Entities that were changed after the page was read are sent as they are now; those that are damaged have failed.
  private mutating func beginSendingChanged(
    _ slice: [PendingWrite], _ outgoing: [OutgoingWrite]
  ) throws(StoreError) -> [OutgoingWrite] {
    let begun = Set(outgoing.map { RecordID($0.write.id) })
    var changed: [PendingWrite] = []
    var round = Round()
    for write in slice where !begun.contains(RecordID(write.id)) {
      do throws(StoreError) {
        guard let now = try local.pending(write.id, in: engine.collection)?.write else { continue }
        if now.state == .waiting { changed.append(now) }
      } catch {
        guard error.kind == .corrupt, error.id != nil else { throw error }
        var damage = error
        damage.statedClass = .refused
        fail(write, damage, round: &round)
      }
    }
    try write(round)
    return changed.isEmpty ? [] : try beginSending(changed)
  }

  /// Takes so many writes at once that their bodies stay within 8 MiB or so.
  private mutating func follow(_ outgoing: [OutgoingWrite]) {
    let bytes = outgoing.reduce(0) { $0 + ($1.body?.count ?? 0) }
    guard bytes > 0, !remote.hasOneQueue else { return }
    sliceSize = min(500, max(1, (8 << 20) / max(1, bytes / outgoing.count)))
  }

  // MARK: A round

  /// Sends requests, writes down what came of them, and gives what is to be sent again.
  private mutating func send(_ batches: [PushBatch]) throws(StoreError) -> [PendingWrite] {
    guard !batches.isEmpty else { return [] }
    recognisesRepeats = remote.keepsTokens
    // Stopping must not cancel the caller's other work.
    let stop = Cancellation()
    var sending = call.sending(batches.lazy.flatMap(\.writes))
    sending.cancellation = stop
    sending.answered = answered.hear
    var round = Round()
    call.cancellation.notifying {
      stop.cancel()
    } during: {
      remote.send(batches.map(\.request), in: engine.collection, call: sending) { index, outcome in
        handle(outcome, of: batches[index], round: &round)
        if stopped != nil || reachability.isGone { stop.cancel() }
      }
    }
    // Written down even if the call was cancelled: the backend has these.
    try write(round)
    if let stopped { throw stopped }
    if reachability.isGone, let silence = reachability.silence { throw silence }
    if call.cancellation.isCancelled { throw StoreError(.cancelled, "The call was cancelled.") }
    return try resolve(round.duplicates) + settle(round.conflicts) + round.alone
      + left(of: round.more + round.refusedOperators.map(\.write))
  }

  /// The writes as they are now: those that are still to be sent.
  private func left(of writes: [PendingWrite]) throws(StoreError) -> [PendingWrite] {
    var left: [PendingWrite] = []
    for write in writes {
      guard let now = try local.pending(write.id, in: engine.collection)?.write else { continue }
      if now.state == .waiting { left.append(now) }
    }
    return left
  }

  /// One transaction for all that the backend accepted and one for all that it refused.
  mutating func write(_ round: Round) throws(StoreError) {
    try reopenOperators(of: round.refusedOperators)
    if !round.confirmed.isEmpty { try settle(round.confirmed) }
    if !round.gone.isEmpty { try settle(gone: try withoutMore(round.gone).map(\.write)) }
    guard !round.failed.isEmpty else { return }
    let passing = round.failed.filter { !$0.error.isRefusalForGood }
    if !passing.isEmpty { try local.recordFailure(passing) }
    let refused = round.failed.filter { $0.error.isRefusalForGood }.map { write, error in
      QuarantinedWrite(write: write, error: error, theirs: round.theirs[RecordID(write.id)])
    }
    if !refused.isEmpty { try local.quarantine(refused) }
    for one in refused { call.quarantined(one.write, one.error) }
    failures += round.failed.map { failed in
      var error = failed.error
      error.index = indices[RecordID(failed.write.id)]
      return error
    }
    call.progress.update { $0.entitiesDone += UInt64(round.failed.count) }
  }

  private mutating func settle(_ confirmed: [AcceptedWrite]) throws(StoreError) {
    try engine.sendGate.fence.settling(confirmed.map(\.write.id)) {
      () throws(StoreError) in
      var rest = confirmed[...]
      while let data = rest.first?.data {
        // Before anything of these data is here: what is here is of those that the backend had before.
        try local.note(data, in: engine.collection)
        let some = rest.prefix { data.isSame(as: $0.data) }
        try local.confirm(Array(some))
        rest = rest[some.endIndex...]
      }
      if !rest.isEmpty { try local.confirm(Array(rest)) }
    }
    engine.releaseUnkept(confirmed.map(\.write.id))
    pushed += confirmed.count
    for accepted in confirmed {
      let write = accepted.write
      call.accepted(write, accepted.stored)
      tellOverwritten(write)
    }
    call.progress.update { $0.entitiesDone += UInt64(confirmed.count) }
  }

  /// Those that have nothing else to send; of the others the operators are taken off the queue.
  private func withoutMore(_ gone: [OutgoingWrite]) throws(StoreError) -> [OutgoingWrite] {
    var done: [OutgoingWrite] = []
    for sent in gone {
      guard let token = sent.operators?.token,
        try local.finishOperators(sent.write, token: token)
      else {
        done.append(sent)
        continue
      }
    }
    return done
  }

  /// Takes off the queue what was carried out and has been deleted by others since.
  private mutating func settle(gone: [PendingWrite]) throws(StoreError) {
    try engine.sendGate.fence.settling(gone.map(\.id)) { () throws(StoreError) in
      try local.acceptRemote(gone.map { ($0, .gone) })
    }
    pushed += gone.count
    for write in gone { call.accepted(write, nil) }
    call.progress.update { $0.entitiesDone += UInt64(gone.count) }
  }

  // MARK: Outcomes

  private mutating func handle(
    _ outcome: Result<RemoteOutcome, StoreError>, of batch: PushBatch, round: inout Round
  ) {
    if case .failure(let error) = outcome, error.kind == .cancelled {
      // Stopped before it was sent, or while it was: it is not the entities' fault.
      return
    }
    if case .failure(let error) = outcome, error.isSilence {
      reachability.recordSilence(batch.writes.map(\.write), error)
      return
    }
    for (write, error) in reachability.recordAnswer() { fail(write, error, round: &round) }
    if case .failure(let error) = outcome, batch.writes.count > 1, error.isAboutTheBody {
      round.alone += batch.writes.map(\.write)
      alone.formUnion(batch.writes.map { RecordID($0.write.id) })
      return
    }
    for (sent, result) in batch.results(outcome) { handle(result, of: sent, round: &round) }
  }

  private mutating func handle(
    _ result: Result<AcceptedWrite, StoreError>, of sent: OutgoingWrite, round: inout Round
  ) {
    do throws(StoreError) {
      let accepted = noted(try result.get())
      if let stored = accepted.stored {
        _ = try engine.arrivals.accepted(stored, as: sent.write.id)
      }
      guard accepted.isMerged, let stored = accepted.stored else {
        round.confirmed.append(accepted)
        if sent.operators?.hasMore ?? false { round.more.append(sent.write) }
        return
      }
      var refusal = StoreError.conflict(sent.write.id, isGone: false)
      refusal.followsFailure = accepted.followsFailure
      round.conflicts.append(
        Conflicted(sent: sent, refusal: refusal, theirs: .entity(stored), isMerged: true))
    } catch {
      switch error.kind {
      case _ where error.wasCarriedOut:
        round.gone.append(sent)
        if sent.operators?.hasMore ?? false { round.more.append(sent.write) }
      case .notFound where sent.carriedOut != nil, .unsupported where sent.carriedOut != nil:
        let conflict = Conflicted(sent: sent, refusal: error)
        if error.kind == .unsupported, conflict.isFirstAttempt {
          round.refusedOperators.append(sent)
        } else {
          // A backend that turns out to carry out none gets the whole entity.
          round.conflicts.append(conflict)
        }
      case .conflict where sent.write.operation == .create:
        round.duplicates.append((sent, error))
      case .conflict where sent.condition != .none, .notFound where sent.condition != .none:
        round.conflicts.append(Conflicted(sent: sent, refusal: error))
      case .unauthorized, .noUser: stopped = stopped ?? error
      default: fail(sent.write, error, round: &round)
      }
    }
  }

  /// A write as the backend's last answer shows it.
  func noted(_ write: AcceptedWrite) -> AcceptedWrite {
    var write = write
    write.data = answered.value
    return write
  }

  /// What the backend has under these ids.
  func backendEntities(_ ids: [String]) throws(StoreError) -> [RecordID: BackendEntity] {
    try engine.backendEntities(
      ids, remote, call: call, moment: { answered.hear($0.data) })
  }

  func fail(_ write: PendingWrite, _ error: StoreError, round: inout Round) {
    var error = error
    error.id = write.id
    round.failed.append((write, error))
  }

  // MARK: Creates that exist

  /// A create that is refused because its id exists was ours, if we created what is there: its answer was
  /// lost. If nothing was changed here since it was sent first, or it is what we would create now, it is
  /// done, and what the backend has is what others have made of it since. Else our newer version goes as
  /// an update. Gives the writes to send again.
  private mutating func resolve(
    _ duplicates: [(sent: OutgoingWrite, refusal: StoreError)]
  ) throws(StoreError) -> [PendingWrite] {
    guard !duplicates.isEmpty else { return [] }
    let theirs = try backendEntities(duplicates.map(\.sent.write.id))
    var round = Round()
    var met: [Conflicted] = []
    var again: [PendingWrite] = []
    for (sent, refusal) in duplicates {
      let id = sent.write.id
      guard let existing = theirs[RecordID(id)], existing.isMade(by: user) else {
        let existing = theirs[RecordID(id)].map { RemoteVersion.entity($0.bytes) }
        if call.conflicts == .clientWins || existing == nil {
          round.theirs[RecordID(id)] = existing
          fail(sent.write, refusal, round: &round)
        } else {
          met.append(Conflicted(sent: sent, refusal: refusal, theirs: existing))
        }
        continue
      }
      if try isDone(sent, existing) {
        round.confirmed.append(noted(AcceptedWrite(sent.write, stored: existing.bytes)))
      } else {
        try local.turnIntoUpdate(id, in: engine.collection)
        if let write = try local.pending(id, in: engine.collection)?.write { again.append(write) }
      }
    }
    try write(round)
    return try again + settle(met)
  }

  /// Whether what is there under the id of a create came of this write, and of no other of ours.
  private func isDone(_ sent: OutgoingWrite, _ existing: BackendEntity) throws(StoreError) -> Bool {
    if try existing.isSameContent(as: sent.body ?? []) { return true }
    guard sent.write.isAsFirstSent else { return false }
    return try local.pending(sent.write.id, in: engine.collection)?.tried.isEmpty ?? true
  }
}

extension StoreError {
  /// Whether the backend refused what was sent, not that it was sent: of a batch, one entity may be to
  /// blame, or that it is one.
  fileprivate var isAboutTheBody: Bool {
    kind == .unsupported || failureClass == .refused && (kind == .invalid || kind == .tooLarge)
  }
}
