import KVBase
import KVJSON
import KVQuery
import KVSync
import KVWorlds
import Testing

@Suite("Conflicts") struct ConflictTests {
  @Test("the client wins, unless something else is wanted") func clientWins() throws {
    let scene = try ConflictScene()
    try scene.here(["_id": "a", "n": 2])
    try scene.there(["_id": "a", "n": 3])
    #expect(try scene.fixture.engine.push(Call()) == PushResult(pushed: 1, overwritten: 1))
    #expect(try scene.both("n") == [2, 2])
  }

  /// Pushes as the client who wins; gives the result, and what was lost.
  private func overwriting(_ scene: ConflictScene) throws -> (PushResult, [JSONValue?]) {
    let lost = Monitor<[JSONValue?]>([])
    var call = Call()
    call.overwritten = { id, theirs in
      lost.withLock { $0.append(theirs.flatMap { try? JSONValue(parsing: $0) }) }
    }
    return (try scene.fixture.engine.push(call), lost.withLock { $0 })
  }

  @Test("where the backend keeps conditions, the client who wins is told what was lost")
  func overwritten() throws {
    for deletesHere in [false, true] {
      let scene = try ConflictScene()
      try deletesHere ? scene.deletedHere() : scene.here(["_id": "a", "n": 2])
      try scene.there(["_id": "a", "n": 3])
      let (result, lost) = try overwriting(scene)
      #expect(result == PushResult(pushed: 1, overwritten: 1))
      #expect(lost.map { $0?["n"] } == [3])
      #expect(try scene.both("n") == (deletesHere ? [nil, nil] : [2, 2]))
    }
    let gone = try ConflictScene()
    try gone.here(["_id": "a", "n": 2])
    gone.deletedThere()
    let (result, lost) = try overwriting(gone)
    #expect(result == PushResult(pushed: 1, overwritten: 1))
    #expect(lost == [nil])
    #expect(try gone.both("n") == [2, 2])
  }

  @Test("nothing was lost where both say the same, what was sent is our own, or nobody was faster")
  func nothingOverwritten() throws {
    let same = try ConflictScene()
    try same.here(["_id": "a", "n": 3])
    try same.there(["_id": "a", "n": 3])
    #expect(try overwriting(same).0 == PushResult(pushed: 1))
    let own = try ConflictScene()
    try own.here(["_id": "a", "n": 2])
    own.fixture.remote.losesAnswer = { _ in true }
    #expect(failure { _ = try overwriting(own) }?.kind == .network)
    own.fixture.remote.losesAnswer = { _ in false }
    try own.here(["_id": "a", "n": 4])
    #expect(try overwriting(own).0 == PushResult(pushed: 1))
    #expect(try own.both("n") == [4, 4])
    let alone = try ConflictScene()
    try alone.here(["_id": "a", "n": 2])
    #expect(try overwriting(alone).0 == PushResult(pushed: 1))
    #expect(alone.fixture.remote.requests.count == 1)
  }

  /// An entity that was saved and deleted here before anything was sent, while others have made one with its id.
  private func deletedUnsent(keepsConditions: Bool = true) throws -> ConflictScene {
    let scene = try ConflictScene(["_id": "b", "n": 1], keepsConditions: keepsConditions)
    try scene.here(["_id": "a", "n": 2])
    try scene.there(["_id": "a", "n": 3])
    try scene.deletedHere()
    return scene
  }

  @Test("a deletion of what was never sent does not pass unseen over what others have made")
  func deletedBeforeItWasSent() throws {
    let ours = try deletedUnsent()
    let (result, lost) = try overwriting(ours)
    #expect(result == PushResult(pushed: 1, overwritten: 1))
    #expect(lost.map { $0?["n"] } == [3])
    #expect(ours.fixture.backendValue("a", "n") == nil)
    for keepsConditions in [false, true] {
      let theirs = try deletedUnsent(keepsConditions: keepsConditions)
      #expect(try theirs.push(.serverWins) == PushResult(discarded: 1))
      #expect(theirs.fixture.backendValue("a", "n") == 3)
      #expect(try theirs.fixture.found().contains { $0["n"] == 3 })
      let open = try deletedUnsent(keepsConditions: keepsConditions)
      #expect(try open.push(.optimistic).quarantined == 1)
      #expect(open.state == .conflict)
    }
  }

