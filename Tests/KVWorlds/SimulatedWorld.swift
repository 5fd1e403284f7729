import KVBase
import KVJSON
import KVQuery
import KVStorage
import KVSync
package import KVTestSupport

/// What the clients of a world speak to.
package enum WorldKind: String, CaseIterable, Sendable {
  case keyValue, appSync

  fileprivate func backend(_ random: inout Seed) throws -> any WorldBackend {
    switch self {
    case .keyValue: KeyValueWorld(&random)
    case .appSync: try AppSyncWorld(&random)
    }
  }
}

/// Several clients on one backend – one as Kinvey's, or an API of AppSync at the transport –, on real database files, over a
/// network that loses, delays, doubles, cuts and reorders messages, creates for as long as it likes, with a server that restarts,
/// in processes that die between any two transactions; everything by one seed. Some reads ask for everything, some for pages,
/// some for changes only; some calls repeat what failed. Some clients take in live data, whose messages arrive at any time, in the
/// middle of requests too.
///
/// Some clients see the backend through functions that speak JSON. Some backends take batches of writes, and their answers may
/// lack some of them.
///
/// Some clients keep everything, some what an expression selects that changes now and then, and some keep nothing: network
/// stores. Processes end at any moment, between a save and its push too.
///
/// Every client changes and deletes its own entities only, and saves to a few that all share, which it also deletes. Then the
/// weather clears and everybody synchronises. Each world has its strategy for conflicts, on a backend that
/// keeps the conditions of writes or one that does not; what is left open is decided at the end, at random.
/// Nobody else changes an entity of one's own, so that no strategy may lose anything of these; of those that are shared
/// everything that is lost was told to who had written it: see `WriteLedger`.
package final class SimulatedWorld {
  private let seed: Seed
  private var random: Seed
  private let backend: any WorldBackend
  private let directory = TemporaryDirectory(inMemory: true)
  private let strategy: ConflictStrategy
  /// Whether what would be discarded is set aside.
  private let keepsDiscarded: Bool
  private var members: [Member] = []
  /// Whether somebody acts while somebody else's request is on its way: not more than two at a time.
  private var isInterrupted = false
  private var findings: [String] = []
  /// What the backend has lost when it went back, and a client has.
  private var lost: [Lost] = []
  /// How long the history of the backend was each time that it had gone back.
  private var restores: [Int] = []

  /// The newest version of a record that a client has of what its backend has lost.
  private struct Lost {
    let id: String
    let entity: JSONObject
    /// How long the history of the backend was then.
    let since: Int

    var version: String { Lost.version(of: entity) }

    static func version(of entity: JSONObject) -> String {
      entity["_kmd"]?["lmt"]?.stringValue ?? ""
    }
  }

  package init(_ seed: Seed, _ kind: WorldKind) throws {
    self.seed = seed
    random = seed
    strategy =
      ConflictStrategy.allCases[Int(random.next() % UInt64(ConflictStrategy.allCases.count))]
    keepsDiscarded = random.next() % 4 == 0
    backend = try kind.backend(&random)
    for number in 0..<Int(2 + random.next() % 7) {
      let connection = try backend.connect("user\(number)", &random)
      let path = directory.file("\(number).kvs")
      let member = try Member(
        number, at: path, connection: connection, backend: backend, strategy: strategy,
        keepsDiscarded: keepsDiscarded, ids: Seed(random.next()), answers: Seed(random.next()))
      connection.line.before = { [unowned self, unowned member] random in
        interrupt(member, &random)
      }
      connection.line.deliver = { [unowned member] random in
        try? member.listen(&random)
      }
      members.append(member)
    }
  }

  /// Gives what is wrong at the end.
  package func run() throws -> [String] {
    for _ in 0..<40 {
      let member = members[Int(random.next() % UInt64(members.count))]
      member.line.weather = FaultyLine.Weather(
        lostRequests: random.next() % 30, lostAnswers: random.next() % 30,
        halfAnswers: random.next() % 30,
        serverErrors: random.next() % 10, doubledRequests: random.next() % 10,
        overtakenRequests: random.next() % 10, lateCreates: random.next() % 100,
        staleReads: random.next() % 30)
      backend.wait(&random)
      if backend.goesBack { try copyOrGoBack(&random) }
      // The server is restarted: what follows finds nobody for a while.
      if random.next() % 16 == 0 { backend.absence = Int(random.next() % 6) }
      if random.next() % 8 == 0 {
        member.store.callsLeft = Int(random.next() % 12)
        member.store.diesAfterwards = random.next() % 2 == 0
      }
      try act(member, &random)
      if random.next() % 8 == 0 { backend.receiveDelayed(&random, all: false) }
    }
    try heal()
    check()
    return findings
  }

  /// Perhaps the backend's data is copied, or a copy takes its place: twice at the most.
  private func copyOrGoBack(_ random: inout Seed) throws {
    switch random.next() % 16 {
    case 0...2: backend.makeCopy()
    case 3 where restores.count < 2:
      lost.removeAll(where: isKnown)
      let before = backend.contents
      var newest: [String: JSONObject] = [:]
      for member in members {
        member.backendGoesBack()
        // A client that reads what an expression selects lets go of the rest.
        guard member.kind != .synced else { continue }
        for (id, entity) in try member.confirmed where before[id] != nil {
          let other = newest[id].map(Lost.version) ?? ""
          if Lost.version(of: entity) > other { newest[id] = entity }
        }
      }
      let copied = backend.putBack()
      restores.append(backend.history.count)
      for member in members { member.backendWentBack() }
      lost += newest.map { Lost(id: $0.key, entity: $0.value, since: backend.history.count) }
        .filter { $0.version > copied }
    default: break
    }
  }

  private func act(_ member: Member, _ random: inout Seed) throws {
    try? member.listen(&random)
    try member.act(&random)
    if member.store.isDead { try member.restart() }
  }

  /// A request is on its way: it is overtaken by what somebody else does.
  private func interrupt(_ member: Member, _ random: inout Seed) {
    guard !isInterrupted else { return }
    isInterrupted = true
    defer { isInterrupted = false }
    let other = members[Int(random.next() % UInt64(members.count))]
    guard other !== member else { return }
    do { try act(other, &random) } catch { findings.append("\(error): \(seed)") }
  }

  private func heal() throws {
    backend.absence = 0
    for member in members {
      member.line.weather = FaultyLine.Weather()
      member.line.meanwhile = { _ in }
      member.store.callsLeft = nil
      // It may have died while it took in a message in the middle of another's request.
      if member.store.isDead { try member.restart() }
      // First, because a message that comes during the push may queue a deletion, which goes with the next one: nothing
      // but conflicts may be left by this one.
      try member.listenToAll(&random)
      guard member.kind != .network else { continue }
      let result = try member.push()
      let isAllowed =
        keepsDiscarded || backend.goesBack
        || ![.clientWins, .serverWins, .automerge].contains(strategy)
      require(
        result.errors.allSatisfy { isAllowed && $0.kind == .conflict },
        "errors at the end: \(result.errors)")
      findings += try member.decideConflicts(&random, in: seed)
    }
    backend.receiveDelayed(&random, all: true)
    // Three times: what has arrived late is seen the first time and deleted the second; and what one pushes after another
    // has pulled is pulled the next time.
    // What a backend has lost is found by a read, decided about, and seen by the others' next one.
    for _ in 0..<(backend.goesBack ? 8 : 3) {
      for member in members {
        let errors = try member.synchronise(&random)
        require(backend.goesBack || errors.isEmpty, "errors at the end: \(errors)")
        if backend.goesBack { findings += try member.decideConflicts(&random, in: seed) }
      }
    }
    for member in members { try member.listenToAll(&random) }
  }

  private func require(_ isSo: Bool, _ otherwise: @autoclosure () -> String) {
    if !isSo { findings.append("\(otherwise()): \(seed)") }
  }

  private func check() {
    let expected = backend.contents
    for member in members {
      require((try? member.engine.pendingCount()) == 0, "wedged: a queue is not empty")
      let kept = expected.filter { member.keeps($0.value) }
      require(member.contents == kept, "divergent: a client and the backend differ")
      findings += member.findings.map { "\($0): \(seed)" }
      for finding in member.ledger.unsaid(
        backend.history, tellsReplaced: backend.keepsConditions && !backend.goesBack)
      {
        findings.append("\(finding) (\(strategy)): \(seed)")
      }
      if let count = expected[member.counterID]?["count"]?.intValue {
        require(
          member.counted.contains(count), "doubled: counted \(count), not \(member.counted)")
      }
      for (id, states) in member.acknowledged {
        let found = expected[id]?["value"] ?? .null
        // What was deleted may be there again: who reads only what an expression selects does not see it, and another client may send
        // a later version again than the one that was known to be deleted. A change of what was lost is a conflict for the handlers,
        // also of who sends a version again that was lost.
        let isKnown =
          !restores.isEmpty
          && (states.contains(.null) || member.handlerGaveUp.withLock { $0.contains(id) }
            || members.contains { $0.handlerReplaced.withLock { $0.contains(id) } })
        require(
          states.contains(found) || isKnown,
          "lost: \(id) acknowledged \(states.map(\.text)), found \(found.text)")
      }
    }
    if backend.carriesOutOperators {
      let least = members.reduce(0) { $0 + $1.added.lowerBound }
      let most = members.reduce(0) { $0 + $1.added.upperBound }
      let count = expected[sumID]?["count"]?.intValue ?? -1
      require((least...most).contains(count), "miscounted: \(count), not \(least)...\(most)")
    }
    for lost in lost where !isKnown(lost) {
      findings.append(
        "lost: \(lost.version) of \(lost.id), which the backend had confirmed: \(seed)")
    }
    let names = expected.values.compactMap { $0["name"]?.stringValue }
    require(Set(names).count == names.count, "doubled: a create happened twice")
    for (id, entity) in expected {
      guard let value = entity["value"] else { continue }
      require(
        entity["tags"] == [value], "doubled: \(id) has \(value), tags \(entity["tags"] ?? .null)")
    }
  }

  /// Whether the backend has had a version again that it had lost, or what had been made of it before it was, or a program has
  /// replaced it, decided about it, or knows that it is kept.
  private func isKnown(_ lost: Lost) -> Bool {
    let marks = WriteLedger.marks(in: lost.entity)
    func hasAll(_ entity: JSONObject?) -> Bool {
      entity != nil && marks.isSubset(of: WriteLedger.marks(in: entity))
    }
    func isBack(_ entity: JSONObject?, since moment: Int) -> Bool {
      let marks = WriteLedger.marks(in: entity)
      return entity != nil
        && backend.history[moment...].contains { change in
          change.id == lost.id && change.after != nil
            && marks.isSubset(of: WriteLedger.marks(in: change.after))
        }
    }
    if isBack(lost.entity, since: lost.since) { return true }
    func changes(in part: ArraySlice<WorldChange>) -> [WorldChange] {
      part.filter { $0.id == lost.id && $0.user != nil }
    }
    // Whoever had a later version sends that again.
    let before = changes(in: backend.history[..<lost.since])
    if let last = before.lastIndex(where: { hasAll($0.after) }),
      before[(last + 1)...].contains(where: { isBack($0.after, since: lost.since) })
    {
      return true
    }
    // What was made between two restores, and is sent again, looks like a later version; not what was only sent again.
    if restores.count == 2, lost.since == restores[0],
      changes(in: backend.history[restores[0]..<restores[1]]).contains(where: {
        $0.after?["_kmd"]?["resent"] == nil && isBack($0.after, since: restores[1])
      })
    {
      return true
    }
    return members.contains { member in
      member.replaced.contains { $0.id == lost.id && hasAll($0.here) }
        || member.decided.contains(lost.id)
        || member.handlerGaveUp.withLock { $0.contains(lost.id) }
        || member.reported.withLock { reported in
          reported.contains {
            $0.id == lost.id && $0.version.text == lost.version && !$0.isQueued
          }
        }
    }
  }
}