  @Test("nor is it others' what an earlier attempt has made, or nothing", arguments: [false, true])
  func deletedOwn(_ keepsConditions: Bool) throws {
    for strategy in ConflictStrategy.allCases {
      let lost = try ConflictScene(["_id": "b", "n": 1], keepsConditions: keepsConditions)
      try lost.here(["_id": "a", "n": 2])
      lost.fixture.remote.losesAnswer = { _ in true }
      #expect(failure { _ = try lost.push(strategy) }?.kind == .network)
      lost.fixture.remote.losesAnswer = { _ in false }
      try lost.deletedHere()
      #expect(try lost.push(strategy) == PushResult(pushed: 1), "\(strategy)")
      #expect(lost.fixture.backendValue("a", "n") == nil)
      let nothing = try ConflictScene(["_id": "b", "n": 1], keepsConditions: keepsConditions)
      try nothing.here(["_id": "a", "n": 2])
      try nothing.deletedHere()
      #expect(try nothing.push(strategy) == PushResult(pushed: 1), "\(strategy)")
      // A request could only delete what others make meanwhile.
      let isRead = keepsConditions || strategy != .clientWins
      #expect(nothing.fixture.remote.requests.isEmpty == isRead)
    }
  }

  @Test("a push that was cut off leaves to the next one what it was about to replace")
  func overwrittenByTheNextPush() throws {
    // Whether or not the request that replaces was carried out before the connection broke.
    for isCarriedOut in [false, true] {
      for deletesHere in [false, true] {
        let scene = try ConflictScene()
        try deletesHere ? scene.deletedHere() : scene.here(["_id": "a", "n": 2])
        try scene.there(["_id": "a", "n": 3])
        let remote = scene.fixture.remote
        // The first request is answered with the conflict.
        let isSecond = { [unowned remote] in remote.requests.count > 1 }
        remote.losesAnswer = { _ in isCarriedOut && isSecond() }
        remote.refusal = { _ in !isCarriedOut && isSecond() ? ScriptedRemote.error(.network) : nil }
        #expect(failure { _ = try overwriting(scene) }?.kind == .network)
        remote.losesAnswer = { _ in false }
        remote.refusal = { _ in nil }
        let (result, lost) = try overwriting(scene)
        #expect(result == PushResult(pushed: 1, overwritten: 1), "\(isCarriedOut) \(deletesHere)")
        #expect(lost.map { $0?["n"] } == [3], "\(isCarriedOut) \(deletesHere)")
      }
    }
  }

  @Test("so does one that was changed again meanwhile, and one that others have changed further")
  func overwrittenByALaterVersion() throws {
    for changesThere in [false, true] {
      let scene = try ConflictScene()
      try scene.here(["_id": "a", "n": 2])
      try scene.there(["_id": "a", "n": 3])
      let remote = scene.fixture.remote
      remote.losesAnswer = { [unowned remote] _ in remote.requests.count > 1 }
      #expect(failure { _ = try overwriting(scene) }?.kind == .network)
      remote.losesAnswer = { _ in false }
      try changesThere ? scene.there(["_id": "a", "n": 4]) : scene.here(["_id": "a", "n": 5])
      let (result, lost) = try overwriting(scene)
      #expect(result == PushResult(pushed: 1, overwritten: changesThere ? 2 : 1))
      #expect(lost.map { $0?["n"] } == (changesThere ? [3, 4] : [3]))
    }
  }

  @Test(
    "and one that is superseded past the queue leaves it to that", arguments: [true, false])
  func overwrittenPastTheQueue(_ isRemoval: Bool) throws {
    let scene = try ConflictScene()
    try scene.here(["_id": "a", "n": 2])
    try scene.there(["_id": "a", "n": 3])
    let (fixture, remote) = (scene.fixture, scene.fixture.remote)
    remote.losesAnswer = { [unowned remote] _ in remote.requests.count > 1 }
    #expect(failure { _ = try overwriting(scene) }?.kind == .network)
    remote.losesAnswer = { _ in false }
    let lost = Monitor<[JSONValue?]>([])
    var options = fixture.options(write: .forceNetwork)
    options.call.overwritten = { _, theirs in
      lost.withLock { $0.append(theirs.flatMap { try? JSONValue(parsing: $0) }) }
    }
    if isRemoval {
      #expect(try fixture.engine.remove(id: "a", options: options).value == 1)
    } else {
      try fixture.save(["_id": "a", "n": 5], options: options)
    }
    #expect(lost.withLock { $0 }.map { $0?["n"] } == [3])
    #expect(try fixture.engine.pendingCount() == 0)
  }

  @Test("where others are faster every time, the client wins all the same")
  func overwrittenInTheEnd() throws {
    let scene = try ConflictScene()
    try scene.here(["_id": "a", "n": 0])
    var number = 10
    scene.fixture.remote.meanwhile = { [unowned fixture = scene.fixture] in
      number += 1
      try? fixture.publish(["_id": "a", "n": .int(Int64(number))])
    }
    try scene.there(["_id": "a", "n": 10])
    let (result, lost) = try overwriting(scene)
    #expect(result == PushResult(pushed: 1, overwritten: 1))
    #expect(lost.count == 1)
    #expect(try scene.fixture.engine.pendingCount() == 0)
  }

  @Test("where it keeps none, nothing more is asked of it, and nothing is told")
  func unknownOverwritten() throws {
    let scene = try ConflictScene(keepsConditions: false)
    let before = scene.fixture.remote.queries.count
    try scene.here(["_id": "a", "n": 2])
    try scene.there(["_id": "a", "n": 3])
    #expect(try overwriting(scene).0 == PushResult(pushed: 1))
    #expect(scene.fixture.remote.requests.count == 1)
    #expect(scene.fixture.remote.queries.count == before)
  }

  @Test(
    "nothing is in the way of what nobody else has changed",
    arguments: ConflictStrategy.allCases, [true, false])
  func noConflict(_ strategy: ConflictStrategy, _ keepsConditions: Bool) throws {
    let scene = try ConflictScene(keepsConditions: keepsConditions)
    try scene.fixture.publish(["_id": "b"], ["_id": "c"])
    _ = try scene.fixture.engine.pull(Query(), Call())
    try scene.here(["_id": "a", "n": 2])
    try scene.here(["_id": "new", "n": 5])
    try scene.here(["made": true])
    _ = try scene.fixture.engine.remove(id: "b", options: scene.fixture.options())
    #expect(try scene.push(strategy) == PushResult(pushed: 4))
    #expect(try scene.both("n").last == 2)
    #expect(scene.fixture.remote.backend.ids.count == 4)
  }

  /// Pushes and tells what was given up: what was to be saved, and what is there instead.
  private func discarding(
    _ scene: ConflictScene, _ strategy: ConflictStrategy, keeping: Bool = false
  ) throws -> (PushResult, [(ours: JSONValue?, theirs: JSONValue?)]) {
    let told = Monitor<[(ours: JSONValue?, theirs: JSONValue?)]>([])
    var call = Call(conflicts: strategy)
    call.keepsDiscarded = keeping
    call.discarded = { write, ours, theirs in
      #expect(write.id == "a")
      told.withLock {
        $0.append(
          (
            ours.flatMap { try? JSONValue(parsing: $0) },
            theirs.flatMap { try? JSONValue(parsing: $0) }
          ))
      }
    }
    return (try scene.fixture.engine.push(call), told.withLock { $0 })
  }

  @Test(
    "what is given up for the backend's version is told, with both versions",
    arguments: [ConflictStrategy.serverWins, .automerge])
  func discarded(_ strategy: ConflictStrategy) throws {
    for (deletesHere, deletesThere) in [(false, false), (true, false), (false, true)] {
      let scene = try ConflictScene()
      try deletesHere ? scene.deletedHere() : scene.here(["_id": "a", "n": 2, "m": 1])
      if deletesThere {
        scene.deletedThere()
      } else {
        try scene.there(["_id": "a", "n": 3, "m": 1])
      }
      let (result, told) = try discarding(scene, strategy)
      #expect(result == PushResult(discarded: 1))
      #expect(told.map { $0.ours?["n"] } == [deletesHere ? nil : 2])
      #expect(told.map { $0.theirs?["n"] } == [deletesThere ? nil : 3])
      #expect(try scene.both("n") == (deletesThere ? [nil, nil] : [3, 3]))
    }
  }

  @Test(
    "where what would be given up is to be kept, the conflict stays open",
    arguments: [ConflictStrategy.serverWins, .automerge])
  func keptOpen(_ strategy: ConflictStrategy) throws {
    let scene = try ConflictScene()
    try scene.here(["_id": "a", "n": 2, "m": 1])
    try scene.there(["_id": "a", "n": 3, "m": 1])
    let (result, told) = try discarding(scene, strategy, keeping: true)
    #expect(result.errors.map(\.kind) == [.conflict] && result.discarded == 0 && told.isEmpty)
    #expect(try scene.both("n") == [2, 3])
    #expect(scene.state == .conflict)
    // What loses nothing needs nobody.
    let other = try ConflictScene()
    try other.here(["_id": "a", "n": 2, "m": 1])
    try other.there(["_id": "a", "n": 2, "m": 5])
    #expect(try discarding(other, strategy, keeping: true).0.errors.isEmpty)
    #expect(try other.both("m") == [5, 5])
  }

  @Test("members are merged and lists joined; what both have changed is the backend's, and told")
  func automerge() throws {
    let scene = try ConflictScene(["_id": "a", "title": "old", "tags": ["x"], "n": 1])
    try scene.here(["_id": "a", "title": "old", "tags": ["x", "y"], "n": 2])
    try scene.there(["_id": "a", "title": "new", "tags": ["x", "z"], "n": 1])
    #expect(try discarding(scene, .automerge).0 == PushResult(pushed: 1))
    #expect(try scene.both("title") == ["new", "new"])
    #expect(try scene.both("tags") == [["x", "z", "y"], ["x", "z", "y"]])
    #expect(try scene.both("n") == [2, 2])
    try scene.here(["_id": "a", "title": "mine", "tags": ["x", "z", "y"], "n": 3])
    try scene.there(["_id": "a", "title": "theirs", "tags": ["x", "z", "y"], "n": 2])
    let (result, told) = try discarding(scene, .automerge)
    #expect(result == PushResult(pushed: 1, discarded: 1))
    #expect(
      told.count == 1 && told[0].ours?["title"] == "mine" && told[0].theirs?["title"] == "theirs")
    #expect(try scene.both("title") == ["theirs", "theirs"])
    #expect(try scene.both("n") == [3, 3])
  }

  @Test("the server wins: updates, deletions and creates alike", arguments: [true, false])
  func serverWins(_ keepsConditions: Bool) throws {
    for (deletesHere, deletesThere) in [(false, false), (true, false), (false, true)] {
      let scene = try ConflictScene(keepsConditions: keepsConditions)
      try deletesHere ? scene.deletedHere() : scene.here(["_id": "a", "n": 2])
      if deletesThere { scene.deletedThere() } else { try scene.there(["_id": "a", "n": 3]) }
      #expect(try scene.push(.serverWins) == PushResult(discarded: 1))
      #expect(try scene.both("n") == (deletesThere ? [nil, nil] : [3, 3]))
      #expect(try scene.fixture.engine.pendingCount() == 0)
    }
    let scene = try ConflictScene()
    try scene.here(["_id": "x", "n": 1])
    try scene.there(["_id": "x", "n": 2])
    #expect(try scene.push(.serverWins) == PushResult(discarded: 1))
    #expect(try scene.fixture.local("n") == ["1", "2"])
  }

  @Test("a merge takes from each side what it has changed", arguments: [true, false])
  func merge(_ keepsConditions: Bool) throws {
    let scene = try ConflictScene(
      ["_id": "a", "n": 1, "m": 1, "gone": 1, "in": ["x": 1, "y": 1]],
      keepsConditions: keepsConditions)
    try scene.here(["_id": "a", "n": 2, "m": 1, "in": ["x": 2, "y": 1], "new": 0])
    try scene.there(["_id": "a", "n": 1, "m": 3, "gone": 1, "in": ["x": 1, "y": 3]])
    #expect(try scene.push(.merge) == PushResult(pushed: 1))
    #expect(try scene.both("n") == [2, 2])
    #expect(try scene.both("m") == [3, 3])
    #expect(try scene.both("in") == [["x": 2, "y": 3], ["x": 2, "y": 3]])
    #expect(try scene.both("gone") == [nil, nil])
    #expect(try scene.both("new") == [0, 0])
  }

  @Test("a merge leaves open what both have changed, and deletions against changes")
  func mergeLeavesOpen() throws {
    for (here, there) in [(true, true), (true, false), (false, true)] {
      let scene = try ConflictScene()
      try here ? scene.here(["_id": "a", "n": 2]) : scene.deletedHere()
      if there { try scene.there(["_id": "a", "n": 3]) } else { scene.deletedThere() }
      #expect(try scene.push(.merge).errors.map(\.kind) == [.conflict])
      #expect(scene.state == .conflict)
    }
  }

  @Test(
    "an optimistic write leaves every conflict open, with what the backend has",
    arguments: [true, false])
  func optimistic(_ keepsConditions: Bool) throws {
    let scene = try ConflictScene(keepsConditions: keepsConditions)
    try scene.here(["_id": "a", "n": 2])
    try scene.there(["_id": "a", "n": 3])
    let result = try scene.push(.optimistic)
    #expect(result.pushed == 0)
    #expect(result.errors.map(\.kind) == [.conflict])
    #expect(result.errors.map(\.id) == ["a"])
    #expect(result.errors.map(\.index) == [0])
    #expect(try scene.both("n") == [2, 3])
    let detail = try scene.fixture.engine.pending("a")
    #expect(detail.write.state == .conflict)
    #expect(try detail.theirs?.bytes.map { try JSONValue(parsing: $0) }?["n"] == 3)
    #expect(try detail.base.map { try JSONValue(parsing: $0) }?["n"] == 1)
    // It is not sent again by itself.
    let requests = scene.fixture.remote.requests.count
    #expect(try scene.push(.optimistic) == PushResult(quarantined: 1))
    #expect(scene.fixture.remote.requests.count == requests)
  }

  @Test("what was read before a write decides, also if that answer told that conditions are kept")
  func conditionsLearnt() throws {
    let scene = try ConflictScene(keepsConditions: false)
    try scene.here(["_id": "a", "n": 2])
    try scene.there(["_id": "a", "n": 3])
    scene.fixture.remote.meanwhile = { [unowned remote = scene.fixture.remote] in
      remote.keepsConditions = true
    }
    let result = try scene.push(.optimistic)
    #expect(result.errors.map(\.kind) == [.conflict])
    #expect(scene.fixture.remote.requests.isEmpty)
    #expect(scene.state == .conflict)
  }

  @Test("deletions on both sides are no conflict") func bothDelete() throws {
    let scene = try ConflictScene()
    try scene.deletedHere()
    scene.deletedThere()
    #expect(try scene.push(.optimistic) == PushResult(pushed: 1))
  }

  @Test("the same change on both sides is no conflict") func sameChange() throws {
    let scene = try ConflictScene()
    try scene.here(["_id": "a", "n": 2])
    try scene.there(["_id": "a", "n": 2])
    #expect(try scene.push(.optimistic) == PushResult(pushed: 1))
    #expect(try scene.fixture.engine.pendingCount() == 0)
  }

  @Test("an entity that was only saved there again is no conflict") func touched() throws {
    let scene = try ConflictScene()
    try scene.here(["_id": "a", "n": 2, "m": 1])
    try scene.there(["_id": "a", "n": 1, "m": 1])
    #expect(try scene.push(.optimistic) == PushResult(pushed: 1))
    #expect(try scene.both("n") == [2, 2])
  }

  // MARK: Lost answers

  @Test("our own update, whose answer was lost, is no conflict", arguments: [true, false])
  func lostAnswer(_ keepsConditions: Bool) throws {
    let scene = try ConflictScene(keepsConditions: keepsConditions)
    try scene.here(["_id": "a", "n": 2])
    scene.fixture.remote.losesAnswer = { _ in true }
    #expect(failure { _ = try scene.push(.optimistic) }?.kind == .network)
    scene.fixture.remote.losesAnswer = { _ in false }
    #expect(try scene.push(.optimistic) == PushResult(pushed: 1))
  }

  @Test(
    "nor is it one when the entity was changed here again since",
    arguments: [ConflictStrategy.optimistic, .serverWins, .merge])
  func lostAnswerThenChanged(_ strategy: ConflictStrategy) throws {
    let scene = try ConflictScene()
    try scene.here(["_id": "a", "n": 2])
    scene.fixture.remote.losesAnswer = { _ in true }
    #expect(failure { _ = try scene.push(strategy) }?.kind == .network)
    scene.fixture.remote.losesAnswer = { _ in false }
    try scene.here(["_id": "a", "n": 3])
    #expect(try scene.push(strategy) == PushResult(pushed: 1))
    #expect(try scene.both("n") == [3, 3])
  }

  @Test("nor when it was deleted in between, and made again") func lostDeletion() throws {
    let scene = try ConflictScene()
    try scene.deletedHere()
    scene.fixture.remote.losesAnswer = { _ in true }
    #expect(failure { _ = try scene.push(.optimistic) }?.kind == .network)
    scene.fixture.remote.losesAnswer = { _ in false }
    try scene.here(["_id": "a", "n": 3])
    #expect(try scene.push(.optimistic) == PushResult(pushed: 1))
    #expect(try scene.both("n") == [3, 3])
  }

  // MARK: After a conflict

  private func open() throws -> ConflictScene {
    let scene = try ConflictScene()
    try scene.here(["_id": "a", "n": 2])
    try scene.there(["_id": "a", "n": 3])
    _ = try scene.push(.optimistic)
    return scene
  }

  @Test("a retry sends ours over the version that it met") func retry() throws {
    let scene = try open()
    try scene.fixture.engine.retryPending("a", Call(conflicts: .optimistic))
    #expect(try scene.both("n") == [2, 2])
    #expect(try scene.fixture.engine.pendingCount() == 0)
  }

  @Test("but not over a version that nobody here has seen") func retryTooLate() throws {
    let scene = try open()
    try scene.there(["_id": "a", "n": 4])
    let error = failure {
      try scene.fixture.engine.retryPending("a", Call(conflicts: .optimistic))
    }
    #expect(error?.kind == .conflict)
    #expect(try scene.both("n") == [2, 4])
    #expect(scene.state == .conflict)
  }

  @Test("an edit is sent over it, too") func edit() throws {
    let scene = try open()
    let edited = Array(#"{"n":5}"#.utf8)
    let outline = try EntityScanner.outline(of: edited)
    try edited.withUnsafeBytes { try scene.fixture.engine.editPending("a", $0, outline: outline) }
    #expect(scene.state == .waiting)
    #expect(try scene.push(.optimistic) == PushResult(pushed: 1))
    #expect(try scene.both("n") == [5, 5])
  }

  @Test("a revert takes theirs") func revert() throws {
    let scene = try open()
    try scene.fixture.engine.revertPending("a")
    #expect(try scene.both("n") == [3, 3])
    #expect(try scene.fixture.engine.pendingCount() == 0)
  }

  @Test("a revert of a deletion brings the entity back, one of a create takes it away")
  func revertOthers() throws {
    let scene = try ConflictScene()
    try scene.deletedHere()
    try scene.here(["_id": "new"])
    try scene.fixture.engine.revertPending("a")
    try scene.fixture.engine.revertPending("new")
    #expect(try scene.fixture.local("_id") == ["\"a\""])
  }

  @Test("a pull goes on, leaves the entity alone, and shows what is there now") func pull() throws {
    let scene = try open()
    try scene.there(["_id": "a", "n": 4])
    try scene.there(["_id": "b", "n": 9])
    #expect(try scene.fixture.engine.pull(Query(), Call()).pulled == 1)
    #expect(try scene.fixture.local("n") == ["2", "9"])
    let detail = try scene.fixture.engine.pending("a")
    #expect(try detail.theirs?.bytes.map { try JSONValue(parsing: $0) }?["n"] == 4)
    try scene.fixture.engine.revertPending("a")
    #expect(try scene.both("n").last == 4)
  }

  @Test("saving the entity again lets it wait again, and meet the same conflict") func again()
    throws
  {
    let scene = try open()
    try scene.here(["_id": "a", "n": 6])
    #expect(scene.state == .waiting)
    #expect(try scene.push(.optimistic).errors.map(\.kind) == [.conflict])
  }

  @Test("a deletion wins over a later change only if somebody says so") func retriedDeletion()
    throws
  {
    let scene = try ConflictScene()
    try scene.deletedHere()
    try scene.there(["_id": "a", "n": 3])
    #expect(try scene.push(.optimistic).errors.count == 1)
    #expect(try scene.fixture.found().isEmpty)
    try scene.fixture.engine.retryPending("a", Call(conflicts: .optimistic))
    #expect(scene.fixture.remote.backend.ids.isEmpty)
  }
}

/// An entity that a pull with a filter had brought, and that has left the filter.
@Suite("Saving again what has left a filter") struct SavedAgainTests {
  private let fixture: TestEngine
  private let filter: Query

  init() throws {
    fixture = try TestEngine()
    filter = try Query(filter: #"{"open":true}"#)
    try fixture.publish(["_id": "a", "open": true, "n": 1])
    _ = try fixture.engine.pull(filter, Call())
    fixture.remote.changes = { [unowned fixture] query, _ in
      fixture.remote.backend.changes(of: query, since: "")
    }
  }

  /// The pull by which the entity leaves.
  private func leave(usesChanges: Bool = true) throws {
    _ = try fixture.engine.pull(filter, Call(), how: .init(usesChanges: usesChanges))
    #expect(try fixture.found().isEmpty)
  }

  @Test(
    "is no conflict if nobody has changed it since",
    arguments: [ConflictStrategy.serverWins, .merge, .optimistic, .clientWins])
  func unchanged(_ strategy: ConflictStrategy) throws {
    try fixture.save(["_id": "a", "open": false, "n": 1])
    _ = try fixture.engine.push(Call())
    try leave()
    try fixture.save(["_id": "a", "open": true, "n": 2])
    #expect(try fixture.engine.push(Call(conflicts: strategy)) == PushResult(pushed: 1))
    #expect(fixture.backendValue("a", "n") == 2)
    #expect(try fixture.found().first?["n"] == 2)
  }

  @Test(
    "nor if the entity that is saved says that it started from what is there",
    arguments: [true, false])
  func version(_ usesChanges: Bool) throws {
    try fixture.publish(["_id": "a", "open": false, "n": 5])
    try leave(usesChanges: usesChanges)
    var read = try #require(fixture.remote.backend.entities["a"])
    read["n"] = 6
    try fixture.save(read)
    #expect(try fixture.engine.push(Call(conflicts: .serverWins)) == PushResult(pushed: 1))
    #expect(fixture.backendValue("a", "n") == 6)
  }

  @Test("is one if somebody has", arguments: [true, false])
  func changed(_ usesChanges: Bool) throws {
    try fixture.publish(["_id": "a", "open": false, "n": 5])
    try leave(usesChanges: usesChanges)
    try fixture.save(["_id": "a", "open": true, "n": 2])
    let result = try fixture.engine.push(Call(conflicts: .merge))
    #expect(result.errors.map(\.kind) == [.conflict])
    #expect(fixture.backendValue("a", "n") == 5)
    #expect(try fixture.engine.pending("a").write.state == .conflict)
  }

  @Test(
    "is one if a message has told here that somebody has, which no program has seen",
    arguments: [ConflictStrategy.serverWins, .merge, .optimistic])
  func told(_ strategy: ConflictStrategy) throws {
    let theirs = try fixture.remote.backend.replace(
      Array(#"{"_id":"a","open":false,"n":5}"#.utf8), "a", by: "bob")
    _ = try fixture.engine.applySynced(.saved(theirs, id: "a", .update), matching: filter.matcher)
    #expect(try fixture.found().isEmpty)
    try fixture.save(["_id": "a", "open": true, "n": 2])
    let result = try fixture.engine.push(Call(conflicts: strategy))
    #expect(fixture.backendValue("a", "n") == 5)
    #expect(result.discarded + result.errors.count == 1)
  }
}
